package dev.minifloat.cuda.sim.internal.memory;

import java.util.Arrays;

/**
 * Finds accesses to a byte of shared memory that nothing orders, whatever order they happened to
 * run in, by the clocks of the cluster's warps ({@link Clocks}). For each byte the last write and
 * the last two reads of different threads of the cluster are kept:
 *
 * <pre>
 *   stamp   63        36 35     34      15 14     0
 *          | clock      | atomic | pc       | thread |       0: never
 * </pre>
 *
 * <p>Two threads of one warp count as ordered once the warp has synchronised, whatever the mask.
 *
 * <p>What bulk copies and wgmma read and write is in flight from their issue until something has
 * waited for them; and they must not touch what the generic proxy wrote with no {@code
 * fence.proxy.async} since.
 */
public final class RaceDetector {
  /** Describes an instruction's place by its number. */
  public interface Places {
    String describe(int pc);
  }

  private static final int THREAD_BITS = 15;
  private static final int THREAD_MASK = (1 << THREAD_BITS) - 1;
  private static final int PC_BITS = 20;
  private static final long ATOMIC = 1L << (THREAD_BITS + PC_BITS);
  private static final int CLOCK_SHIFT = THREAD_BITS + PC_BITS + 1;

  private final Clocks clocks;
  private final long[] writes;
  private final long[] reads;
  private final long[] olderReads;
  private final long[] inFlight;

  /**
   * Of each byte, how many fences there were before the last write; null before the first fence.
   */
  private int[] fencesBefore;

  /**
   * Of each byte, how many asynchronous reads of it are in flight, and the last one's stamp; null
   * before the first.
   */
  private short[] readers;

  private long[] readInFlight;
  private final Places places;
  private int flying;
  private int readFlying;

  RaceDetector(int bytes, Clocks clocks, Places places) {
    this.clocks = clocks;
    this.places = places;
    writes = new long[bytes];
    reads = new long[bytes];
    olderReads = new long[bytes];
    inFlight = new long[bytes];
  }

  /** The clocks that order accesses. */
  public Clocks clocks() {
    return clocks;
  }

  private long stamp(int thread, int pc, boolean atomic) {
    int clock = clocks.now(thread >>> 5);
    int shortPc = pc & (1 << PC_BITS) - 1;
    return (long) clock << CLOCK_SHIFT
        | (atomic ? ATOMIC : 0)
        | (long) shortPc << THREAD_BITS
        | thread;
  }

  private boolean unordered(long before, int thread) {
    int other = (int) before & THREAD_MASK;
    if (before == 0 || other == thread) {
      return false;
    }
    int clock = (int) (before >>> CLOCK_SHIFT);
    int warp = thread >>> 5;
    int otherWarp = other >>> 5;
    return otherWarp == warp ? clocks.now(warp) <= clock : clocks.seen(warp, otherWarp) < clock;
  }

