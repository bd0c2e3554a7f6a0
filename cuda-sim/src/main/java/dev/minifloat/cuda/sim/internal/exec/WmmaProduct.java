package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.mma.DotProduct;
import dev.minifloat.cuda.sim.internal.mma.Terms;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** wmma.mma: D = A·B + C on fragments that wmma.load and arithmetic on their elements made. */
final class WmmaProduct extends SyncOp {
  private final WmmaFragment a;
  private final WmmaFragment b;
  private final WmmaFragment c;
  private final WmmaFragment d;
  private final int[] destinations;
  private final int[] aSources;
  private final int[] bSources;
  private final int[] cSources;
  private final boolean saturate;

  WmmaProduct(Operands o, Instruction i) {
    super(WHOLE_WARP);
    // F16 products name the types of D and C only.
    boolean halves = i.types().size() == 2;
    PtxType aType = halves ? PtxType.F16 : i.types().get(1);
    PtxType bType = halves ? PtxType.F16 : i.types().get(2);
    PtxType cType = i.types().get(halves ? 1 : 3);
    d = WmmaFragment.of(i, 'c', i.types().get(0), o.elements(0).size());
    a = WmmaFragment.of(i, 'a', aType, o.elements(1).size());
    b = WmmaFragment.of(i, 'b', bType, o.elements(2).size());
    c = WmmaFragment.of(i, 'c', cType, o.elements(3).size());
    destinations = o.destinations(0);
    aSources = o.sources(1, WmmaFragment.held(aType));
    bSources = o.sources(2, WmmaFragment.held(bType));
    cSources = o.sources(3, WmmaFragment.held(cType));
    saturate = i.has(".satfinite");
  }

  @Override
  void together(Warp warp, Frame frame, int lanes) {
    long[] r = frame.registers;
    int depth = a.columns();
    long[] rowsOfA = gather(r, aSources, a, false);
    long[] columnsOfB = gather(r, bSources, b, true);
    long[] sums = gather(r, cSources, c, false);
    switch (d.type()) {
      case S32 -> integers(rowsOfA, columnsOfB, sums, depth);
      case F64 -> doubles(rowsOfA, columnsOfB, sums, depth);
      default -> floats(warp.block.launch().options(), rowsOfA, columnsOfB, sums, depth);
    }
    for (int lane = 0; lane < 32; lane++) {
      long[] values = new long[d.perLane()];
      System.arraycopy(sums, d.element(lane, 0), values, 0, values.length);
      d.put(r, destinations, lane, values);
    }
    Counters counters = warp.block.launch().counters();
    counters.matrixMultiplies++;
    counters.multiplyAdds += (long) sums.length * depth;
  }

  /** A matrix row by row, or column by column. */
  private static long[] gather(long[] r, int[] sources, WmmaFragment matrix, boolean byColumn) {
    long[] elements = new long[matrix.rows() * matrix.columns()];
    for (int lane = 0; lane < 32; lane++) {
      for (int s = 0; s < matrix.perLane(); s++) {
        int element = matrix.element(lane, s);
        int row = element / matrix.columns();
        int column = element % matrix.columns();
        elements[byColumn ? column * matrix.rows() + row : element] =
            matrix.get(r, sources, lane, s);
      }
    }
    return elements;
  }

  private void integers(long[] x, long[] y, long[] sums, int depth) {
    for (int at = 0; at < sums.length; at++) {
      int row = at / d.columns() * depth;
      int column = at % d.columns() * depth;
      long sum = (int) sums[at];
      for (int k = 0; k < depth; k++) {
        sum +=
            Bits.read(x[row + k], a.type().bits(), a.type().isSigned())
                * Bits.read(y[column + k], b.type().bits(), b.type().isSigned());
      }
      sum = saturate ? Math.clamp(sum, Integer.MIN_VALUE, Integer.MAX_VALUE) : sum;
      sums[at] = sum & Bits.M32;
    }
  }

  /** One fused multiply-add after the other, k ascending. */
  private void doubles(long[] x, long[] y, long[] sums, int depth) {
    for (int at = 0; at < sums.length; at++) {
      int row = at / d.columns() * depth;
      int column = at % d.columns() * depth;
      double sum = Double.longBitsToDouble(sums[at]);
      for (int k = 0; k < depth; k++) {
        sum =
            Math.fma(
                Double.longBitsToDouble(x[row + k]), Double.longBitsToDouble(y[column + k]), sum);
      }
      sums[at] = Double.doubleToRawLongBits(sum);
    }
  }

  private void floats(ExecutionOptions options, long[] x, long[] y, long[] sums, int depth) {
    FloatFormat format = MmaOp.format(a.type());
    Terms rows = terms(x, format);
    Terms columns = terms(y, format);
    DotProduct dot = MmaOp.dotProduct(options, format);
    // With one F32 accumulator, D or C, the sum is F32.
    boolean half = d.type() == PtxType.F16 && c.type() == PtxType.F16;
    FloatFormat sum = half ? FloatFormat.F16 : FloatFormat.F32;
    for (int at = 0; at < sums.length; at++) {
      long start = converted(sums[at], MmaOp.format(c.type()), sum);
      int row = at / d.columns() * depth;
      int column = at % d.columns() * depth;
      long result = dot.dot(rows, row, columns, column, depth, start, sum);
      sums[at] = converted(result, sum, MmaOp.format(d.type()));
    }
  }

  private Terms terms(long[] codes, FloatFormat format) {
    int[] narrow = new int[codes.length];
    for (int i = 0; i < codes.length; i++) {
      // TF32 is an F32 register whose low 13 bits are ignored.
      narrow[i] = (int) (a.type() == PtxType.TF32 ? codes[i] >>> 13 : codes[i]);
    }
    Terms terms = new Terms(codes.length);
    terms.decode(narrow, codes.length, format);
    return terms;
  }

  private static long converted(long code, FloatFormat from, FloatFormat to) {
    return from == to
        ? code
        : to.encode(from.decode((int) code), Rounding.NEAREST_EVEN, false) & Bits.M32;
  }
}
