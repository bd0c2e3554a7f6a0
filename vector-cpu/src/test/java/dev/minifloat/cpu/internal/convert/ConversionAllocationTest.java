package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.VectorKernels;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is compiled allocates nothing, given the tensor to write to. */
class ConversionAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final Shape SHAPE = Shape.of(64, 512);
  private static final List<Rounding> ROUNDINGS =
      List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.stochastic(3));

  private static VectorBackend backend;
  private static VectorKernels kernels;
  private static TensorView x;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(1);
    kernels = new VectorKernels(new Workers(1), new Memory());
    x = tensor(DType.F32, SHAPE, Scaling.none());
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < SHAPE.elements(); i++) {
      float value = (float) random.nextDouble(-3, 3);
      Views.storage(x).data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  private static TensorView tensor(DType dtype, Shape shape, Scaling scaling) {
    try (Arena arena = Arena.ofConfined()) {
      return (TensorView) backend.upload(HostTensor.allocate(arena, dtype, shape, scaling));
    }
  }

  private static void assertAllocatesNothing(String what, Runnable call) {
    long least = Long.MAX_VALUE;
    // Interpreted and half-compiled code boxes vectors.
    for (int round = 0; round < 40_000 && least > 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      call.run();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least, what);
  }

  @Test
  void quantizeAndDequantizeAllocateNothing() {
    for (QuantSpec spec :
        List.of(
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
            QuantSpec.of(DType.F8_E5M2).scaling(Scaling.block(16, 100)),
            QuantSpec.of(DType.I8).scaling(Scaling.columns()),
            QuantSpec.of(DType.I4).scaling(Scaling.tensor()),
            QuantSpec.of(DType.F6_E3M2).scaling(Scaling.mx()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()))) {
      TensorView quantized = tensor(spec.dtype(), SHAPE, spec.scaling());
      for (Rounding rounding : ROUNDINGS) {
        QuantSpec rounded = spec.rounding(rounding);
        assertAllocatesNothing(
            "quantize " + rounded, () -> kernels.quantize(x, quantized, rounded));
      }
      TensorView values = tensor(DType.F32, SHAPE, Scaling.none());
      assertAllocatesNothing("dequantize " + spec, () -> kernels.dequantize(quantized, values));
      TensorView turned = quantized.transposed();
      TensorView columns = tensor(DType.BF16, turned.shape(), Scaling.none());
      assertAllocatesNothing("turned " + spec, () -> kernels.dequantize(turned, columns));
      assertAllocatesNothing("amax " + spec, () -> kernels.amax(quantized));
    }
  }

  @Test
  void convertAndCopyAllocateNothing() {
    for (DType dtype : DType.values()) {
      TensorView to = tensor(dtype, SHAPE, Scaling.none());
      TensorView same = tensor(dtype, SHAPE, Scaling.none());
      TensorView back = tensor(DType.F32, SHAPE, Scaling.none());
      Overflow overflow = Overflow.defaultFor(dtype);
      if (dtype != DType.F32) {
        for (Rounding rounding : ROUNDINGS) {
          assertAllocatesNothing(
              "F32 to " + dtype + ", " + rounding,
              () -> kernels.convert(x, to, rounding, overflow));
        }
        assertAllocatesNothing(
            dtype + " to F32",
            () -> kernels.convert(to, back, Rounding.NEAREST_EVEN, Overflow.IEEE));
      }
      assertAllocatesNothing("copy of " + dtype, () -> kernels.copy(to, same));
      assertAllocatesNothing("amax of " + dtype, () -> kernels.amax(to));
    }
  }
}
