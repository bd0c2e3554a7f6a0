package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Quantization of whole tensors: the numerics contract's points 3 and 4. */
class BlockQuantizerTest {
  private final Arena arena = Arena.ofConfined();

  @AfterEach
  void free() {
    arena.close();
  }

  /** Every format with every scaling it has. */
  static Stream<QuantSpec> specs() {
    List<Scaling> scalings =
        List.of(
            Scaling.tensor(),
            Scaling.rows(),
            Scaling.columns(),
            Scaling.block(2, 5),
            Scaling.mx(),
            Scaling.nvfp4());
    return Arrays.stream(DType.values())
        .flatMap(
            dtype -> scalings.stream().filter(s -> s.isValidFor(dtype)).map(s -> spec(dtype, s)))
        .flatMap(
            spec ->
                spec.scaling() instanceof Scaling.Mx
                    ? Arrays.stream(MxScaleRule.values()).map(spec::mxRule)
                    : Stream.of(spec));
  }

  private static QuantSpec spec(DType dtype, Scaling scaling) {
    return new QuantSpec(
        dtype, scaling, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype), MxScaleRule.FLOOR);
  }

  /** The text of the contract, block by block: amax, scale, one division, one rounding. */
  @ParameterizedTest
  @MethodSource("specs")
  void followsTheContractBlockByBlock(QuantSpec spec) {
    Shape shape = Shape.of(2, 5, 37);
    float[] x = random(shape, 11);
    HostTensor q = BlockQuantizer.quantize(arena, tensor(x, shape), spec);
    ScaleGrid grid = spec.scaling().grid(shape);
    float[] amax = new float[(int) grid.scales()];
    float whole = 0;
    for (int i = 0; i < x.length; i++) {
      int block = (int) grid.indexOf(i);
      amax[block] = Math.max(amax[block], Math.abs(x[i]));
      whole = Math.max(whole, Math.abs(x[i]));
    }
    for (int i = 0; i < x.length; i++) {
      float blockAmax = amax[(int) grid.indexOf(i)];
      float scale =
          switch (spec.scaling()) {
            case Scaling.NvFp4 _ -> {
              float g = whole / 2688f;
              int code = Codec.encode(DType.F8_E4M3, blockAmax / 6f / g);
              yield Codec.decode(DType.F8_E4M3, code) * g;
            }
            case Scaling.Mx _ ->
                Math.scalb(1f, Scales.mx(spec.dtype(), blockAmax, spec.mxRule()) - 127);
            default -> blockAmax / (float) spec.dtype().max();
          };
      int code = Codec.encode(spec.dtype(), x[i] / scale);
      assertEquals(scale, q.scale(i), "scale of element " + i);
      assertEquals(code, q.code(i), "element " + i);
      assertEquals(scale * Codec.decode(spec.dtype(), code), q.get(i), "value " + i);
    }
  }

  @ParameterizedTest
  @MethodSource("specs")
  void zeroTensorHasFiniteScalesAndDecodesToZero(QuantSpec spec) {
    Shape shape = Shape.of(3, 40);
    float[] x = new float[120];
    x[7] = -0.0f;
    HostTensor q = BlockQuantizer.quantize(arena, tensor(x, shape), spec);
    int expected = spec.scaling().scaleDType() == DType.F32 ? 0x3F800000 : 0;
    for (int s = 0; s < q.grid().scales(); s++) {
      assertEquals(expected, PackedElements.get(spec.scaling().scaleDType(), q.scales(), s));
    }
    assertEquals(1f, q.globalScale());
    for (int i = 0; i < x.length; i++) {
      assertEquals(0, q.code(i));
      assertEquals(0, Float.floatToRawIntBits(q.get(i)));
    }
  }

  @ParameterizedTest
  @MethodSource("specs")
  void blockWithNaNOrInfinityDecodesToNaNAndOthersStay(QuantSpec spec) {
    Shape shape = Shape.of(2, 5, 37);
    for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY}) {
      float[] x = random(shape, 12);
      int at = 5 * 37 + 2 * 37 + 35;
      HostTensor good = BlockQuantizer.quantize(arena, tensor(x.clone(), shape), spec);
      x[at] = bad;
      HostTensor q = BlockQuantizer.quantize(arena, tensor(x, shape), spec);
      long badBlock = q.grid().indexOf(at);
      for (int i = 0; i < x.length; i++) {
        if (q.grid().indexOf(i) == badBlock || spec.scaling() instanceof Scaling.NvFp4) {
          assertEquals(0, q.code(i));
          assertTrue(Float.isNaN(q.get(i)));
        } else {
          assertEquals(good.get(i), q.get(i));
        }
      }
      int nan = Codec.nanCode(spec.scaling().scaleDType());
      assertEquals(nan, PackedElements.get(spec.scaling().scaleDType(), q.scales(), badBlock));
    }
  }

  @ParameterizedTest
  @MethodSource("specs")
  void tiniestAndLargestValuesNeitherVanishIntoNaNNorOverflow(QuantSpec spec) {
    Shape shape = Shape.of(2, 37);
    for (float extreme : new float[] {Float.MIN_VALUE, 0x1p-130f, Float.MAX_VALUE}) {
      float[] x = new float[74];
      for (int i = 0; i < x.length; i++) {
        x[i] = i % 3 == 0 ? extreme : i % 3 == 1 ? -extreme / 2 : 0;
      }
      HostTensor q = BlockQuantizer.quantize(arena, tensor(x, shape), spec);
      for (int i = 0; i < x.length; i++) {
        float value = q.get(i);
        // Rounding up may take a scaled value just past the largest float, never a small one.
        assertTrue(Math.abs(x[i]) > 1e38f ? !Float.isNaN(value) : Float.isFinite(value));
        assertTrue(value * Math.signum(x[i]) >= 0);
      }
    }
  }

  @Test
  void negativeZeroKeepsItsSignInABlockThatIsNotZero() {
    HostTensor q = quantize(DType.F4_E2M1, Scaling.mx(), -0.0f, 6);
    assertEquals(8, q.code(0));
    assertEquals(0x80000000, Float.floatToRawIntBits(q.get(0)));
  }

  @Test
  void divisionIsNotAProductWithTheReciprocal() {
    // Near ties of E4M3, where an ulp of the quotient decides.
    int differing = 0;
    SplittableRandom random = new SplittableRandom(13);
    for (int i = 0; i < 2000; i++) {
      float amax = (float) random.nextDouble(1, 2);
      float s = Scales.f32(DType.F8_E4M3, amax);
      float x = (17 + 2 * random.nextInt(7)) * s;
      int divided = Codec.encode(DType.F8_E4M3, x / s);
      assertEquals(divided, quantize(DType.F8_E4M3, Scaling.tensor(), x, amax).code(0));
      differing += divided == Codec.encode(DType.F8_E4M3, x * (1 / s)) ? 0 : 1;
    }
    assertTrue(differing > 0);
  }

  @Test
  void mxSaturatesUnderFloorAndNotUnderRceil() {
    // 449 / 2^0 is above 448; RCEIL takes 2^1.
    QuantSpec floor = spec(DType.F8_E4M3, Scaling.mx());
    HostTensor x = HostTensor.of(new float[] {449, 1});
    assertEquals(448f, BlockQuantizer.quantize(arena, x, floor).get(0));
    assertEquals(448f, BlockQuantizer.quantize(arena, x, floor.mxRule(MxScaleRule.RCEIL)).get(0));
    HostTensor larger = HostTensor.of(new float[] {511, 1});
    assertEquals(448f, BlockQuantizer.quantize(arena, larger, floor).get(0));
    assertEquals(
        512f, BlockQuantizer.quantize(arena, larger, floor.mxRule(MxScaleRule.RCEIL)).get(0));
    QuantSpec ieee = floor.overflow(Overflow.IEEE);
    assertTrue(Float.isNaN(BlockQuantizer.quantize(arena, larger, ieee).get(0)));
  }

  @Test
  void nvfp4MultipliesItsTwoScalesFirst() {
    float g = Math.nextUp(1f);
    HostTensor q = HostTensor.allocate(arena, DType.F4_E2M1, Shape.of(1), Scaling.nvfp4(), g);
    int three = Codec.encode(DType.F8_E4M3, 3.25);
    PackedElements.set(DType.F8_E4M3, q.scales(), 0, three);
    PackedElements.set(DType.F4_E2M1, q.data(), 0, Codec.encode(DType.F4_E2M1, 1.5));
    assertEquals(1.5f * (3.25f * g), q.get(0));
  }

  @Test
  void stochasticElementsDrawAtTheirRowMajorIndex() {
    Shape shape = Shape.of(3, 37);
    float[] x = random(shape, 14);
    QuantSpec spec = spec(DType.F8_E4M3, Scaling.rows()).rounding(Rounding.stochastic(99));
    HostTensor q = BlockQuantizer.quantize(arena, tensor(x, shape), spec);
    for (int i = 0; i < x.length; i++) {
      int expected =
          Codec.encodeWithBits(
              DType.F8_E4M3,
              x[i] / q.scale(i),
              spec.rounding(),
              spec.overflow(),
              Philox.bits(99, i));
      assertEquals(expected, q.code(i));
    }
  }

  @Test
  void halfSourcesAreReadExactly() {
    HostTensor half =
        BlockQuantizer.convert(
            arena,
            tensor(random(Shape.of(64), 15), Shape.of(64)),
            DType.F16,
            Rounding.NEAREST_EVEN,
            Overflow.IEEE);
    HostTensor wide = BlockQuantizer.dequantize(arena, half, DType.F32);
    QuantSpec spec = spec(DType.F4_E2M1, Scaling.nvfp4());
    HostTensor a = BlockQuantizer.quantize(arena, half, spec);
    HostTensor b = BlockQuantizer.quantize(arena, wide, spec);
    assertEquals(-1, a.data().mismatch(b.data()));
    assertEquals(-1, a.scales().mismatch(b.scales()));
    assertEquals(a.globalScale(), b.globalScale());
  }

  @Test
  void amaxRanksNaNAboveInfinityAboveNumbers() {
    assertEquals(0f, BlockQuantizer.amax(HostTensor.of(new float[] {-0.0f, 0})));
    assertEquals(3f, BlockQuantizer.amax(HostTensor.of(new float[] {-3, 2})));
    float inf = Float.NEGATIVE_INFINITY;
    assertEquals(-inf, BlockQuantizer.amax(HostTensor.of(new float[] {inf, 2})));
    assertTrue(Float.isNaN(BlockQuantizer.amax(HostTensor.of(new float[] {inf, Float.NaN}))));
    assertEquals(0f, BlockQuantizer.amax(HostTensor.of(new float[0])));
  }

  @Test
  void convertToTheSameTypeKeepsEachBit() {
    int signalling = 0x7F800001;
    HostTensor x = HostTensor.of(new float[] {Float.intBitsToFloat(signalling)});
    HostTensor same =
        BlockQuantizer.convert(arena, x, DType.F32, Rounding.NEAREST_EVEN, Overflow.IEEE);
    assertEquals(x.code(0), same.code(0));
  }

  @Test
  void refusesWhatIsScaledAlreadyOrNotOfFloats() {
    HostTensor scaled = quantize(DType.I8, Scaling.tensor(), 1, 2);
    QuantSpec spec = spec(DType.I8, Scaling.tensor());
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> BlockQuantizer.quantize(arena, scaled, spec));
    assertTrue(e.getMessage().startsWith("source:"), e.getMessage());
    HostTensor ints = HostTensor.of(new int[] {1});
    e =
        assertThrows(
            IllegalArgumentException.class, () -> BlockQuantizer.quantize(arena, ints, spec));
    assertTrue(e.getMessage().startsWith("source:"), e.getMessage());
  }

  private HostTensor quantize(DType dtype, Scaling scaling, float... x) {
    return BlockQuantizer.quantize(arena, HostTensor.of(x), spec(dtype, scaling));
  }

  private static HostTensor tensor(float[] x, Shape shape) {
    return HostTensor.of(x, shape.dims());
  }

  /** Values over many binades, of either sign, none of them zero. */
  private static float[] random(Shape shape, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] x = new float[(int) shape.elements()];
    for (int i = 0; i < x.length; i++) {
      double magnitude = Math.scalb(1 + random.nextDouble(), random.nextInt(-12, 12));
      x[i] = (float) (random.nextBoolean() ? magnitude : -magnitude);
    }
    return x;
  }
}
