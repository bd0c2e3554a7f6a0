package dev.minifloat.cpu.internal.convert;

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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Prints which conversions allocate, given the tensor to write to, where all of them are made in
 * one JVM: as listed, or, with the argument {@code reversed}, the last first.
 */
final class ConversionAllocation {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final Shape SHAPE = Shape.of(64, 512);
  private static final List<Rounding> ROUNDINGS =
      List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.stochastic(3));

  private final VectorBackend backend;
  private final VectorKernels kernels = new VectorKernels(new Workers(1), new Memory());
  private final TensorView x;

  private ConversionAllocation(VectorBackend backend) {
    this.backend = backend;
    x = tensor(DType.F32, SHAPE, Scaling.none());
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < SHAPE.elements(); i++) {
      float value = (float) random.nextDouble(-3, 3);
      Views.storage(x).data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
  }

  public static void main(String[] arguments) {
    try (VectorBackend backend = VectorBackend.threads(1)) {
      new ConversionAllocation(backend).run(arguments[0].equals("reversed"));
    }
  }

  private void run(boolean reversed) {
    Map<String, Runnable> calls = new LinkedHashMap<>(quantization());
    calls.putAll(conversion());
    List<String> order = new ArrayList<>(calls.keySet());
    if (reversed) {
      order = order.reversed();
    }
    // What was compiled for the first calls is shared with the last ones, and the other way
    // round.
    for (int turn = 0; turn < 2; turn++) {
      for (String what : order) {
        long bytes = leastAllocated(calls.get(what));
        if (bytes > 0) {
          System.out.println("turn " + turn + ": " + what + ": " + bytes + " bytes");
        }
      }
    }
    System.out.println("calls: " + order.size());
  }

  private TensorView tensor(DType dtype, Shape shape, Scaling scaling) {
    try (Arena arena = Arena.ofConfined()) {
      return (TensorView) backend.upload(HostTensor.allocate(arena, dtype, shape, scaling));
    }
  }

  /** Bytes of a call, once they don't get fewer: what is interpreted boxes vectors. */
  private static long leastAllocated(Runnable call) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 40_000 && least > 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      call.run();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  private Map<String, Runnable> quantization() {
    Map<String, Runnable> calls = new LinkedHashMap<>();
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
        calls.put("quantize " + rounded, () -> kernels.quantize(x, quantized, rounded));
      }
      TensorView values = tensor(DType.F32, SHAPE, Scaling.none());
      calls.put("dequantize " + spec, () -> kernels.dequantize(quantized, values));
      TensorView turned = quantized.transposed();
      TensorView columns = tensor(DType.BF16, turned.shape(), Scaling.none());
      calls.put("turned " + spec, () -> kernels.dequantize(turned, columns));
      calls.put("amax " + spec, () -> kernels.amax(quantized));
    }
    return calls;
  }

  private Map<String, Runnable> conversion() {
    Map<String, Runnable> calls = new LinkedHashMap<>();
    for (DType dtype : DType.values()) {
      TensorView to = tensor(dtype, SHAPE, Scaling.none());
      TensorView same = tensor(dtype, SHAPE, Scaling.none());
      TensorView back = tensor(DType.F32, SHAPE, Scaling.none());
      Overflow overflow = Overflow.defaultFor(dtype);
      if (dtype != DType.F32) {
        for (Rounding rounding : ROUNDINGS) {
          calls.put(
              "F32 to " + dtype + ", " + rounding,
              () -> kernels.convert(x, to, rounding, overflow));
        }
        calls.put(
            dtype + " to F32",
            () -> kernels.convert(to, back, Rounding.NEAREST_EVEN, Overflow.IEEE));
      }
      calls.put("copy of " + dtype, () -> kernels.copy(to, same));
      calls.put("amax of " + dtype, () -> kernels.amax(to));
    }
    return calls;
  }
}
