package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.SupportTable;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Conversion, quantization and dequantization against {@link BlockQuantizer}, bit by bit. */
class ConversionsTest {
  private static VectorBackend backend;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  /** Every pair of a format and a scaling it has. */
  static List<QuantSpec> specs() {
    List<QuantSpec> specs = new ArrayList<>();
    List<Scaling> scalings = new ArrayList<>(SupportTable.SCALINGS);
    scalings.add(Scaling.block(3, 5));
    scalings.add(Scaling.block(1, 24));
    scalings.add(Scaling.block(2, 1));
    for (DType dtype : DType.values()) {
      for (Scaling scaling : scalings) {
        if (!(scaling instanceof Scaling.None) && scaling.isValidFor(dtype)) {
          specs.add(QuantSpec.of(dtype).scaling(scaling));
        }
      }
    }
    return specs;
  }

  private static final List<Overflow> OVERFLOWS = List.of(Overflow.values());
  private static final List<MxScaleRule> RULES = List.of(MxScaleRule.values());

  private static final List<Shape> SHAPES =
      List.of(
          Shape.SCALAR,
          Shape.of(0),
          Shape.of(1),
          Shape.of(67),
          Shape.of(3, 0),
          Shape.of(5, 1),
          Shape.of(7, 33),
          Shape.of(2, 5, 48),
          Shape.of(3, 4, 19),
          Shape.of(37, 131));

  /** Magnitudes that differ between blocks; zeros, infinities and NaN in some. */
  private static HostTensor floats(Arena arena, DType dtype, Shape shape, boolean special) {
    HostTensor host = HostTensor.allocate(arena, dtype, shape, Scaling.none());
    SplittableRandom random = new SplittableRandom(shape.hashCode());
    int magnitude = 0;
    for (long i = 0; i < shape.elements(); i++) {
      if (i % 13 == 0) {
        magnitude = random.nextInt(40) - 20;
      }
      double x = Math.scalb(random.nextDouble() * 2 - 1, magnitude);
      int kind = random.nextInt(special ? 4000 : 40);
      if (i / 50 % 3 == 1) {
        x = random.nextBoolean() ? 0 : -0.0;
      } else if (special && kind < 3) {
        x = new double[] {Double.NaN, Double.POSITIVE_INFINITY, 1e-42}[kind];
      }
      PackedElements.set(dtype, host.data(), i, Codec.encode(dtype, x));
    }
    return host;
  }

