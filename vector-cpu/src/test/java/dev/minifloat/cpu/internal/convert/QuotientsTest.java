package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Quotients at and beside the ties of every format, for scales of every magnitude. */
class QuotientsTest {
  private static final List<Rounding> ROUNDINGS =
      List.of(
          Rounding.NEAREST_EVEN,
          Rounding.TOWARD_ZERO,
          Rounding.TOWARD_POSITIVE,
          Rounding.stochastic(9));

  /** Rows of blocks: each has an amax of its own and elements near amax / max · tie. */
  private static HostTensor nearTies(Arena arena, DType dtype, int rows, int columns) {
    HostTensor host =
        HostTensor.allocate(arena, DType.F32, Shape.of(rows, columns), Scaling.none());
    SplittableRandom random = new SplittableRandom(rows);
    for (int row = 0; row < rows; row++) {
      // From subnormals to the largest exponents.
      int exponent = -149 + row * 276 / rows;
      for (int block = 0; block < columns; block += 16) {
        float amax = Math.scalb((float) (1 + random.nextDouble()), exponent);
        double scale = amax / dtype.max();
        for (int i = block; i < Math.min(columns, block + 16); i++) {
          int code = random.nextInt(Codec.maxCode(dtype));
          double low = Codec.decodeDouble(dtype, code);
          double high = Codec.decodeDouble(dtype, code + 1);
          float x = (float) (scale * (low + high) / 2);
          for (int step = random.nextInt(-2, 3); step != 0; step -= Integer.signum(step)) {
            x = step > 0 ? Math.nextUp(x) : Math.nextDown(x);
          }
          x = i == block ? amax : random.nextBoolean() ? x : -x;
          PackedElements.set(
              DType.F32, host.data(), (long) row * columns + i, Float.floatToRawIntBits(x));
        }
      }
    }
    return host;
  }

  @ParameterizedTest
  @EnumSource(names = {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1", "I8", "I4"})
  void quotientsNearTiesHaveTheCodecsBits(DType dtype) {
    try (VectorBackend backend = VectorBackend.threads(1);
        Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int columns : new int[] {64, 77}) {
        HostTensor source = nearTies(arena, dtype, 552, columns);
        for (Scaling scaling :
            List.of(
                Scaling.rows(),
                Scaling.columns(),
                Scaling.tensor(),
                Scaling.block(1, 16),
                Scaling.block(2, 24),
                Scaling.mx(),
                Scaling.nvfp4())) {
          if (scaling.isValidFor(dtype)) {
            for (Rounding rounding : ROUNDINGS) {
              check(arena, scope, source, QuantSpec.of(dtype).scaling(scaling).rounding(rounding));
            }
          }
        }
        if (dtype.isFloat()) {
          for (MxScaleRule rule : MxScaleRule.values()) {
            check(arena, scope, source, QuantSpec.of(dtype).scaling(Scaling.mx()).mxRule(rule));
          }
        }
      }
    }
  }

  private static void check(Arena arena, Scope scope, HostTensor source, QuantSpec spec) {
    HostTensor expected = BlockQuantizer.quantize(arena, source, spec);
    HostTensor actual = scope.download(scope.quantize(scope.upload(source), spec));
    assertEquals(-1, expected.scales().mismatch(actual.scales()), "scales of " + spec);
    assertEquals(-1, expected.data().mismatch(actual.data()), "elements of " + spec);
  }
}
