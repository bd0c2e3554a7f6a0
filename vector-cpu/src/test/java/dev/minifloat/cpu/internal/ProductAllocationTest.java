package dev.minifloat.cpu.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Tensor;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What products allocate on the caller's thread once they are compiled. */
@Tag("allocation")
class ProductAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int ROUNDS = 2000;
  private static final int CALLS = 25;

  @ParameterizedTest
  @CsvSource({"2, 48, 96, 600, 0", "1, 130, 33, 32, 0", "1, 12, 70, 600, 0", "1, 130, 70, 32, 1"})
  void gemmAllocatesNothing(int threads, int m, int n, int k, float beta) {
    try (VectorBackend backend = VectorBackend.threads(1);
        Workers workers = new Workers(threads);
        Memory memory = new Memory();
        Tensor x = backend.upload(HostTensor.of(new float[m * k], m, k));
        Tensor a = backend.convert(x, DType.BF16);
        Tensor w = backend.upload(HostTensor.of(new float[n * k], n, k));
        Tensor b = backend.convert(w, DType.BF16);
        Tensor bias = backend.upload(HostTensor.of(new float[n], n));
        Tensor c = backend.upload(HostTensor.of(new float[m * n], m, n));
        Tensor out = backend.upload(HostTensor.of(new float[m * n], m, n))) {
      VectorKernels kernels = new VectorKernels(workers, memory);
      GemmCall call =
          new GemmCall(
              (TensorView) a,
              (TensorView) b.transposed(),
              (TensorView) c,
              (TensorView) bias,
              1,
              beta,
              Activation.NONE,
              (TensorView) out,
              null);
      assertEquals(0, leastAllocated(() -> kernels.gemm(call)));
    }
  }

  @Test
  void jobsOfWorkersAllocateNothing() {
    try (Workers workers = new Workers(2)) {
      assertEquals(0, leastAllocated(() -> workers.run(3, task -> {})));
    }
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
