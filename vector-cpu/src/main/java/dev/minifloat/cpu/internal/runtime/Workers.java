package dev.minifloat.cpu.internal.runtime;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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

  /**
   * Guards what follows; workers wait on it. A monitor, since those of the JDK's locks allocate.
   */
  private final Object lock = new Object();

  /** Jobs with tasks that nobody has taken yet. */
  private final Deque<Job> jobs = new ArrayDeque<>();

  /** Jobs to be used again. */
  private final Deque<Job> spare = new ArrayDeque<>();

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
    Job job = offer(tasks, body);
    job.help();
    job.await();
    Throwable failure = job.failure;
    leave(job, true);
    rethrow(failure);
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException("a task threw a checked exception", e);
    }
  }

  private boolean isWorker(Thread thread) {
    return thread instanceof Worker worker && worker.pool == this;
  }

  private Job offer(int tasks, IntConsumer body) {
    synchronized (lock) {
      Job job = spare.isEmpty() ? new Job() : spare.pop();
      job.begin(tasks, body);
      if (closed) {
        return job;
      }
      for (; started < threads - 1; started++) {
        new Worker(this, started + 1).start();
      }
      jobs.add(job);
      for (int i = Math.min(tasks, threads) - 1; i > 0; i--) {
        lock.notify();
      }
      return job;
    }
  }

  /** A job with tasks left, held until {@link #leave}; null once closed. */
  private Job nextJob() {
    synchronized (lock) {
      while (true) {
        while (!jobs.isEmpty() && jobs.peek().isTaken()) {
          jobs.remove();
        }
        if (!jobs.isEmpty()) {
          Job job = jobs.peek();
          job.holders++;
          return job;
        }
        if (closed) {
          return null;
        }
        try {
          lock.wait();
        } catch (InterruptedException _) {
          // An interrupt means nothing to a worker: it looks for work, and waits again.
        }
      }
    }
  }

  /**
   * Ends the use of a job. It is spare only when nobody looks at it any more: a worker that came
   * late would take a task of the next call by an old count.
   */
  private void leave(Job job, boolean caller) {
    synchronized (lock) {
      if (caller) {
        jobs.remove(job);
      }
      job.holders--;
      if (job.holders == 0) {
        job.clear();
        spare.push(job);
      }
    }
  }

  /** Ends the threads once the tasks they run are done. Calls in progress finish. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
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
        pool.leave(job, false);
      }
    }
  }

  /** One call of {@link #run}. */
  private static final class Job {
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger left = new AtomicInteger();
    private int tasks;
    private IntConsumer body;
    private Thread caller;
    private volatile Throwable failure;

    /** The caller, and workers that took it; guarded by the pool's lock. */
    private int holders;

    void begin(int tasks, IntConsumer body) {
      this.tasks = tasks;
      this.body = body;
      caller = Thread.currentThread();
      holders = 1;
      left.set(tasks);
      next.set(0);
    }

    void clear() {
      body = null;
      caller = null;
      failure = null;
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
  }
}
