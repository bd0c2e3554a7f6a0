package dev.minifloat.bench;

import java.lang.management.ManagementFactory;

/**
 * Times contestants: by the thread's CPU time where one thread works, so that what else runs on the
 * machine counts little, and by wall time where several do.
 */
final class Stopwatch {
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** How long one contestant's turn of a round takes, about. */
  private static final double TURN = 6e-3;

  /** A batch of the warm-up. */
  private static final double BATCH = 4e-3;

  private static final double LEAST_WARM_UP = 0.05;

  /** Runs after which C2 has been asked for; short ones are slow until then, and steadily so. */
  private static final int ENOUGH_RUNS = 20_000;

  /** What is longer has loops that are compiled while they run. */
  private static final double SHORT_RUN = 5e-3;

  /**
   * Native code is called by Java, which must be compiled where a run takes no longer than this.
   */
  private static final double CALL_MATTERS = 2e-5;

  /** Seconds after which what is left of {@link #ENOUGH_RUNS} is let off. */
  private static final double ENOUGH_WARM_UP = 0.3;

  /** The same for runs of microseconds: interpreted, 20,000 of them take longer. */
  private static final double ENOUGH_WARM_UP_OF_TINY = 1;

  private static final double TINY_RUN = 3e-5;

  private static final double MOST_WARM_UP = 0.6;

  /** Seconds after which garbage is taken for what it looks like. */
  private static final double MOST_LITTER = 4;

  /** Batches whose times agree this well show that nothing faster is being compiled. */
  private static final double STEADY = 1.1;

  private static final int STEADY_BATCHES = 3;

  private static final com.sun.management.OperatingSystemMXBean SYSTEM =
      (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** Milliseconds of one look: the clock of a process goes in steps of 10, so some steps long. */
  private static final long LOOK = 20;

  /** Nanoseconds: some libraries' threads look for work for 0.2 s. */
  private static final long MOST_PATIENCE = 400_000_000;

  /**
   * Seconds of work after which the system has spread threads over the cores: woken after a rest,
   * two of them were seen to share one core for some 30 ms while the other was idle.
   */
  private static final double SPREADING = 0.04;

  private Stopwatch() {}

  private static long nanos(boolean cpu) {
    return cpu ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
  }

  /** Nanoseconds of this thread's CPU time that a body takes; at least 1. */
  static long nanos(Runnable body) {
    long start = nanos(true);
    body.run();
    return Math.max(1, nanos(true) - start);
  }

  /** Seconds of one run, on average of {@code times}. */
  static double seconds(Contestant contestant, long times, boolean cpu) {
    long start = nanos(cpu);
    for (long i = 0; i < times; i++) {
      contestant.run();
    }
    return (nanos(cpu) - start) * 1e-9 / times;
  }

  /**
   * Runs until it gets no faster.
   *
   * @param tidy whether it allocates nothing once all of it is compiled: what is interpreted for
   *     long can be steady too
   * @param cpu whether the time of this thread counts and not that on the wall: it passes only as
   *     runs do, however little of a busy machine they get
   * @return seconds of a run
   */
  static double warmUp(Contestant contestant, boolean tidy, boolean cpu) {
    long start = nanos(cpu);
    double best = Double.POSITIVE_INFINITY;
    long times = 1;
    int steady = 0;
    long runs = 0;
    double spent;
    do {
      double seconds = Math.max(seconds(contestant, times, cpu), 1e-10);
      runs += times;
      boolean same = seconds < best * STEADY && seconds > best / STEADY;
      steady = same ? steady + 1 : 0;
      best = Math.min(best, seconds);
      times = Math.max(1, (long) (BATCH / best));
      spent = (nanos(cpu) - start) * 1e-9;
    } while (spent < LEAST_WARM_UP
        || (best < (contestant.isNative() ? CALL_MATTERS : SHORT_RUN)
            && runs < ENOUGH_RUNS
            && spent < (best < TINY_RUN ? ENOUGH_WARM_UP_OF_TINY : ENOUGH_WARM_UP))
        || (spent < MOST_WARM_UP && steady < STEADY_BATCHES)
        || (tidy && spent < MOST_LITTER && bytes(contestant, 1) > 0));
    return best;
  }

  /** Seconds of one run, by a short look. */
  static double calibrate(Contestant contestant) {
    double once = Math.max(seconds(contestant, 1, false), 1e-7);
    long times = (long) (BATCH / once);
    return times <= 1 ? once : Math.max(seconds(contestant, times, false), 1e-10);
  }

  /** Bytes of heap that a run allocates on this thread, on average of {@code times}. */
  static double bytes(Contestant contestant, long times) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (long i = 0; i < times; i++) {
      contestant.run();
    }
    return (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / times;
  }

  /**
   * Waits until no thread of this process works: those of some libraries go on looking for work for
   * a while, on cores that the next contestant would not have. Gives up after {@link
   * #MOST_PATIENCE}.
   */
  static void awaitQuiet() {
    long end = System.nanoTime() + MOST_PATIENCE;
    try {
      long cpu;
      do {
        cpu = SYSTEM.getProcessCpuTime();
        Thread.sleep(LOOK);
      } while (SYSTEM.getProcessCpuTime() > cpu && System.nanoTime() < end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("waiting for other contestants' threads", e);
    }
  }

  /** Runs until threads that rested have spread over the cores. */
  static void spread(Contestant contestant) {
    long end = System.nanoTime() + Math.round(SPREADING * 1e9);
    do {
      contestant.run();
    } while (System.nanoTime() < end);
  }

  /** How many runs make a turn. */
  static long timesOfTurn(double seconds) {
    return Math.max(1, Math.round(TURN / seconds));
  }
}
