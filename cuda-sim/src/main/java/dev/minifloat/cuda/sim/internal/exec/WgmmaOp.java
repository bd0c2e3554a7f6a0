package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * wgmma.mma_async: D = ±A·±B + D, 64 rows, the warps of a warpgroup having sixteen each (PTX ISA,
 * "wgmma.mma_async"). A lane's registers stand as in {@code mma.m16n8}, eight columns after the
 * other.
 */
final class WgmmaOp extends SyncOp {
  static final int ROWS = 64;

  /** Bytes of a matrix that lie side by side in shared memory at least. */
  static final int PIECE = 16;

  /** Bytes of a row of A or of a column of B along K, whatever the type. */
  private static final int ROW_BYTES = 32;

  private final int columns;
  private final int depth;
  private final PtxType aType;
  private final PtxType bType;
  private final PtxType sumType;
  private final boolean saturates;
  private final boolean negatesA;
  private final boolean negatesB;
  private final boolean aKMajor;
  private final boolean bKMajor;
  private final int[] d;
  private final int[] fragment;
  private final int aDescriptor;
  private final int bDescriptor;
  private final PredicateSource scaleD;

  WgmmaOp(Operands o, Instruction i) {
    super(WHOLE_WARP);
    String shape =
        i.modifiers().stream().filter(word -> word.startsWith(".m64n")).findFirst().orElseThrow();
    columns = Integer.parseInt(shape.substring(5, shape.indexOf('k')));
    depth = Integer.parseInt(shape.substring(shape.indexOf('k') + 1));
    sumType = i.types().get(0);
    aType = i.types().get(1);
    bType = i.types().get(2);
    saturates = i.has(".satfinite");
    if (sumType == PtxType.S32 && columns % 16 != 0 && columns != 8 && columns != 24) {
      throw Operands.unsupported(i);
    }
    d = o.destinations(0);
    for (int offset : d) {
      if (offset < 0) {
        throw new PtxException(o.get(0).position(), "an accumulator can't be left out");
      }
    }
    boolean registers = o.get(1) instanceof Operand.Vector;
    fragment = registers ? o.sources(1, PtxType.B32) : new int[0];
    aDescriptor = registers ? Operands.NOWHERE : o.source(1, PtxType.B64);
    bDescriptor = o.source(2, PtxType.B64);
    scaleD = o.predicateSource(3);
    negatesA = o.count() > 4 && sign(o, 4);
    negatesB = o.count() > 5 && sign(o, 5);
    boolean majors = o.count() > 6;
    if (majors && o.isPresent(7) == registers) {
      throw new PtxException(
          o.get(1).position(),
          registers
              ? "A in registers has no imm-trans-a"
              : "A in shared memory needs imm-trans-a and imm-trans-b");
    }
    aKMajor = !majors || registers || flag(o, 6) == 0;
    bKMajor = !majors || flag(o, registers ? 6 : 7) == 0;
  }

  private static boolean sign(Operands o, int index) {
    long value = o.constant(index);
    if (value != 1 && value != -1) {
      throw new PtxException(o.get(index).position(), "a scale of %d; 1 or -1".formatted(value));
    }
    return value < 0;
  }

  private static long flag(Operands o, int index) {
    long value = o.constant(index);
    if (value != 0 && value != 1) {
      throw new PtxException(
          o.get(index).position(), "a transposition of %d; 0 or 1".formatted(value));
    }
    return value;
  }

