package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * mma.sync of F64 with 8 × 8 × 4 (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64"): a lane has
 * one element of A and of B, and two of C and D. Fused multiply-adds, k ascending.
 */
final class DoubleMmaOp extends SyncOp {
  private static final int DEPTH = 4;

  private final int a;
  private final int b;
  private final int[] c;
  private final int[] d;

  DoubleMmaOp(Operands o) {
    super(WHOLE_WARP);
    d = o.destinations(0);
    a = o.sources(1, PtxType.F64)[0];
    b = o.sources(2, PtxType.F64)[0];
    c = o.sources(3, PtxType.F64);
  }

  @Override
  void together(Warp warp, Frame frame, int lanes) {
    long[] r = frame.registers;
    double[] rows = new double[8 * DEPTH];
    double[] columns = new double[8 * DEPTH];
    for (int lane = 0; lane < 32; lane++) {
      int k = FragmentLayout.kOfA(lane, 0, 0, 1);
      rows[FragmentLayout.rowOfA(lane, 0) * DEPTH + k] = Double.longBitsToDouble(r[a + lane]);
      columns[FragmentLayout.columnOfB(lane) * DEPTH + FragmentLayout.kOfB(lane, 0, 0, 1)] =
          Double.longBitsToDouble(r[b + lane]);
    }
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < d.length; i++) {
        int row = FragmentLayout.rowOfC(lane, i) * DEPTH;
        int column = FragmentLayout.columnOfC(lane, i) * DEPTH;
        double sum = Double.longBitsToDouble(r[c[i] + lane]);
        for (int k = 0; k < DEPTH; k++) {
          sum = Math.fma(rows[row + k], columns[column + k], sum);
        }
        if (d[i] >= 0) {
          r[d[i] + lane] = Double.doubleToRawLongBits(sum);
        }
      }
    }
    Counters counters = warp.block.launch().counters();
    counters.matrixMultiplies++;
    counters.multiplyAdds += 8 * 8 * DEPTH;
  }
}
