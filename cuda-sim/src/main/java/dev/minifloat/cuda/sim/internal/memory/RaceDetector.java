package dev.minifloat.cuda.sim.internal.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds accesses to a byte of shared memory that nothing orders, whatever order they happened to
 * run in. Every warp has a clock, which each synchronisation moves on, and knows the clocks of the
 * others up to which barriers have ordered them before it (vector clocks, one component a warp).
 * For each byte the last write and the last two reads of different threads are kept:
 *
 * <pre>
 *   stamp   63        33 32     31      10 9      0
 *          | clock      | atomic | pc       | thread |       0: never
 * </pre>
 *
 * <p>Two threads of one warp count as ordered once the warp has synchronised, whatever the mask. A
 * load with {@code .acquire} comes after what was done before the stores and atomics with {@code
 * .release} of its address, all of them, though it need not have seen the last (PTX ISA, "Memory
 * Consistency Model"); pairs of fences with weaker accesses order nothing here.
 */
public final class RaceDetector {
  /** Describes an instruction's place by its number. */
  public interface Places {
    String describe(int pc);
  }

  private static final int PC_BITS = 22;
  private static final long ATOMIC = 1L << 32;
  private static final int CLOCK_SHIFT = 33;

  private final int warps;
  private final int[][] clocks;
  private final long[] writes;
  private final long[] reads;
  private final long[] olderReads;
  private final long[] inFlight;
  private final Places places;

  /** What releases hand on, by the byte that they wrote first. */
  private final Map<Integer, int[]> released = new HashMap<>();

  private int flying;

  RaceDetector(int bytes, int warps, Places places) {
    this.warps = warps;
    this.places = places;
    clocks = new int[warps][warps];
    for (int i = 0; i < warps; i++) {
      clocks[i][i] = 1;
    }
    writes = new long[bytes];
    reads = new long[bytes];
    olderReads = new long[bytes];
    inFlight = new long[bytes];
  }

  /** The threads of a warp have synchronised with each other. */
  public void warpSynchronized(int warp) {
    clocks[warp][warp]++;
  }

  /** Adds what a warp has seen to what a barrier hands on. */
  public void arrive(int warp, int[] joined) {
    for (int i = 0; i < warps; i++) {
      joined[i] = Math.max(joined[i], clocks[warp][i]);
    }
  }

  /** A barrier's arrivals, before anybody has arrived. */
  public int[] joined() {
    return new int[warps];
  }

  /** A warp goes on from a barrier. */
  public void depart(int warp, int[] joined) {
    for (int i = 0; i < warps; i++) {
      clocks[warp][i] = Math.max(clocks[warp][i], joined[i]);
    }
    clocks[warp][warp]++;
  }

  /** A store or an atomic with {@code .release}, by a thread of a warp. */
  void release(int offset, int warp) {
    arrive(warp, released.computeIfAbsent(offset, _ -> joined()));
    clocks[warp][warp]++;
  }

  /** A load or an atomic with {@code .acquire}, by a thread of a warp. */
  void acquire(int offset, int warp) {
    int[] joined = released.get(offset);
    if (joined == null) {
      return;
    }
    for (int i = 0; i < warps; i++) {
      // Its own clock stays: the warp's other threads have not synchronised.
      clocks[warp][i] = i == warp ? clocks[warp][i] : Math.max(clocks[warp][i], joined[i]);
    }
  }

  private long stamp(int thread, int pc, boolean atomic) {
    int clock = clocks[thread >>> 5][thread >>> 5];
    int shortPc = pc & (1 << PC_BITS) - 1;
    return (long) clock << CLOCK_SHIFT | (atomic ? ATOMIC : 0) | (long) shortPc << 10 | thread;
  }

  private boolean unordered(long before, int thread) {
    int other = (int) before & 1023;
    if (before == 0 || other == thread) {
      return false;
    }
    int clock = (int) (before >>> CLOCK_SHIFT);
    int warp = thread >>> 5;
    int otherWarp = other >>> 5;
    return otherWarp == warp ? clocks[warp][warp] <= clock : clocks[warp][otherWarp] < clock;
  }

  void read(int offset, int bytes, int thread, int pc, boolean atomic) {
    long stamp = stamp(thread, pc, atomic);
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "a read");
      long write = writes[i];
      if (unordered(write, thread) && !(atomic && (write & ATOMIC) != 0)) {
        throw race(i, "a read", thread, pc, "a write", write);
      }
      long last = reads[i];
      if (last != stamp) {
        if ((last & 1023) != thread && unordered(last, thread)) {
          olderReads[i] = last;
        }
        reads[i] = stamp;
      }
    }
  }

  /** A write, before it is done; {@code same} says which bytes already have their new value. */
  void write(int offset, int bytes, int thread, int pc, boolean atomic, int same) {
    long stamp = stamp(thread, pc, atomic);
    for (int i = offset; i < offset + bytes; i++) {
      checkFlying(i, thread, pc, "a write");
      checkWrite(i, thread, pc, atomic, (same >>> (i - offset) & 1) != 0);
      writes[i] = stamp;
    }
  }

  private void checkWrite(int i, int thread, int pc, boolean atomic, boolean same) {
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
    }
  }

  private DeviceFault race(int offset, String what, int thread, int pc, String before, long stamp) {
    int other = (int) stamp & 1023;
    int otherPc = (int) (stamp >>> 10) & (1 << PC_BITS) - 1;
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