  /** A read by a thread. */
  public void read(int offset, int bytes, int thread, int pc, boolean atomic) {
    long stamp = stamp(thread, pc, atomic);
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "a read");
      long write = writes[i];
      if (unordered(write, thread) && !(atomic && (write & ATOMIC) != 0)) {
        throw race(i, "a read", thread, pc, "a write", write);
      }
      long last = reads[i];
      if (last != stamp) {
        if ((last & THREAD_MASK) != thread && unordered(last, thread)) {
          olderReads[i] = last;
        }
        reads[i] = stamp;
      }
    }
  }

  /** A write, before it is done; {@code same} says which bytes already have their new value. */
  public void write(int offset, int bytes, int thread, int pc, boolean atomic, int same) {
    long stamp = stamp(thread, pc, atomic);
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "a write");
      checkWrite(i, thread, pc, atomic, (same >>> (i - offset) & 1) != 0);
      writes[i] = stamp;
      noteFences(i);
    }
  }

  private void noteFences(int i) {
    int fences = clocks.fences();
    if (fences == 0) {
      return;
    }
    if (fencesBefore == null) {
      fencesBefore = new int[writes.length];
    }
    fencesBefore[i] = fences;
  }

  private void checkWrite(int i, int thread, int pc, boolean atomic, boolean same) {
    if (readFlying > 0 && readers[i] != 0) {
      throw race(i, "a write", thread, pc, "an asynchronous read still in flight", readInFlight[i]);
    }
    long write = writes[i];
    // Threads that write the same value to a flag are no race that anybody can observe.
    if (!same && unordered(write, thread) && !(atomic && (write & ATOMIC) != 0)) {
      throw race(i, "a write", thread, pc, "a write", write);
    }
    long read = reads[i];
    if (unordered(read, thread) && !(atomic && (read & ATOMIC) != 0)) {
      throw race(i, "a write", thread, pc, "a read", read);
    }
    read = olderReads[i];
    if (unordered(read, thread) && !(atomic && (read & ATOMIC) != 0)) {
      throw race(i, "a write", thread, pc, "a read", read);
    }
  }

  private void checkFlying(int i, int thread, int pc, String what) {
    if (flying > 0 && inFlight[i] != 0) {
      throw race(i, what, thread, pc, "an asynchronous copy still in flight", inFlight[i]);
    }
  }

  /** An asynchronous copy begins: until it lands, nobody may touch its bytes. */
  public void takeOff(int offset, int bytes, int thread, int pc) {
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "an asynchronous copy");
      checkWrite(i, thread, pc, false, false);
      inFlight[i] = stamp(thread, pc, false);
    }
    flying += bytes;
  }

  /** An asynchronous copy ends: a write of the thread that waited for it. */
  public void land(int offset, int bytes, int thread, int pc) {
    Arrays.fill(inFlight, offset, offset + bytes, 0);
    flying -= bytes;
    for (int i = offset; i < offset + bytes; i++) {
      checkWrite(i, thread, pc, false, false);
      writes[i] = stamp(thread, pc, false);
      noteFences(i);
    }
  }

  /** A write through the async proxy begins: a bulk copy. */
  public void takeOffAsync(int offset, int bytes, int thread, int pc) {
    for (int i = offset; i < offset + bytes; i++) {
      checkFenced(i, thread, pc, "an asynchronous write");
    }
    takeOff(offset, bytes, thread, pc);
  }

  /** A write through the async proxy ends; whom it is visible to depends on who waits for it. */
  public void landAsync(int offset, int bytes, int pc) {
    Arrays.fill(inFlight, offset, offset + bytes, 0);
    flying -= bytes;
    Arrays.fill(writes, offset, offset + bytes, stamp(clocks.asyncThread(), pc, false));
  }

  /** A read through the async proxy begins: until it ends, nobody may write its bytes. */
  public void takeOffRead(int offset, int bytes, int thread, int pc) {
    if (readers == null) {
      readers = new short[writes.length];
      readInFlight = new long[writes.length];
    }
    long stamp = stamp(thread, pc, false);
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "an asynchronous read");
      if (unordered(writes[i], thread)) {
        throw race(i, "an asynchronous read", thread, pc, "a write", writes[i]);
      }
      checkFenced(i, thread, pc, "an asynchronous read");
      readers[i]++;
      readInFlight[i] = stamp;
    }
    readFlying += bytes;
  }

  /**
   * Reads through the async proxy end, so many of the same bytes; whom they are ordered before
   * depends on who waits for them.
   */
  public void landReadsAsync(int offset, int bytes, int count, int pc) {
    long stamp = stamp(clocks.asyncThread(), pc, false);
    readFlying -= bytes * count;
    for (int i = offset; i < offset + bytes; i++) {
      readers[i] -= (short) count;
      if (reads[i] != stamp && (int) (reads[i] & THREAD_MASK) != clocks.asyncThread()) {
        olderReads[i] = reads[i];
      }
      reads[i] = stamp;
    }
  }

  /** A read through the async proxy ends: a read of the thread that waited for it. */
  public void landRead(int offset, int bytes, int thread, int pc) {
    long stamp = stamp(thread, pc, false);
    readFlying -= bytes;
    for (int i = offset; i < offset + bytes; i++) {
      readers[i]--;
      long last = reads[i];
      if ((last & THREAD_MASK) != thread && unordered(last, thread)) {
        olderReads[i] = last;
      }
      reads[i] = stamp;
    }
  }

  /** Faults unless the async proxy sees what was last written to these bytes. */
  public void requireVisible(int offset, int bytes, int thread, int pc, String what) {
    for (int i = offset; i < offset + bytes; i++) {
      checkFenced(i, thread, pc, what);
    }
  }

  private void checkFenced(int i, int thread, int pc, String what) {
    long write = writes[i];
    int writer = (int) write & THREAD_MASK;
    if (write == 0
        || writer == clocks.asyncThread()
        || clocks.isFenced(
            writer, (int) (write >>> CLOCK_SHIFT), fencesBefore == null ? 0 : fencesBefore[i])) {
      return;
    }
    throw new DeviceFault(
        DeviceFault.Kind.RACE,
        ("byte %d of shared memory: %s by thread %d at %s doesn't see the write by thread %d at %s,"
                + " with no fence.proxy.async between")
            .formatted(i, what, thread, places.describe(pc), writer, places.describe(pcOf(write))));
  }

  private static int pcOf(long stamp) {
    return (int) (stamp >>> THREAD_BITS) & (1 << PC_BITS) - 1;
  }

  private DeviceFault race(int offset, String what, int thread, int pc, String before, long stamp) {
    int other = (int) stamp & THREAD_MASK;
    int otherPc = pcOf(stamp);
    return new DeviceFault(
        DeviceFault.Kind.RACE,
        ("race on byte %d of shared memory: %s by thread %d at %s, and %s by thread %d at %s, "
                + "with no barrier between")
            .formatted(
                offset,
                what,
                thread,
                places.describe(pc),
                before,
                other,
                places.describe(otherPc)));
  }
}
