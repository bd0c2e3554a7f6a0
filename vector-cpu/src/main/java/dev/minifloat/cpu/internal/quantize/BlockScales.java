package dev.minifloat.cpu.internal.quantize;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.convert.EncodeFormat;
import dev.minifloat.cpu.internal.convert.FusedEncoder;
import dev.minifloat.cpu.internal.convert.Narrow;
import dev.minifloat.cpu.internal.convert.Tables;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * The scales of blocks, from their amax: {@link dev.minifloat.codec.Scales}, a vector of blocks at
 * a time.
 */
final class BlockScales {
  private static final int INFINITY = 0x7F800000;
  private static final int NAN = 0x7FC00000;

  /** Largest magnitude of F4_E2M1, and −1 divided by it. */
  private static final float SIX = 6;

  private static final float NEGATED_SIXTH = -1 / SIX;

  private BlockScales() {}

  /**
   * Writes scales {@code first … first + count − 1} of {@code target}, whose amax bits are in
   * {@code blocks}, and leaves there what elements are divided by: NaN for blocks of zeros and for
   * those with a NaN scale, all of whose elements are 0.
   *
   * @param inverted whether to leave the reciprocals of the divisors, with MX scaling only: they
   *     are powers of two, and so exact
   */
  static void derive(
      MemorySegment blocks,
      int count,
      HostStorage target,
      long first,
      QuantSpec spec,
      boolean inverted) {
    float global = target.globalScale();
    int done =
        switch (spec.scaling()) {
          case Scaling.NvFp4 _ ->
              global >= FusedEncoder.LEAST_SCALE && global <= FusedEncoder.LARGEST_SCALE
                  ? nvfp4(blocks, count, target.scales(), first, global)
                  : 0;
          case Scaling.Mx _ -> mx(blocks, count, target.scales(), first, spec, inverted);
          case Scaling.None _,
              Scaling.PerTensor _,
              Scaling.Rows _,
              Scaling.Columns _,
              Scaling.Block _ ->
              f32(blocks, count, target.scales(), first, (float) spec.dtype().max());
        };
    for (int i = done; i < count; i++) {
      int bits = blocks.get(PackedElements.INT, 4L * i);
      float divisor = scale(Amax.value(bits), target, first + i, spec);
      boolean zeros = bits == 0 || bits >= INFINITY;
      float left = zeros ? Float.NaN : inverted ? 1 / divisor : divisor;
      blocks.set(PackedElements.FLOAT, 4L * i, left);
    }
  }

