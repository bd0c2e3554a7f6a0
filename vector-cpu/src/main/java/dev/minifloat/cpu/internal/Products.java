package dev.minifloat.cpu.internal;

import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.util.Arrays;

/**
 * Dot, matrix-vector and matrix-matrix products of a backend.
 *
 * <p>Any thread may call; buffers are kept between calls.
 */
final class Products {
  private final Workers workers;
  private final PackingBuffers buffers;

  /** Products that share their work among {@code workers}, with scratch of {@code memory}. */
  Products(Workers workers, Memory memory) {
    this.workers = workers;
    this.buffers = new PackingBuffers(memory);
  }

  /** See {@link dev.minifloat.spi.Kernels#dot}. */
  float dot(TensorView a, TensorView b) {
    return Nans.canonical(DotKernels.dot(a, b, buffers));
  }

  /** See {@link dev.minifloat.spi.Kernels#gemv}. */
  void gemv(TensorView a, TensorView x, TensorView out) {
    // As a product of one row: outᵀ = xᵀ · aᵀ.
    try (Epilogue epilogue = Epilogue.plain(out, buffers)) {
      multiply(GemmOperand.rowOf(x), GemmOperand.of(a).transposed(), 1, 1, epilogue);
    }
  }

  /** See {@link GemmCall}. */
  void gemm(GemmCall call) {
    GemmOperand a = GemmOperand.of(call.a());
    GemmOperand b = GemmOperand.of(call.b());
    GemmOperand c = call.c() == null ? null : GemmOperand.of(call.c());
    long matrices = call.out().shape().batch();
    if (matrices != 1 && b.isRepeated() && a.isStackable() && (c == null || c.isStackable())) {
      // A stack of matrices times one and the same matrix is one tall product.
      a = a.stacked(matrices);
      b = b.single();
      c = c == null ? null : c.stacked(matrices);
      matrices = 1;
    }
    try (Epilogue epilogue = Epilogue.of(call, c, a.rows(), buffers)) {
      multiply(a, b, matrices, call.alpha(), epilogue);
    }
  }

  private void multiply(
      GemmOperand a, GemmOperand b, long matrices, float alpha, Epilogue epilogue) {
    if (matrices == 0 || a.rows() == 0 || b.columns() == 0) {
      return;
    }
    if (a.columns() == 0 || alpha == 0) {
      storeEmptySums(a.rows(), b.columns(), matrices, epilogue);
    } else if (GemvKernel.suits(a, matrices)) {
      GemvKernel.run(workers, buffers, b.transposed(), a, matrices, epilogue);
    } else if (GemvKernel.suitsLong(b.transposed(), a)) {
      GemvKernel.runLong(workers, buffers, b.transposed(), a, matrices, epilogue);
    } else {
      new GemmKernel(workers, buffers, a, b, matrices, epilogue).run();
    }
  }

  /** The product where there is nothing to add up. */
  private void storeEmptySums(long rows, long columns, long matrices, Epilogue epilogue) {
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
