package dev.minifloat.cli.convert;

import dev.minifloat.MinifloatException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Runs tasks on a few threads and hands their results on in the order of the tasks, on the caller's
 * thread. No more tasks are begun than there are places for their results.
 */
public final class Pipeline implements AutoCloseable {
  private final ExecutorService executor;
  private final int places;

  /**
   * Threads that wait for work.
   *
   * @param threads how many
   * @param places how many results may wait or be under way
   */
  public Pipeline(int threads, int places) {
    this.executor =
        Executors.newFixedThreadPool(
            threads, Thread.ofPlatform().daemon().name("minifloat-chunk-", 1).factory());
    this.places = places;
  }

  /**
   * Runs all tasks.
   *
   * @throws RuntimeException what a task or the sink threw; tasks not begun are dropped
   */
  public <T> void run(Iterator<Callable<T>> tasks, Consumer<T> sink) {
    Queue<Future<T>> pending = new ArrayDeque<>();
    try {
      while (tasks.hasNext() || !pending.isEmpty()) {
        while (tasks.hasNext() && pending.size() < places) {
          pending.add(executor.submit(tasks.next()));
        }
        sink.accept(await(pending.remove()));
      }
    } finally {
      pending.forEach(future -> future.cancel(false));
    }
  }

  private static <T> T await(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        default -> throw new MinifloatException("Converting: " + e.getCause(), e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MinifloatException("Interrupted", e);
    }
  }

  /** Ends the threads, and waits for what they are doing: it may use memory about to be freed. */
  @Override
  public void close() {
    executor.shutdownNow();
    executor.close();
  }
}