  /**
   * Whether all of {@code count} F32s, or NaNs, at the start of {@code blocks} are numbers from
   * {@code least} to {@code largest}, both positive.
   */
  static boolean within(MemorySegment blocks, int count, float least, float largest) {
    MemorySegment x = Segments.exact(blocks);
    int from = Float.floatToRawIntBits(least);
    int to = Float.floatToRawIntBits(largest);
    // Positive floats are ordered as their bits are, and a NaN lies above.
    IntVector low = IntVector.broadcast(INT, from);
    IntVector high = IntVector.broadcast(INT, to);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, x, 4L * i, LE);
      low = INTS.cast(low).min(bits);
      high = INTS.cast(high).max(bits);
    }
    boolean within =
        INTS.cast(low)
            .compare(VectorOperators.LT, from)
            .or(INTS.cast(high).compare(VectorOperators.GT, to))
            .not()
            .allTrue();
    for (; i < count; i++) {
      int bits = x.get(PackedElements.INT, 4L * i);
      within &= bits >= from && bits <= to;
    }
    return within;
  }

  /** Writes −1 / s of {@code count} F32s at the start of {@code blocks} to {@code to}. */
  static void negatedReciprocals(MemorySegment blocks, int count, long to) {
    MemorySegment x = Segments.exact(blocks);
    FloatVector one = FloatVector.broadcast(FLOAT, -1);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      one.div(FloatVector.fromMemorySegment(FLOAT, x, 4L * i, LE))
          .intoMemorySegment(x, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      x.set(PackedElements.FLOAT, to + 4L * i, -1 / x.get(PackedElements.FLOAT, 4L * i));
    }
  }

  /** Writes one scale and returns what it decodes to. */
  private static float scale(float amax, HostStorage target, long index, QuantSpec spec) {
    float global = target.globalScale();
    int code = BlockQuantizer.scaleCode(spec, amax, global);
    return switch (spec.scaling()) {
      case Scaling.NvFp4 _ -> {
        target.scales().set(ValueLayout.JAVA_BYTE, index, (byte) code);
        yield Tables.e4m3(code) * global;
      }
      case Scaling.Mx _ -> {
        target.scales().set(ValueLayout.JAVA_BYTE, index, (byte) code);
        yield Tables.e8m0(code);
      }
      case Scaling.None _,
          Scaling.PerTensor _,
          Scaling.Rows _,
          Scaling.Columns _,
          Scaling.Block _ -> {
        target.scales().set(PackedElements.INT, 4 * index, code);
        yield Codec.decode(DType.F32, code);
      }
    };
  }

  /** amax / max, at least the least float; 1 for zeros. */
  private static int f32(
      MemorySegment blocks, int count, MemorySegment scales, long first, float max) {
    MemorySegment x = Segments.exact(blocks);
    MemorySegment y = Segments.exact(scales);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector amax = IntVector.fromMemorySegment(INT, x, 4L * i, LE);
      VectorMask<Integer> zero = amax.compare(VectorOperators.EQ, 0);
      VectorMask<Integer> special = amax.compare(VectorOperators.GE, INFINITY);
      IntVector quotient = amax.reinterpretAsFloats().div(max).reinterpretAsInts().max(1);
      IntVector scale = quotient.blend(Float.floatToRawIntBits(1), zero).blend(NAN, special);
      scale.intoMemorySegment(y, 4L * (first + i), LE);
      scale.blend(NAN, zero).intoMemorySegment(x, 4L * i, LE);
    }
    return i;
  }

  /**
   * The exponent of amax, or of amax / max (RCEIL), after an addition to its bits that carries into
   * the exponent where the rule rounds up: always from anything but a power of two (CEIL, RCEIL),
   * or from half an ulp of the format below the next (EVEN). A subnormal's exponent field is 0, far
   * below what is clamped; but for RCEIL, which subtracts nothing, 1 after the addition, one too
   * many up to 2^-127.
   */
  private static int mx(
      MemorySegment blocks,
      int count,
      MemorySegment scales,
      long first,
      QuantSpec spec,
      boolean inverted) {
    MemorySegment x = Segments.exact(blocks);
    MemorySegment y = Segments.exact(scales);
    boolean quotients = spec.mxRule() == MxScaleRule.RCEIL;
    float max = quotients ? (float) spec.dtype().max() : 1;
    int least = quotients ? 0x00400000 : 0;
    int emax = quotients ? 0 : spec.dtype().maxExponent();
    int carry =
        switch (spec.mxRule()) {
          case FLOOR -> 0;
          case CEIL, RCEIL -> 0x007FFFFF;
          case EVEN -> 1 << (22 - spec.dtype().mantissaBits());
        };
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector amax = IntVector.fromMemorySegment(INT, x, 4L * i, LE);
      VectorMask<Integer> special = amax.compare(VectorOperators.GE, INFINITY);
      IntVector bits = amax.reinterpretAsFloats().div(max).reinterpretAsInts();
      IntVector exponent = bits.add(carry).lanewise(VectorOperators.LSHR, 23).sub(emax).max(0);
      IntVector code = exponent.blend(0, bits.compare(VectorOperators.LE, least));
      Narrow.store(code.blend(0xFF, special), y, first + i, false);
      IntVector divisor =
          inverted
              ? code.neg().add(254).lanewise(VectorOperators.LSHL, 23)
              : code.lanewise(VectorOperators.LSHL, 23).max(0x00400000);
      divisor
          .blend(NAN, special.or(amax.compare(VectorOperators.EQ, 0)))
          .intoMemorySegment(x, 4L * i, LE);
    }
    return i;
  }

  /**
   * In three steps: amax / 6 / g, E4M3 codes, their values times g. A code of 0 would not do for a
   * block with other values than zeros, the next one does: so quotients are held to its value. They
   * are ratios as {@link EncodeFormat} explains, of which the first is the quotient for every amax
   * that is not far below.
   */
  private static int nvfp4(
      MemorySegment blocks, int count, MemorySegment scales, long first, float global) {
    MemorySegment x = Segments.exact(blocks);
    int least = Float.floatToRawIntBits((float) DType.F8_E4M3.minSubnormal());
    int vectors = count / LANES * LANES;
    FloatVector six = FloatVector.broadcast(FLOAT, SIX);
    FloatVector sixth = FloatVector.broadcast(FLOAT, NEGATED_SIXTH);
    FloatVector divisor = FloatVector.broadcast(FLOAT, global);
    FloatVector inverse = FloatVector.broadcast(FLOAT, -1 / global);
    for (int i = 0; i < vectors; i += LANES) {
      IntVector amax = IntVector.fromMemorySegment(INT, x, 4L * i, LE);
      // Twice −x / s, given −1 / s; see EncodeFormat.
      FloatVector x0 = amax.reinterpretAsFloats();
      FloatVector near = x0.mul(sixth);
      FloatVector x1 = near.fma(six, x0).fma(sixth, near);
      near = x1.mul(inverse);
      near.fma(divisor, x1)
          .fma(inverse, near)
          .reinterpretAsInts()
          .max(least)
          .blend(0, amax.compare(VectorOperators.EQ, 0))
          .blend(NAN, amax.compare(VectorOperators.GE, INFINITY))
          .intoMemorySegment(x, 4L * i, LE);
    }
    EncodeFormat.kernel(DType.F8_E4M3, Rounding.NEAREST_EVEN, FusedEncoder.Step.CONVERT)
        .encode(x, 0, vectors, null, 0, 0, Overflow.SATURATE, null, 0, scales, first, null);
    Decoders.decode(DType.F8_E4M3, scales, first, vectors, x, 0, null);
    for (int i = 0; i < vectors; i += LANES) {
      FloatVector scale = FloatVector.fromMemorySegment(FLOAT, x, 4L * i, LE);
      scale
          .mul(global)
          .blend(Float.NaN, scale.compare(VectorOperators.EQ, 0))
          .intoMemorySegment(x, 4L * i, LE);
    }
    return vectors;
  }
}
