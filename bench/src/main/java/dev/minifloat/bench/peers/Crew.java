package dev.minifloat.bench.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads for a peer that leaves them to its caller; the calling thread is one of them. */
public final class Crew implements AutoCloseable {
  /** Work on a range. */
  public interface Part {
    void run(int begin, int end);
  }

  private final int threads;
  private final ExecutorService others;

  /** Starts {@code threads - 1} threads. */
  public Crew(int threads) {
    this.threads = threads;
    others =
        Executors.newFixedThreadPool(
            Math.max(1, threads - 1), Thread.ofPlatform().daemon().name("crew-", 0).factory());
  }

  /** Runs a part of equal size on each thread. */
  public void split(int count, Part part) {
    if (threads == 1) {
      part.run(0, count);
      return;
    }
    List<Future<?>> running = new ArrayList<>();
    for (int i = 1; i < threads; i++) {
      int begin = edge(count, i);
      int end = edge(count, i + 1);
      running.add(others.submit(() -> part.run(begin, end)));
    }
    part.run(0, edge(count, 1));
    for (Future<?> future : running) {
      await(future);
    }
  }

  private int edge(int count, int part) {
    return (int) ((long) count * part / threads);
  }

  private static void await(Future<?> future) {
    try {
      future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a part failed", e.getCause());
    }
  }

  @Override
  public void close() {
    others.close();
  }
}