  @ParameterizedTest
  @MethodSource("specs")
  void quantizationHasTheCodecsBits(QuantSpec spec) {
    List<Rounding> roundings =
        List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.stochastic(7));
    int variant = 0;
    for (Shape shape : SHAPES) {
      for (DType source : List.of(DType.F32, DType.F16, DType.BF16)) {
        QuantSpec varied =
            spec.rounding(roundings.get(variant % 3))
                .overflow(OVERFLOWS.get(variant / 3 % 2))
                .mxRule(RULES.get(variant % 4));
        checkQuantize(source, shape, spec, variant % 2 == 0);
        checkQuantize(source, shape, varied, variant % 2 == 1);
        variant++;
      }
    }
  }

  private static void checkQuantize(DType dtype, Shape shape, QuantSpec spec, boolean special) {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor source = floats(arena, dtype, shape, special);
      HostTensor expected = BlockQuantizer.quantize(arena, source, spec);
      Tensor quantized = scope.quantize(scope.upload(source), spec);
      assertSame(expected, scope.download(quantized), spec + " of " + source);
      for (DType to : List.of(DType.F32, DType.BF16)) {
        assertSame(
            BlockQuantizer.dequantize(arena, expected, to),
            scope.download(scope.dequantize(quantized, to)),
            to + " of " + spec + " of " + source);
      }
      assertEquals(
          Float.floatToRawIntBits(canonical(BlockQuantizer.amax(expected))),
          Float.floatToRawIntBits(backend.amax(quantized)),
          () -> "amax of " + spec + " of " + source);
    }
  }

  private static float canonical(float x) {
    return Float.isNaN(x) ? Float.NaN : x;
  }

  @ParameterizedTest
  @EnumSource
  void conversionBetweenAnyTwoTypesHasTheCodecsBits(DType from) {
    SplittableRandom random = new SplittableRandom(11);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int count : new int[] {0, 1, 2, 3, 15, 16, 17, 31, 35, 4099}) {
        HostTensor source = HostTensor.allocate(arena, from, Shape.of(count), Scaling.none());
        for (int i = 0; i < count; i++) {
          PackedElements.set(from, source.data(), i, random.nextInt());
        }
        Tensor x = scope.upload(source);
        for (DType to : DType.values()) {
          Rounding rounding = count % 2 == 0 ? Rounding.NEAREST_EVEN : Rounding.stochastic(count);
          for (Overflow overflow : Overflow.values()) {
            assertSame(
                BlockQuantizer.convert(arena, source, to, rounding, overflow),
                scope.download(scope.convert(x, to, rounding, overflow)),
                source + " to " + to + " " + rounding + " " + overflow);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void viewsAreReadAsTheirElementsSay(DType dtype) {
    SplittableRandom random = new SplittableRandom(12);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      Shape shape = Shape.of(3, 41, 37);
      HostTensor source = HostTensor.allocate(arena, dtype, shape, Scaling.none());
      for (int i = 0; i < shape.elements(); i++) {
        PackedElements.set(dtype, source.data(), i, random.nextInt());
      }
      Tensor x = scope.upload(source);
      for (Tensor view :
          List.of(
              x.transposed(),
              x.transposed(0, 1),
              x.transposed(0, 2),
              x.slice(1, 3, 8),
              x.slice(2, 1, 36).transposed(),
              x.slice(0, 1, 2).reshape(41 * 37),
              x.slice(2, 5, 6),
              x.slice(2, 4, 4))) {
        HostTensor dense = dense(arena, source, (TensorView) view);
        assertSame(dense, scope.download(scope.copy(view)), "copy of " + view);
        DType to = dtype == DType.F16 ? DType.F4_E2M1 : DType.F16;
        assertSame(
            BlockQuantizer.convert(arena, dense, to, Rounding.NEAREST_EVEN, Overflow.SATURATE),
            scope.download(scope.convert(view, to, Rounding.NEAREST_EVEN, Overflow.SATURATE)),
            to + " of " + view);
      }
    }
  }

  private static HostTensor dense(Arena arena, HostTensor source, TensorView view) {
    HostTensor dense = HostTensor.allocate(arena, source.dtype(), view.shape(), source.scaling());
    for (long i = 0; i < view.shape().elements(); i++) {
      PackedElements.set(source.dtype(), dense.data(), i, source.code(view.storageIndex(i)));
    }
    return dense;
  }

  @Test
  void scaledViewsKeepTheirScales() {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor source = floats(arena, DType.F32, Shape.of(2, 34, 70), false);
      for (QuantSpec spec : specs()) {
        Tensor quantized = scope.quantize(scope.upload(source), spec);
        HostTensor host = scope.download(quantized);
        for (Tensor view :
            List.of(
                quantized.transposed(),
                quantized.slice(1, 3, 20).slice(2, 5, 60),
                quantized.transposed(0, 2).slice(0, 1, 33))) {
          HostTensor actual = scope.download(scope.dequantize(view));
          for (long i = 0; i < view.shape().elements(); i++) {
            float expected = host.get(((TensorView) view).storageIndex(i));
            if (expected != actual.get(i)) {
              assertEquals(expected, actual.get(i), spec + " " + view + " at " + i);
            }
          }
        }
      }
    }
  }

  /** Tensors whose blocks are too large for one task. */
  @Test
  void hugeBlocksAreCutWithoutATrace() {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (Shape shape : List.of(Shape.of(1, 530_001), Shape.of(531, 1001))) {
        HostTensor source = floats(arena, DType.F32, shape, false);
        Tensor x = scope.upload(source);
        for (QuantSpec spec :
            List.of(
                QuantSpec.of(DType.I4).scaling(Scaling.tensor()),
                QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
                QuantSpec.of(DType.F6_E2M3).scaling(Scaling.columns()),
                QuantSpec.of(DType.F4_E2M1).scaling(Scaling.block(530, 1000)))) {
          assertSame(
              BlockQuantizer.quantize(arena, source, spec),
              scope.download(scope.quantize(x, spec)),
              spec + " of " + source);
        }
      }
    }
  }

  private static void assertSame(HostTensor expected, HostTensor actual, String what) {
    assertEquals(expected.shape(), actual.shape(), what);
    assertEquals(
        Float.floatToRawIntBits(expected.globalScale()),
        Float.floatToRawIntBits(actual.globalScale()),
        () -> "scale of the tensor, " + what);
    long scale = expected.scales().mismatch(actual.scales());
    assertEquals(-1, scale, () -> "byte of scales, " + what);
    for (long i = 0; i < expected.shape().elements(); i++) {
      if (expected.code(i) != actual.code(i)) {
        assertEquals(
            Integer.toHexString(expected.code(i)),
            Integer.toHexString(actual.code(i)),
            "element " + i + " of " + what);
      }
    }
    assertEquals(-1, expected.data().mismatch(actual.data()), what);
  }
}
