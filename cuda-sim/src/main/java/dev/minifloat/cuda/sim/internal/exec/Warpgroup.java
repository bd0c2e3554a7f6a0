package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Four warps and the matrix multiplications that they have issued together. One happens when a warp
 * waits for it and all four have issued it; its results land in a warp's registers when that warp
 * has waited: as late as PTX allows.
 */
final class Warpgroup {
  static final int WARPS = 4;

  /** A multiplication, issued by some or all of the warps. */
  static final class Work {
    private final WgmmaOp op;
    private final WgmmaOp.Inputs inputs;
    private final int pc;
    private final Frame[] frames = new Frame[WARPS];

    /** A's registers, if it lies in registers: four of each lane of each warp. */
    private final long[][] a = new long[WARPS][];

    private int issued;

    /** The sums, row by row; null before it has happened. */
    private long[] result;

    /** What a warp learns that waits for it. */
    private int[] completed;

    private Work(WgmmaOp op, WgmmaOp.Inputs inputs, int pc) {
      this.op = op;
      this.inputs = inputs;
      this.pc = pc;
    }

    long[] a(int warp) {
      return a[warp];
    }

    WgmmaOp.Inputs inputs() {
      return inputs;
    }
  }

  private final Block block;

  /** What some warp has not retired yet, and how many came before it. */
  private final ArrayDeque<Work> queue = new ArrayDeque<>();

  private long before;
  private final long[] issued = new long[WARPS];
  private final long[] retired = new long[WARPS];

  /** For each warp, how many multiplications it had issued when it committed each open group. */
  private final List<List<Long>> groups = new ArrayList<>();

  Warpgroup(Block block) {
    this.block = block;
    for (int i = 0; i < WARPS; i++) {
      groups.add(new ArrayList<>());
    }
  }

  private Work work(long number) {
    int skip = (int) (number - before);
    for (Work work : queue) {
      if (skip-- == 0) {
        return work;
      }
    }
    throw new IllegalStateException("no multiplication " + number);
  }

  /** A warp issues its next multiplication. */
  void issue(Warp warp, WgmmaOp op, WgmmaOp.Inputs inputs, Frame frame, long[] a) {
    int part = warp.index % WARPS;
    long number = issued[part]++;
    if (number - before == queue.size()) {
      queue.add(new Work(op, inputs, warp.pc));
    }
    Work work = work(number);
    if (work.op != op || !work.inputs.equals(inputs)) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "warps of a warpgroup must multiply the same matrices: another one is at "
              + block.launch().describe(work.pc)
              + (work.op == op ? ", with other operands" : ""));
    }
    work.frames[part] = frame;
    work.a[part] = a;
    work.issued |= 1 << part;
    RaceDetector races = block.shared().races();
    if (races != null) {
      for (int offset : inputs.pieces()) {
        races.takeOffRead(offset, WgmmaOp.PIECE, warp.actor(0), warp.pc);
      }
    }
    block.cluster().progress();
    if (work.issued == (1 << WARPS) - 1) {
      for (int i = 0; i < WARPS; i++) {
        block.warp(warp.index - part + i).wake();
      }
    }
  }

  void commit(Warp warp) {
    int part = warp.index % WARPS;
    groups.get(part).add(issued[part]);
  }

  /** Waits for all but a warp's latest groups; false if other warps have to issue theirs first. */
  boolean await(Warp warp, int pending) {
    int part = warp.index % WARPS;
    List<Long> open = groups.get(part);
    if (open.size() <= pending) {
      return true;
    }
    long due = open.get(open.size() - 1 - pending);
    for (long number = retired[part]; number < due; number++) {
      if (work(number).issued != (1 << WARPS) - 1) {
        return false;
      }
    }
    for (; retired[part] < due; retired[part]++) {
      Work work = work(retired[part]);
      if (work.result == null) {
        happen(work);
      }
      retire(warp, part, work);
    }
    open.subList(0, open.size() - pending).clear();
    long least = Arrays.stream(retired).min().orElseThrow();
    while (before < least) {
      queue.remove();
      before++;
    }
    return true;
  }

  /** Multiplies, for all four warps. */
  private void happen(Work work) {
    long[] sums = new long[64 * work.op.columns()];
    if (work.inputs.accumulates()) {
      for (int part = 0; part < WARPS; part++) {
        accumulator(work, part, sums);
      }
    }
    try {
      block.launch().wgmmaProduct().multiply(work.op, work, block.shared(), sums);
    } catch (DeviceFault fault) {
      throw new DeviceFault(
          fault.kind(),
          "the multiplication at %s: %s"
              .formatted(block.launch().describe(work.pc), fault.getMessage()));
    }
    work.result = sums;
    RaceDetector races = block.shared().races();
    if (races != null) {
      for (int offset : work.inputs.pieces()) {
        races.landReadsAsync(offset, WgmmaOp.PIECE, WARPS, work.pc);
      }
      work.completed = races.clocks().joined();
      races.clocks().releaseAsync(work.completed);
    }
  }

  /** What a warp's part of the accumulator is: its registers, or what will land in them before. */
  private void accumulator(Work work, int part, long[] sums) {
    Work last = null;
    long number = before;
    for (Work other : queue) {
      if (other == work) {
        break;
      }
      boolean lands = number >= retired[part] && other.frames[part] == work.frames[part];
      if (lands && Arrays.equals(other.op.accumulators(), work.op.accumulators())) {
        last = other;
      }
      number++;
    }
    if (last == null) {
      work.op.gather(work.frames[part].registers, part, sums);
    } else {
      int part16 = 16 * work.op.columns();
      System.arraycopy(last.result, part * part16, sums, part * part16, part16);
    }
  }

  private static void retire(Warp warp, int part, Work work) {
    work.op.scatter(work.frames[part].registers, part, work.result);
    warp.watch.retire(work.frames[part], work.op.accumulators(), work.op.fragment());
    if (work.completed != null) {
      warp.block.cluster().clocks().observeAsync(warp.clusterIndex, work.completed);
    }
  }

  /** What a warp waits for that {@link #await} held. */
  String describe(Warp warp) {
    int part = warp.index % WARPS;
    StringBuilder text = new StringBuilder("waits until these warps multiply, too:");
    for (int i = 0; i < WARPS; i++) {
      if (issued[i] < issued[part]) {
        text.append(' ').append(warp.index - part + i);
      }
    }
    return text.toString();
  }
}
