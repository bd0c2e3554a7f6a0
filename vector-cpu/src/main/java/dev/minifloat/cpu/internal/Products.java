package dev.minifloat.cpu.internal;

import dev.minifloat.cpu.internal.dot.DotKernels;
import dev.minifloat.cpu.internal.dot.DotScratch;
import dev.minifloat.cpu.internal.gemm.Epilogue;
import dev.minifloat.cpu.internal.gemm.GemmKernel;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.gemm.PackedOperand;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.gemv.GemvKernel;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.util.Arrays;

/**
 * Dot, matrix-vector and matrix-matrix products of a backend.
 *
 * <p>Any thread may call; buffers, and the objects that hold the state of a call, are kept between
 * calls.
 */
final class Products {
  private final Workers workers;
  private final PackingBuffers buffers;
  private final DotScratch.Pool dotScratch = new DotScratch.Pool();
  private final Pool<Call> calls;

  /** Products that share their work among {@code workers}, with scratch of {@code memory}. */
  Products(Workers workers, Memory memory) {
    this.workers = workers;
    this.buffers = new PackingBuffers(memory);
    this.calls = new Pool<>(Call::new);
  }

  /** See {@link dev.minifloat.spi.Kernels#dot}. */
  float dot(TensorView a, TensorView b) {
    return Nans.canonical(DotKernels.dot(a, b, dotScratch));
  }

  /** See {@link dev.minifloat.spi.Kernels#pack}. */
  void pack(TensorView x, boolean transposed) {
    PackedOperand.attach(x, transposed, workers, buffers);
  }

  /** See {@link dev.minifloat.spi.Kernels#gemv}. */
  void gemv(TensorView a, TensorView x, TensorView out) {
    Call call = calls.take();
    call.gemv(a, x, out);
    calls.give(call);
  }

  /** See {@link GemmCall}. */
  void gemm(GemmCall gemm) {
    Call call = calls.take();
    call.gemm(gemm);
    calls.give(call);
  }

  /** The state of one call. One that throws is not used again. */
  private final class Call {
    private final GemmOperand a = new GemmOperand();
    private final GemmOperand b = new GemmOperand();
    private final GemmOperand c = new GemmOperand();
    private final Epilogue epilogue = new Epilogue(buffers);
    private final GemmKernel kernel = new GemmKernel(workers, buffers);
    private final GemvKernel vectors = new GemvKernel(workers, buffers);

    void gemv(TensorView matrix, TensorView x, TensorView out) {
      // As a product of one row: outᵀ = xᵀ · aᵀ.
      epilogue.begin(out);
      multiply(a.showRow(x), b.show(matrix), null, 1, 1);
      end();
    }

    void gemm(GemmCall gemm) {
      a.show(gemm.a());
      b.show(gemm.b()).transpose();
      GemmOperand addend = gemm.c() == null ? null : c.show(gemm.c());
      long matrices = gemm.out().shape().batch();
      if (matrices != 1
          && b.isRepeated()
          && a.isStackable()
          && (addend == null || addend.isStackable())) {
        // A stack of matrices times one and the same matrix is one tall product.
        a.stack(matrices);
        b.single();
        if (addend != null) {
          addend.stack(matrices);
        }
        matrices = 1;
      }
      epilogue.begin(gemm, addend, a.rows());
      PackedOperand packed = b.isRepeated() ? PackedOperand.of(gemm.b()) : null;
      multiply(a, b, packed, matrices, gemm.alpha());
      end();
    }

    private void end() {
      epilogue.close();
      a.clear();
      b.clear();
      c.clear();
    }

    /** a [M, K] times the transpose of {@code right}, [N, K]. */
    private void multiply(
        GemmOperand left, GemmOperand right, PackedOperand packed, long matrices, float alpha) {
      if (matrices == 0 || left.rows() == 0 || right.rows() == 0) {
        return;
      }
      if (left.columns() == 0 || alpha == 0) {
        storeEmptySums(left.rows(), right.rows(), matrices);
      } else if (GemvKernel.suits(
          right,
          left,
          matrices,
          packed == null ? GemvKernel.MOST_VECTORS : GemvKernel.FEW_VECTORS)) {
        vectors.run(right, left, matrices, epilogue, false);
      } else if (right.columns() >= GemvKernel.LONG
          && GemvKernel.suits(left, right, matrices, GemvKernel.FEW_VECTORS)) {
        // Few columns: outᵀ = right · leftᵀ.
        vectors.run(left, right, matrices, epilogue, true);
      } else if (GemvKernel.suitsLong(right, left)) {
        GemvKernel.runLong(workers, buffers, right, left, matrices, epilogue);
      } else {
        kernel.run(left, right, packed, matrices, epilogue);
      }
    }

    /** The product where there is nothing to add up. */
    private void storeEmptySums(long rows, long columns, long matrices) {
      int run = (int) Math.min(columns, Epilogue.LONGEST_RUN);
      float[] zeros = buffers.take(run);
      Arrays.fill(zeros, 0, run, 0f);
      try (Memory.Block scratch = buffers.takeRows()) {
        for (long row = 0; row < matrices * rows; row++) {
          for (long column = 0; column < columns; column += run) {
            int count = (int) Math.min(run, columns - column);
            epilogue.store(zeros, 0, row / rows, row % rows, column, count, scratch.segment());
          }
        }
      }
      buffers.give(zeros);
    }
  }
}
