package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.mma.DotProduct;
import dev.minifloat.cuda.sim.internal.mma.ExactDot;
import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.mma.ModelDot;
import dev.minifloat.cuda.sim.internal.mma.SequentialDot;
import dev.minifloat.cuda.sim.internal.mma.Terms;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.List;

/**
 * mma.sync (PTX ISA, "mma"): D = A·B + C, the matrices spread over a warp's registers; or D =
 * (A·scales)·(B·scales) + C.
 */
final class MmaOp extends SyncOp {
  private final int rows;
  private final int depth;
  private final PtxType aType;
  private final PtxType bType;
  private final Packing aPacking;
  private final Packing bPacking;
  private final PtxType accumulator;
  private final boolean saturate;

  /** Null for matrices without scales. */
  private final BlockScales scales;

  private final int[] d;
  private final int[] a;
  private final int[] b;
  private final int[] c;

  MmaOp(Operands o, Instruction i) {
    super(WHOLE_WARP);
    String shape =
        i.oneOf(".m8n8k16", ".m16n8k4", ".m16n8k8", ".m16n8k16", ".m16n8k32", ".m16n8k64");
    rows = Integer.parseInt(shape.substring(2, shape.indexOf('n')));
    depth = Integer.parseInt(shape.substring(shape.indexOf('k') + 1));
    accumulator = i.types().get(0);
    aType = i.types().get(1);
    bType = i.types().get(2);
    aPacking = Packing.of(aType, depth);
    bPacking = Packing.of(bType, depth);
    saturate = i.has(".satfinite");
    scales = BlockScales.of(o, i);
    PtxType held = accumulator == PtxType.F16 ? PtxType.B32 : accumulator;
    d = o.destinations(0);
    a = o.sources(1, PtxType.B32);
    b = o.sources(2, PtxType.B32);
    c = o.sources(3, held);
  }

  /** What one multiplication works with; a launch keeps one. */
  static final class Scratch {
    private static final int COLUMNS = 8;
    private static final int MOST_ROWS = 16;
    private static final int DEEPEST = 64;

    private final int[] aCodes = new int[MOST_ROWS * DEEPEST];
    private final int[] bCodes = new int[COLUMNS * DEEPEST];
    private final long[] sums = new long[MOST_ROWS * COLUMNS];
    final Terms aTerms = new Terms(MOST_ROWS * DEEPEST);
    final Terms bTerms = new Terms(COLUMNS * DEEPEST);
    final int[] scales = new int[MOST_ROWS * 4];
  }

  /**
   * How elements lie in a register (PTX ISA, "Matrix Fragments for mma.m16n8k32"): side by side;
   * with a depth of 32, those of 6 and 4 bits in bytes of their own.
   *
   * <pre>
   *   e4m3, e5m2   | eeeeeeee |
   *   e3m2, e2m3   | --eeeeee |
   *   e2m1         | --eeee-- |     with a depth of 64: | eeeeeeee | is two of them
   * </pre>
   *
   * @param bits of an element's place
   * @param shift from the place's lowest bit to the element's
   * @param mask of the element
   */
  record Packing(int bits, int shift, long mask) {
    static Packing of(PtxType type, int depth) {
      int own = type.bits();
      if (type.kind() == PtxType.Kind.PACKED && own < 8 && depth == 32) {
        return new Packing(8, own == 4 ? 2 : 0, Bits.mask(own));
      }
      return new Packing(own, 0, Bits.mask(own));
    }

    /** How many lie in a register. */
    int each() {
      return 32 / bits;
    }

    int element(long register, int i) {
      return (int) (register >>> (i * bits + shift) & mask);
    }
  }

  @Override
  void together(Warp warp, Frame frame, int lanes) {
    Launch launch = warp.block.launch();
    Scratch s = launch.mmaScratch();
    long[] r = frame.registers;
    gather(r, s);
    if (accumulator == PtxType.S32) {
      multiplyIntegers(s);
    } else {
      multiplyFloats(r, s, launch.options());
    }
    scatter(r, s);
    launch.counters().matrixMultiplies++;
    launch.counters().multiplyAdds += (long) rows * 8 * depth;
  }

