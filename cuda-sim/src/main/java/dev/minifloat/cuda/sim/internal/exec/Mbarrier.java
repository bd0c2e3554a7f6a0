package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Clocks;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.trace.TracedMbarrier;

/**
 * A barrier in shared memory (PTX ISA, "mbarrier"). A phase is complete when as many arrivals as
 * expected have come and as many bytes as were announced.
 *
 * <p>Its 64 bits are opaque to a kernel. They repeat the state, so that a write over them shows:
 *
 * <pre>
 *   63      48 47        32 31       16 15        0
 *  | expected | pending    | phase     | 'm' 'b'   |      each its low bits
 * </pre>
 */
final class Mbarrier {
  static final int BYTES = 8;

  /** The largest count of arrivals, and of bytes to come. */
  static final int MOST = (1 << 20) - 1;

  private static final long MARK = 0x626DL;

  private final Block block;
  private final int offset;
  private int expected;
  private int pending;
  private int bytesToCome;
  private long phase;
  private int polls;
  private int[] joined;
  private int[] completed;

  private Mbarrier(Block block, int offset, int count) {
    this.block = block;
    this.offset = offset;
    expected = count;
    pending = count;
    joined = clocks().joined();
    completed = joined;
  }

  /** Sets one up. */
  static Mbarrier init(Block block, int offset, long count) {
    if (count < 1 || count > MOST) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "an mbarrier for %d arrivals; 1 to %d are possible".formatted(count, MOST));
    }
    Mbarrier barrier = new Mbarrier(block, offset, (int) count);
    barrier.write();
    return barrier;
  }

  private Clocks clocks() {
    return block.cluster().clocks();
  }

  private long bits() {
    return (expected & 0xFFFFL) << 48 | (pending & 0xFFFFL) << 32 | (phase & 0xFFFFL) << 16 | MARK;
  }

  private void write() {
    SharedMemory shared = block.shared();
    shared.land(offset, BYTES, bits());
  }

  /** Faults if something wrote over it. */
  void requireIntact() {
    if (block.shared().peek(offset, BYTES) != bits()) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "the mbarrier at shared address 0x%x was written over".formatted(offset));
    }
  }

  Block block() {
    return block;
  }

  TracedMbarrier view() {
    return new TracedMbarrier(offset, phase, expected, pending, bytesToCome);
  }

  int offset() {
    return offset;
  }

  /** The opaque state: the phase's number above the arrivals still missing. */
  long state() {
    return phase << 32 | pending;
  }

  /** Arrivals that a state says were missing. */
  static long pendingOf(long state) {
    return state & 0xFFFF_FFFFL;
  }

  /** Whether the phase of a state is complete; it must go on, or have been the last. */
  boolean isComplete(long state) {
    long then = state >>> 32;
    long now = phase & 0xFFFF_FFFFL;
    if (then != now && then != (phase - 1 & 0xFFFF_FFFFL)) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "a state of phase %d; phase %d goes on".formatted(then, now));
    }
    return then != now;
  }

  /** Whether the phase of this parity is complete: the one that goes on has the other. */
  boolean isCompleteByParity(long parity) {
    return (phase & 1) != (parity & 1);
  }

  /** A thread arrives, for so many. */
  void arrive(Warp warp, long count, boolean drops) {
    if (count < 1 || count > pending) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, "%d arrivals at %s".formatted(count, describe()));
    }
    clocks().release(warp.clusterIndex, joined);
    pending -= (int) count;
    if (drops) {
      expected -= (int) count;
    }
    settle();
  }

  /** What the async proxy has done so far arrives. */
  void arriveAsync() {
    if (pending < 1) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, "an arrival too many at " + describe());
    }
    clocks().releaseAsync(joined);
    pending--;
    settle();
  }

  /** One more arrival is to come in this phase. */
  void expectOneMore() {
    pending++;
    write();
  }

  /** More bytes, or fewer, are to come in this phase. */
  void expect(long bytes) {
    bytesToCome += (int) bytes;
    if (Math.abs((long) bytesToCome) > MOST) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "%d bytes to come at %s; there can be %d".formatted(bytesToCome, describe(), MOST));
    }
  }

  /** Bytes have come; {@code asynchronously} by a bulk copy. */
  void complete(long bytes, boolean asynchronously) {
    expect(-bytes);
    if (asynchronously) {
      clocks().releaseAsync(joined);
    }
    settle();
  }

  private void settle() {
    block.cluster().progress();
    if (pending == 0 && bytesToCome == 0) {
      phase++;
      pending = expected;
      completed = joined;
      joined = clocks().joined();
      polls = 0;
      block.cluster().wake();
    }
    write();
  }

  /** A warp has seen a phase complete, and with it what came before. */
  void acquire(Warp warp) {
    clocks().depart(warp.clusterIndex, completed);
  }

  /** How often somebody has looked in vain in this phase. */
  int polled() {
    return ++polls;
  }

  String describe() {
    return "the mbarrier at shared address 0x%x%s, phase %d, of whose %d arrivals %d and %d bytes are missing"
        .formatted(
            offset,
            block.cluster().size() > 1 ? " of block " + block.place() : "",
            phase,
            expected,
            pending,
            bytesToCome);
  }
}
