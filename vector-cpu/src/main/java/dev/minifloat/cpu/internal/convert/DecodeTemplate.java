package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE_REACH;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.SHORT;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link FusedDecoder}; {@link Decoders} makes a class of it for each type and
 * step.
 *
 * <p>Small floats, with e the exponent field, f the fraction, b the bias:
 *
 * <pre>
 *   normal     (e − b + 127) | f                        one addition of (127 − b) &lt;&lt; 23
 *   subnormal  2^(1−b) · 0.f = 2^(1−b) · 1.f − 2^(1−b)  no F32 subnormal takes part
 * </pre>
 *
 * Codes of Inf and NaN are replaced; the sign, −0's too, is put in last. All this stands in the
 * loop: as a method it would be compiled by itself before short loops are, and then not be inlined.
 * What {@link ClassCopies} says of small methods holds here too.
 */
final class DecodeTemplate implements FusedDecoder {
  /** The constants of a copy. */
  record Variant(DType dtype, Step step) {}

  private static final Variant VARIANT = ClassCopies.data(MethodHandles.lookup(), Variant.class);
  private static final DType DTYPE = VARIANT.dtype();
  private static final boolean PLAIN = VARIANT.step() == Step.PLAIN;
  private static final boolean BLOCKS = VARIANT.step() == Step.BLOCKS;
  private static final boolean EACH = VARIANT.step() == Step.EACH;
  private static final int BITS = DTYPE.bits();
  private static final int WIDTH = Math.max(1, BITS / 8);

  /** Elements whose codes a load touches. */
  private static final int REACH = WIDTH == 1 ? BYTE_REACH : LANES;

  // Not a switch: its table is an array, whose elements are no constants to the compiler.
  private static final boolean F32 = DTYPE == DType.F32;
  private static final boolean BF16 = DTYPE == DType.BF16;
  private static final boolean E8M0 = DTYPE == DType.F8_E8M0;
  private static final boolean I8 = DTYPE == DType.I8;
  private static final boolean I4 = DTYPE == DType.I4;
  private static final boolean I32 = DTYPE == DType.I32;
  private static final boolean SMALL_FLOAT = !(F32 || BF16 || E8M0 || I8 || I4 || I32);

  private static final FloatFormat F = SMALL_FLOAT ? FloatFormat.of16Bits(DTYPE) : FloatFormat.F16;

  private static final int MAGNITUDES = F.magnitudeMask();
  private static final int SHIFT = F.shift();
  private static final int REBIAS = F.rebias();
  private static final int LEAST_NORMAL = 1 << F.mantissaBits();
  private static final int INFINITY_CODE = F.infinityCode();
  private static final int NAN_ABOVE = F.nanAbove();

  /** The bits of 2^(1 − b), the least normal value. */
  private static final int LEAST = REBIAS + (1 << 23);

  private static final boolean HAS_INFINITY = DTYPE.hasInfinity();
  private static final boolean HAS_NAN = DTYPE.hasNaN();

  private static final int SIGN = 0x80000000;
  private static final int INFINITY = 0x7F800000;
  private static final int NAN = 0x7FC00000;

  DecodeTemplate() {}

  @Override
  public int decode(
      MemorySegment codes,
      long from,
      int n,
      float factor,
      MemorySegment scales,
      long at,
      int shift,
      float[] table,
      MemorySegment dst,
      long to) {
    MemorySegment x = Segments.exact(codes);
    MemorySegment s = BLOCKS || EACH ? Segments.exact(scales) : x;
    MemorySegment y = Segments.exact(dst);
    int i = 0;
    for (; i <= n - REACH; i += LANES) {
      long place = from + (long) WIDTH * i;
      FloatVector value;
      if (SMALL_FLOAT) {
        IntVector code = load(x, place);
        IntVector magnitude = code.and(MAGNITUDES);
        IntVector placed = magnitude.lanewise(VectorOperators.LSHL, SHIFT);
        IntVector subnormal =
            placed
                .add(LEAST)
                .reinterpretAsFloats()
                .sub(Float.intBitsToFloat(LEAST))
                .reinterpretAsInts();
        IntVector bits =
            placed
                .add(REBIAS)
                .blend(subnormal, magnitude.compare(VectorOperators.LT, LEAST_NORMAL));
        if (HAS_INFINITY) {
          bits = bits.blend(INFINITY, magnitude.compare(VectorOperators.EQ, INFINITY_CODE));
        }
        if (HAS_NAN) {
          bits = bits.blend(NAN, magnitude.compare(VectorOperators.GT, NAN_ABOVE));
        }
        IntVector sign = code.lanewise(VectorOperators.LSHL, 32 - BITS).and(SIGN);
        value = bits.or(sign).reinterpretAsFloats();
      } else {
        value = other(x, place);
      }
      FloatVector product =
          PLAIN
              ? value
              : EACH
                  ? value.mul(FloatVector.fromMemorySegment(FLOAT, s, at + 4L * i, LE))
                  : value.mul(
                      BLOCKS
                          ? table[s.get(ValueLayout.JAVA_BYTE, at + (i >> shift)) & 0xFF] * factor
                          : factor);
      (PLAIN ? value : canonical(product)).intoMemorySegment(y, to + 4L * i, LE);
    }
    return i;
  }

  private static FloatVector canonical(FloatVector x) {
    return x.blend(Float.NaN, x.compare(VectorOperators.NE, x));
  }

  private static IntVector load(MemorySegment codes, long at) {
    if (WIDTH == 4) {
      return IntVector.fromMemorySegment(INT, codes, at, LE);
    }
    if (WIDTH == 2) {
      return (IntVector)
          ShortVector.fromMemorySegment(SHORT, codes, at, LE)
              .convertShape(VectorOperators.ZERO_EXTEND_S2I, INT, 0);
    }
    return (IntVector)
        ByteVector.fromMemorySegment(BYTE, codes, at, LE)
            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0);
  }

  /** The value of a type that takes few operations. */
  private static FloatVector other(MemorySegment codes, long at) {
    if (F32) {
      return withNaN(load(codes, at));
    }
    if (BF16) {
      return withNaN(load(codes, at).lanewise(VectorOperators.LSHL, 16));
    }
    if (E8M0) {
      return powerOfTwo(load(codes, at));
    }
    if (I8) {
      return (FloatVector)
          ByteVector.fromMemorySegment(BYTE, codes, at, LE)
              .convertShape(VectorOperators.B2F, FLOAT, 0);
    }
    return floats(I4 ? load(codes, at).lanewise(VectorOperators.XOR, 8).sub(8) : load(codes, at));
  }

  private static FloatVector floats(IntVector x) {
    return (FloatVector) x.convert(VectorOperators.I2F, 0);
  }

  private static FloatVector withNaN(IntVector bits) {
    return bits.blend(bits.and(SIGN).or(NAN), bits.and(~SIGN).compare(VectorOperators.GT, INFINITY))
        .reinterpretAsFloats();
  }

  private static FloatVector powerOfTwo(IntVector code) {
    return code.lanewise(VectorOperators.LSHL, 23)
        .blend(1 << 22, code.compare(VectorOperators.EQ, 0))
        .blend(NAN, code.compare(VectorOperators.EQ, 0xFF))
        .reinterpretAsFloats();
  }
}
