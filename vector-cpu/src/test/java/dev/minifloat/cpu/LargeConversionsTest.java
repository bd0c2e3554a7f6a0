package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tensors so large that a task takes several pieces and reads ahead from one to the next. */
class LargeConversionsTest {
  /** More than 64 pieces of 2^15 elements, the last one short. */
  private static final Shape SHAPE = Shape.of(1051, 2080);

  private static HostTensor source(Arena arena) {
    HostTensor host = HostTensor.allocate(arena, DType.F32, SHAPE, Scaling.none());
    SplittableRandom random = new SplittableRandom(3);
    for (long i = 0; i < SHAPE.elements(); i++) {
      // A block of zeros here and there.
      float x = i / 96 % 50 == 0 ? -0f : (float) random.nextDouble(-3, 3);
      PackedElements.set(DType.F32, host.data(), i, Float.floatToRawIntBits(x));
    }
    return host;
  }

  @Test
  void quantizedAndDequantizedTheyHaveTheCodecsBits() {
    List<QuantSpec> specs =
        List.of(
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
            QuantSpec.of(DType.I8).scaling(Scaling.tensor()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()));
    try (Arena arena = Arena.ofConfined()) {
      HostTensor source = source(arena);
      for (QuantSpec spec : specs) {
        HostTensor expected = BlockQuantizer.quantize(arena, source, spec);
        HostTensor values = BlockQuantizer.dequantize(arena, expected, DType.F32);
        for (int threads : new int[] {1, 3}) {
          try (VectorBackend backend = VectorBackend.threads(threads);
              Scope scope = backend.scope()) {
            Tensor quantized = scope.quantize(scope.upload(source), spec);
            HostTensor actual = scope.download(quantized);
            assertEquals(-1, expected.scales().mismatch(actual.scales()), "scales of " + spec);
            assertEquals(-1, expected.data().mismatch(actual.data()), "elements of " + spec);
            HostTensor back = scope.download(scope.dequantize(quantized, DType.F32));
            assertEquals(-1, values.data().mismatch(back.data()), "values of " + spec);
          }
        }
      }
    }
  }

  @Test
  void convertedTheyHaveTheCodecsBits() {
    try (Arena arena = Arena.ofConfined()) {
      HostTensor source = source(arena);
      HostTensor half =
          BlockQuantizer.convert(
              arena, source, DType.F16, Rounding.NEAREST_EVEN, Overflow.defaultFor(DType.F16));
      HostTensor values =
          BlockQuantizer.convert(
              arena, half, DType.F32, Rounding.NEAREST_EVEN, Overflow.defaultFor(DType.F32));
      for (int threads : new int[] {1, 3}) {
        try (VectorBackend backend = VectorBackend.threads(threads);
            Scope scope = backend.scope()) {
          Tensor converted = scope.convert(scope.upload(source), DType.F16);
          assertEquals(-1, half.data().mismatch(scope.download(converted).data()));
          HostTensor back = scope.download(scope.convert(converted, DType.F32));
          assertEquals(-1, values.data().mismatch(back.data()));
        }
      }
    }
  }
}
