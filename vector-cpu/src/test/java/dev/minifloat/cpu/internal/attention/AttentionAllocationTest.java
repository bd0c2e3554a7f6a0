package dev.minifloat.cpu.internal.attention;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.VectorKernels;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.TensorView;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What attention allocates on the caller's thread once it is compiled. */
@Tag("allocation")
class AttentionAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int ROUNDS = 2000;
  private static final int CALLS = 20;

  @ParameterizedTest
  @CsvSource({
    "1, F32, 40, 40, 32, false",
    "2, F32, 40, 250, 32, true",
    "1, BF16, 33, 201, 20, true",
    "1, F32, 1, 300, 64, false",
    "2, F8_E4M3, 2, 150, 40, true"
  })
  void attentionAllocatesNothing(
      int threads, DType dtype, int queries, int keys, int width, boolean causal) {
    try (VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope();
        Workers workers = new Workers(threads);
        Memory memory = new Memory()) {
      DType floats = dtype == DType.F8_E4M3 ? DType.F32 : dtype;
      Tensor q = random(scope, floats, queries, width);
      Tensor k = random(scope, dtype, keys, width);
      Tensor v = random(scope, dtype, keys, width);
      Tensor lengths = scope.upload(HostTensor.of(new int[] {keys, keys - 1}, 2));
      Tensor out =
          scope.upload(HostTensor.of(new float[2 * 2 * queries * width], 2, queries, 2, width));
      AttentionCall call =
          new AttentionCall(
              (TensorView) q,
              (TensorView) k,
              (TensorView) v,
              0.2f,
              causal,
              (TensorView) lengths,
              (TensorView) out);
      VectorKernels kernels = new VectorKernels(workers, memory);
      assertEquals(0, leastAllocated(() -> kernels.attention(call)));
    }
  }

  private static Tensor random(Scope scope, DType dtype, int rows, int width) {
    float[] values = new float[2 * 2 * rows * width];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) Math.sin(i);
    }
    Tensor x = scope.upload(HostTensor.of(values, 2, 2, rows, width));
    return scope.quantize(x, QuantSpec.of(dtype).scaling(Scaling.none()));
  }

  /** The fewest bytes that a few calls in a row allocated. */
  private static long leastAllocated(Runnable call) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }
}