  private void gather(long[] r, Scratch s) {
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < a.length; i++) {
        long value = r[a[i] + lane];
        int row = FragmentLayout.rowOfA(lane, i);
        int each = aPacking.each();
        for (int e = 0; e < each; e++) {
          s.aCodes[row * depth + FragmentLayout.kOfA(lane, i, e, each)] =
              aPacking.element(value, e);
        }
      }
      for (int i = 0; i < b.length; i++) {
        long value = r[b[i] + lane];
        int column = FragmentLayout.columnOfB(lane);
        int each = bPacking.each();
        for (int e = 0; e < each; e++) {
          s.bCodes[column * depth + FragmentLayout.kOfB(lane, i, e, each)] =
              bPacking.element(value, e);
        }
      }
      int held = accumulator == PtxType.F16 ? 2 : 1;
      for (int i = 0; i < c.length * held; i++) {
        long value = r[c[i / held] + lane];
        s.sums[place(lane, i)] = held == 2 ? value >>> (16 * (i & 1)) & Bits.M16 : value;
      }
    }
  }

  private static int place(int lane, int element) {
    return FragmentLayout.rowOfC(lane, element) * 8 + FragmentLayout.columnOfC(lane, element);
  }

  private void scatter(long[] r, Scratch s) {
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < d.length; i++) {
        if (d[i] < 0) {
          continue;
        }
        r[d[i] + lane] =
            accumulator == PtxType.F16
                ? s.sums[place(lane, 2 * i)] | s.sums[place(lane, 2 * i + 1)] << 16
                : s.sums[place(lane, i)];
      }
    }
  }

  @Override
  List<Fragment> fragments(Frame frame, List<TracedRegister> names) {
    FragmentReader reader = new FragmentReader(frame, names);
    return List.of(
        reader.a(aType, aPacking, rows, depth, a),
        reader.b(bType, bPacking, depth, b),
        reader.accumulator("C", accumulator, rows, c),
        reader.accumulator("D", accumulator, rows, d));
  }

  private void multiplyIntegers(Scratch s) {
    int bits = aType.bits();
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < 8; column++) {
        long sum = (int) s.sums[row * 8 + column];
        for (int k = 0; k < depth; k++) {
          long x = Bits.read(s.aCodes[row * depth + k], bits, aType.isSigned());
          long y = Bits.read(s.bCodes[column * depth + k], bits, bType.isSigned());
          sum += x * y;
        }
        sum = saturate ? Math.clamp(sum, Integer.MIN_VALUE, Integer.MAX_VALUE) : sum;
        s.sums[row * 8 + column] = sum & Bits.M32;
      }
    }
  }

  static FloatFormat format(PtxType type) {
    return switch (type) {
      case F16 -> FloatFormat.F16;
      case BF16 -> FloatFormat.BF16;
      case TF32 -> FloatFormat.TF32;
      case E4M3 -> FloatFormat.E4M3;
      case E5M2 -> FloatFormat.E5M2;
      case E3M2 -> FloatFormat.E3M2;
      case E2M3 -> FloatFormat.E2M3;
      case E2M1 -> FloatFormat.E2M1;
      case F32 -> FloatFormat.F32;
      default -> throw new IllegalStateException("no matrix of type " + type);
    };
  }

  /** How a launch's matrix instructions add products of a format. */
  static DotProduct dotProduct(ExecutionOptions options, FloatFormat format) {
    return switch (options.arithmetic()) {
      case EXACT -> new ExactDot();
      case SEQUENTIAL_F32 -> new SequentialDot();
      case HARDWARE_MODEL -> ModelDot.of(options.architecture(), format);
    };
  }

  private void multiplyFloats(long[] r, Scratch s, ExecutionOptions options) {
    FloatFormat aFormat = format(aType);
    FloatFormat bFormat = format(bType);
    if (aType == PtxType.TF32) {
      dropLowBits(s.aCodes, rows * depth);
      dropLowBits(s.bCodes, 8 * depth);
    }
    s.aTerms.decode(s.aCodes, rows * depth, aFormat);
    s.bTerms.decode(s.bCodes, 8 * depth, bFormat);
    if (scales != null) {
      scales.apply(r, s, depth);
    }
    FloatFormat sum = format(accumulator);
    DotProduct dot =
        scales != null && depth == 64 && options.arithmetic() == MmaArithmetic.HARDWARE_MODEL
            ? ModelDot.ofGroups()
            : dotProduct(options, aFormat);
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < 8; column++) {
        int at = row * 8 + column;
        s.sums[at] =
            dot.dot(s.aTerms, row * depth, s.bTerms, column * depth, depth, s.sums[at], sum);
      }
    }
  }

  /** TF32 operands are F32 registers whose low 13 bits are ignored. */
  private static void dropLowBits(int[] codes, int count) {
    for (int i = 0; i < count; i++) {
      codes[i] >>>= 13;
    }
  }
}