  /**
   * What all warps of the warpgroup have to agree on.
   *
   * @param a A's descriptor; null if A lies in registers
   * @param b B's descriptor
   * @param accumulates whether D is added
   * @param pieces where in shared memory both lie, 16 bytes each
   */
  @SuppressWarnings("ArrayRecordComponent") // follows from the others
  record Inputs(MatrixDescriptor a, MatrixDescriptor b, boolean accumulates, int[] pieces) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Inputs inputs
          && java.util.Objects.equals(a, inputs.a)
          && b.equals(inputs.b)
          && accumulates == inputs.accumulates;
    }

    @Override
    public int hashCode() {
      return b.hashCode();
    }
  }

  int columns() {
    return columns;
  }

  int depth() {
    return depth;
  }

  PtxType aType() {
    return aType;
  }

  PtxType bType() {
    return bType;
  }

  PtxType sumType() {
    return sumType;
  }

  boolean saturates() {
    return saturates;
  }

  boolean negatesA() {
    return negatesA;
  }

  boolean negatesB() {
    return negatesB;
  }

  boolean aKMajor() {
    return aKMajor;
  }

  boolean bKMajor() {
    return bKMajor;
  }

  /** The offsets of the accumulator's registers. */
  int[] accumulators() {
    return d;
  }

  /** The offsets of A's registers; empty if A lies in shared memory. */
  int[] fragment() {
    return fragment;
  }

  @Override
  void together(Warp warp, Frame frame, int lanes) {
    Warpgroup group = warp.block.warpgroup(warp);
    warp.watch.issue(frame, d, fragment);
    MatrixDescriptor a = aDescriptor < 0 ? null : descriptor(warp, frame, aDescriptor, "A");
    MatrixDescriptor b = descriptor(warp, frame, bDescriptor, "B");
    int accumulates = scaleD.lanes(frame);
    if (accumulates != 0 && accumulates != -1) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, "lanes differ in whether they add to D");
    }
    long[] registers = null;
    if (a == null) {
      registers = new long[fragment.length * 32];
      for (int r = 0; r < fragment.length; r++) {
        System.arraycopy(frame.registers, fragment[r], registers, 32 * r, 32);
      }
    }
    Inputs inputs = new Inputs(a, b, accumulates != 0, pieces(warp, a, b));
    group.issue(warp, this, inputs, frame, registers);
    Counters counters = warp.block.launch().counters();
    counters.matrixMultiplies++;
    counters.multiplyAdds += 16L * columns * depth;
    // Each warp has its 16 rows of A; the four share one reading of B.
    counters.sharedBytesRead += (a == null ? 0 : 16 * ROW_BYTES) + columns * ROW_BYTES / 4;
  }

  /** The warp's own rows of A and of the sums, and all of B. */
  @Override
  List<Fragment> fragments(Warp warp, Frame frame, List<TracedRegister> names) {
    int part = warp.index % Warpgroup.WARPS;
    int lane = Integer.numberOfTrailingZeros(warp.live);
    FragmentReader reader = new FragmentReader(frame, names);
    List<Fragment> all = new ArrayList<>();
    try {
      if (aDescriptor < 0) {
        all.add(reader.a(aType, MmaOp.Packing.of(aType, 0), 16, depth, fragment));
      } else {
        MatrixDescriptor a = MatrixDescriptor.decode(frame.registers[aDescriptor + lane]);
        all.add(
            FragmentReader.shared(
                "A", aType, warp.block.shared(), a, aKMajor, 16 * part, 16, depth));
      }
      MatrixDescriptor b = MatrixDescriptor.decode(frame.registers[bDescriptor + lane]);
      all.add(
          FragmentReader.shared("B", bType, warp.block.shared(), b, bKMajor, 0, columns, depth));
    } catch (IllegalArgumentException e) {
      // Descriptors that have not been computed yet.
      all.clear();
    }
    all.add(reader.accumulator("C", sumType, d, columns));
    all.add(reader.accumulator("D", sumType, d, columns));
    return all;
  }

  private static MatrixDescriptor descriptor(Warp warp, Frame frame, int register, String name) {
    long bits = frame.registers[register];
    for (int lane = 1; lane < 32; lane++) {
      if (frame.registers[register + lane] != bits) {
        warp.lane = lane;
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION, "lanes differ in the descriptor of " + name);
      }
    }
    try {
      return MatrixDescriptor.decode(bits);
    } catch (IllegalArgumentException e) {
      throw new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, name + ": " + e.getMessage());
    }
  }

  private int[] pieces(Warp warp, MatrixDescriptor a, MatrixDescriptor b) {
    int ofA = a == null ? 0 : ROWS * ROW_BYTES / PIECE;
    int[] pieces = new int[ofA + columns * ROW_BYTES / PIECE];
    if (a != null) {
      pieces(a, ROWS, aType, aKMajor, pieces, 0);
    }
    pieces(b, columns, bType, bKMajor, pieces, ofA);
    for (int piece : pieces) {
      warp.block.shared().range(piece, PIECE, PIECE);
    }
    return pieces;
  }

  private void pieces(
      MatrixDescriptor of, int extent, PtxType type, boolean kMajor, int[] found, int from) {
    int bytes = type.bytes();
    int each = PIECE / bytes;
    int major = kMajor ? extent : depth;
    int along = kMajor ? depth : extent;
    int at = from;
    for (int m = 0; m < major; m++) {
      for (int p = 0; p < along; p += each) {
        found[at++] = kMajor ? of.address(m, p, bytes, true) : of.address(p, m, bytes, false);
      }
    }
  }

  /** The place of a lane's element among its warp's sums. */
  private int place(int part, int lane, int element) {
    int row = 16 * part + FragmentLayout.rowOfC(lane, element & 3);
    int column = 8 * (element >>> 2) + FragmentLayout.columnOfC(lane, element & 3);
    return row * columns + column;
  }

  /** Reads a warp's part of the accumulator from its registers. */
  void gather(long[] r, int part, long[] sums) {
    boolean half = sumType == PtxType.F16;
    for (int lane = 0; lane < 32; lane++) {
      for (int e = 0; e < columns / 2; e++) {
        long value = r[d[half ? e / 2 : e] + lane];
        sums[place(part, lane, e)] = half ? value >>> (16 * (e & 1)) & Bits.M16 : value;
      }
    }
  }

  /** Writes a warp's part of the sums to its registers. */
  void scatter(long[] r, int part, long[] sums) {
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < d.length; i++) {
        r[d[i] + lane] =
            sumType == PtxType.F16
                ? sums[place(part, lane, 2 * i)] | sums[place(part, lane, 2 * i + 1)] << 16
                : sums[place(part, lane, i)];
      }
    }
  }

  @Override
  public String toString() {
    return instruction().name() + Arrays.toString(d);
  }
}
