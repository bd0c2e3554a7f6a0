package dev.minifloat.cpu.internal.dot;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cpu.internal.runtime.Cpu;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;

/**
 * Dot products of MXFP4 with MXFP4 and of NVFP4 with NVFP4: exact sums of a block's codes, times
 * the scales. Chunks with a scale that is NaN or too far from 1, and what fills no step of {@link
 * DotNibbles}, are decoded like all other formats.
 */
final class DotBlocks {
  /** Elements of which factors fit {@link DotScratch#sums}. */
  private static final int CHUNK = 32768;

  /** Beyond this and its reciprocal a tensor's own scale may take others out of F32's range. */
  private static final float FAR = 0x1p60f;

  private static final boolean POSSIBLE = Species.LANES == DotNibbles.WORDS && Cpu.permutesBytes();

  private DotBlocks() {}

  /** Elements of a block of both; 0 if {@link #dot} does not take them. */
  static int block(TensorView a, TensorView b) {
    if (!POSSIBLE
        || a.dtype() != DType.F4_E2M1
        || b.dtype() != DType.F4_E2M1
        || a.shape().elements() < DotNibbles.STEP) {
      return 0;
    }
    int block = block(a);
    return block == block(b) ? block : 0;
  }

  private static int block(TensorView x) {
    int block =
        switch (x.scaling()) {
          case Scaling.Mx _ -> Scaling.Mx.BLOCK;
          case Scaling.NvFp4 _ -> isNear(x) ? Scaling.NvFp4.BLOCK : 0;
          case Scaling.None _,
              Scaling.PerTensor _,
              Scaling.Rows _,
              Scaling.Columns _,
              Scaling.Block _ ->
              0;
        };
    if (block == 0 || x.stride(0) != 1 || x.offset() % block != 0) {
      return 0;
    }
    ScaleGrid grid = x.storage().grid();
    // Else blocks at the ends of rows are short.
    return grid.columns() % block == 0 || x.offset() + x.shape().elements() <= grid.columns()
        ? block
        : 0;
  }

  private static boolean isNear(TensorView x) {
    float scale = Math.abs(((HostStorage) x.storage()).globalScale());
    return scale >= 1 / FAR && scale <= FAR;
  }

  /** The product of operands with blocks of {@code block} elements. */
  static float dot(TensorView a, TensorView b, int block, DotScratch.Pool pool) {
    HostStorage left = (HostStorage) a.storage();
    HostStorage right = (HostStorage) b.storage();
    double scale = (double) left.globalScale() * right.globalScale();
    long n = a.shape().elements();
    float sum = 0;
    for (long k = 0; k < n; k += CHUNK) {
      int count = (int) Math.min(CHUNK, n - k);
      long at = a.offset() + k;
      long bt = b.offset() + k;
      int steps = count / DotNibbles.STEP;
      int done = steps * DotNibbles.STEP;
      int blocks = done / block;
      DotScratch scratch = pool.take();
      float[] factors = scratch.sums();
      boolean good =
          block == Scaling.Mx.BLOCK
              ? DotFactors.mx(left, at, right, bt, blocks, factors)
              : DotFactors.nvfp4(left, at, right, bt, blocks, factors);
      if (good) {
        float part =
            DotNibbles.dot(left.data(), at / 2, right.data(), bt / 2, steps, block, factors);
        sum += (float) (part * scale);
      } else {
        done = 0;
      }
      pool.give(scratch);
      if (done < count) {
        sum += DotKernels.decoded(a, b, k + done, k + count, pool);
      }
    }
    return sum;
  }
}
