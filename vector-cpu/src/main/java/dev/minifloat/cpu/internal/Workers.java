package dev.minifloat.cpu.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

/**
 * Threads that share the tasks of one call: daemon platform threads, started when first needed. The
 * caller takes part, so {@code n} threads are {@code n − 1} of these and the caller's own.
 *
 * <p>Which thread runs a task is left to chance. What a task computes must not depend on it, nor on
 * how many threads there are: cut work by its size.
 */
public final class Workers implements AutoCloseable {
  /** How often a caller looks for the end of its job before it parks. */
  private static final int SPINS = 2000;

  private final int threads;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();

  /** Jobs with tasks that nobody has taken yet. Guarded by lock, as are the next two. */
  private final Deque<Job> jobs = new ArrayDeque<>();

  private int started;
  private boolean closed;

  /** A pool for {@code threads} threads, the caller's included. */
  public Workers(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads: " + threads + " is not positive");
    }
    this.threads = threads;
  }

  /** Threads that take part in a call, the caller's included. */
  public int threads() {
    return threads;
  }

  /**
   * Runs {@code body} for 0 … tasks − 1, on several threads where there are several tasks, and
   * returns when all are done.
   *
   * <p>A body may call this method again; on a thread of the pool that runs inline. After {@link
   * #close} everything runs on the caller.
   *
   * @throws RuntimeException the first exception of a body; tasks not begun by then are left out
   */
  public void run(int tasks, IntConsumer body) {
    if (tasks <= 1 || threads == 1 || isWorker(Thread.currentThread())) {
      for (int i = 0; i < tasks; i++) {
        body.accept(i);
      }
      return;
    }
    Job job = new Job(tasks, body);
    offer(job);
    job.help();
    job.await();
    job.rethrow();
  }

  private boolean isWorker(Thread thread) {
    return thread instanceof Worker worker && worker.pool == this;
  }

  private void offer(Job job) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      for (; started < threads - 1; started++) {
        new Worker(this, started + 1).start();
      }
      jobs.add(job);
      for (int i = Math.min(job.tasks, threads) - 1; i > 0; i--) {
        work.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** A job with tasks left; null once closed. */
  private Job nextJob() {
    lock.lock();
    try {
      while (true) {
        while (!jobs.isEmpty() && jobs.peek().isTaken()) {
          jobs.remove();
        }
        if (!jobs.isEmpty()) {
          return jobs.peek();
        }
        if (closed) {
          return null;
        }
        work.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the threads once the tasks they run are done. Calls in progress finish. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      work.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private static final class Worker extends Thread {
    private final Workers pool;

    Worker(Workers pool, int number) {
      super("minifloat-worker-" + number);
      this.pool = pool;
      setDaemon(true);
    }

    @Override
    public void run() {
      for (Job job = pool.nextJob(); job != null; job = pool.nextJob()) {
        job.help();
      }
    }
  }

  /** One call of {@link #run}. */
  private static final class Job {
    private final int tasks;
    private final IntConsumer body;
    private final Thread caller = Thread.currentThread();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger left;
    private volatile Throwable failure;

    Job(int tasks, IntConsumer body) {
      this.tasks = tasks;
      this.body = body;
      this.left = new AtomicInteger(tasks);
    }

    boolean isTaken() {
      return next.get() >= tasks;
    }

    /** Takes tasks until none is left. */
    @SuppressWarnings("CatchingUnchecked")
    void help() {
      while (!isTaken()) {
        int task = next.getAndIncrement();
        if (task >= tasks) {
          return;
        }
        try {
          if (failure == null) {
            body.accept(task);
          }
        } catch (Throwable e) { // given to the caller
          failure = e;
        }
        if (left.decrementAndGet() == 0 && Thread.currentThread() != caller) {
          LockSupport.unpark(caller);
        }
      }
    }

    void await() {
      for (int i = 0; left.get() > 0; i++) {
        if (i < SPINS) {
          Thread.onSpinWait();
        } else {
          LockSupport.park(this);
          // An interrupt would turn parking into spinning; it is put back when the job is done.
          if (Thread.interrupted()) {
            awaitInterrupted();
            Thread.currentThread().interrupt();
          }
        }
      }
    }

    private void awaitInterrupted() {
      while (left.get() > 0) {
        LockSupport.park(this);
        Thread.interrupted();
      }
    }

    void rethrow() {
      switch (failure) {
        case null -> {}
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new IllegalStateException("a task threw a checked exception", e);
      }
    }
  }
}
