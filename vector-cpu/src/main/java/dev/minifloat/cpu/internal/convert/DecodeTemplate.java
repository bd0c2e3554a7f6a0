package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Exact.LONGS;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE_REACH;
import static dev.minifloat.cpu.internal.runtime.Species.EIGHT_BYTES;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.LONG;
import static dev.minifloat.cpu.internal.runtime.Species.SHORT;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link FusedDecoder}; {@link Decoders} makes a class of it for each type and
 * step.
 *
 * <p>Small floats, with e the exponent field, f the fraction, b the bias:
 *
 * <pre>
 *   normal     n = (e − b + 127) | f     one addition of (127 − b) &lt;&lt; 23
 *   subnormal  2^(1−b) · 0.f = 2n − 2^(1−b), where n is 2^−b · 1.f
 * </pre>
 *
 * The least of n and 2n − 2^(1−b) is the value in both cases: n is less than the other from 2^(1−b)
 * on. No F32 subnormal takes part. Codes of 4 bits, if they come two in a byte, are looked up:
 *
 * <pre>
 *   64-bit lane    0 … 0 bbbbaaaa   | the same &lt;&lt; 28   →   32-bit lanes   … aaaa, … bbbb
 * </pre>
 *
 * Codes of Inf and NaN are replaced; the sign, −0's too, is put in last. All this stands in the
 * loop: as a method it would be compiled by itself before short loops are, and then not be inlined.
 * So do the few steps of every other format.
 */
final class DecodeTemplate implements FusedDecoder {
  /**
   * The constants of a copy.
   *
   * @param packed whether codes of 4 bits lie two in a byte; with {@link #PACKED_LANES} only
   */
  record Variant(DType dtype, Step step, boolean packed) {}

  /** Lanes with which a vector of values holds the table of a type of 4 bits. */
  static final int PACKED_LANES = 16;

  private static final Variant VARIANT = ClassCopies.data(MethodHandles.lookup(), Variant.class);
  private static final DType DTYPE = VARIANT.dtype();
  private static final boolean PLAIN = VARIANT.step() == Step.PLAIN;
  private static final boolean FINITE =
      VARIANT.step() == Step.TIMES_FINITE || VARIANT.step() == Step.BLOCKS_FINITE;
  private static final boolean BLOCKS =
      VARIANT.step() == Step.BLOCKS || VARIANT.step() == Step.BLOCKS_FINITE;
  private static final boolean EACH = VARIANT.step() == Step.EACH;
  private static final int BITS = DTYPE.bits();
  private static final boolean PACKED = VARIANT.packed();
  private static final int WIDTH = Math.max(1, BITS / 8);

  /** Elements whose codes a load touches. */
  private static final int REACH = WIDTH == 1 && !PACKED ? BYTE_REACH : LANES;

  /** Bytes of codes that a vector of values takes. */
  private static final int PACE = PACKED ? LANES / 2 : LANES * WIDTH;

  /** Values of 4-bit codes. */
  private static final IntVector TABLE = PACKED ? table() : IntVector.zero(INT);

  // Not a switch: its table is an array, whose elements are no constants to the compiler.
  private static final boolean F32 = DTYPE == DType.F32;
  private static final boolean BF16 = DTYPE == DType.BF16;
  private static final boolean E8M0 = DTYPE == DType.F8_E8M0;
  private static final boolean I8 = DTYPE == DType.I8;
  private static final boolean I4 = DTYPE == DType.I4;
  private static final boolean I32 = DTYPE == DType.I32;
  private static final boolean SMALL_FLOAT = !(PACKED || F32 || BF16 || E8M0 || I8 || I4 || I32);

  private static final FloatFormat F = SMALL_FLOAT ? FloatFormat.of16Bits(DTYPE) : FloatFormat.F16;

  private static final int MAGNITUDES = F.magnitudeMask();
  private static final int SHIFT = F.shift();
  private static final int REBIAS = F.rebias();

  /** Whether a code fills its bytes, so that a load that extends the sign leaves it on top. */
  private static final boolean FULL = BITS == 8 * WIDTH;

  /** Whether a load extends the sign. */
  private static final boolean SIGNED = I8 || (FULL && SMALL_FLOAT);

  private static final int INFINITY_CODE = F.infinityCode();
  private static final int NAN_ABOVE = F.nanAbove();

  /** 2^(1 − b), the least normal value. */
  private static final float LEAST = Float.intBitsToFloat(REBIAS + (1 << 23));

  private static final boolean HAS_INFINITY = DTYPE.hasInfinity();
  private static final boolean HAS_NAN = DTYPE.hasNaN();

  /** Bytes of a vector of F32s. */
  private static final long VECTOR_BYTES = 4L * LANES;

  private static final int SIGN = 0x80000000;
  private static final int INFINITY = 0x7F800000;
  private static final int NAN = 0x7FC00000;

  DecodeTemplate() {}

  private static IntVector table() {
    float[] values = Tables.narrow(DTYPE);
    return FloatVector.fromArray(FLOAT, values, 0).reinterpretAsInts();
  }

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
      long to,
      ReadAhead ahead) {
    MemorySegment x = Segments.exact(codes);
    MemorySegment s = BLOCKS || EACH ? Segments.exact(scales) : x;
    MemorySegment y = Segments.exact(dst);
    long line = ahead == null ? to : ahead.at();
    long apart = ahead == null ? 0 : ahead.apart();
    int touched = 0;
    IntVector zero = IntVector.zero(INT);
    int vectors = n < REACH ? 0 : (n - REACH) / LANES + 1;
    for (int k = 0; k < vectors; k++) {
      int i = LANES * k;
      long place = from + (long) k * PACE;
      touched |= y.get(PackedElements.INT, line + (i >> 4 & 7) * apart + (i >> 7) * 64L);
      // All steps are written out; see EncodeTemplate.
      IntVector code =
          WIDTH == 4
              ? IntVector.fromMemorySegment(INT, x, place, LE)
              : WIDTH == 2
                  ? INTS.cast(
                      ShortVector.fromMemorySegment(SHORT, x, place, LE)
                          .convertShape(
                              SIGNED ? VectorOperators.S2I : VectorOperators.ZERO_EXTEND_S2I,
                              INT,
                              0))
                  : PACKED
                      ? zero
                      : INTS.cast(
                          ByteVector.fromMemorySegment(BYTE, x, place, LE)
                              .convertShape(
                                  SIGNED ? VectorOperators.B2I : VectorOperators.ZERO_EXTEND_B2I,
                                  INT,
                                  0));
      FloatVector value;
      if (PACKED) {
        LongVector bytes =
            LONGS.cast(
                ByteVector.fromMemorySegment(EIGHT_BYTES, x, place, LE)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2L, LONG, 0));
        IntVector index =
            bytes.or(bytes.lanewise(VectorOperators.LSHL, 28)).reinterpretAsInts().and(15);
        value = index.selectFrom(TABLE).reinterpretAsFloats();
      } else if (SMALL_FLOAT) {
        IntVector shifted = code.lanewise(VectorOperators.LSHL, SHIFT);
        IntVector placed = shifted.and(MAGNITUDES << SHIFT);
        IntVector normal = placed.add(REBIAS);
        IntVector other =
            normal
                .reinterpretAsFloats()
                .fma(FloatVector.broadcast(FLOAT, 2), FloatVector.broadcast(FLOAT, -LEAST))
                .reinterpretAsInts();
        IntVector bits = normal.min(other);
        if (HAS_INFINITY) {
          bits = bits.blend(INFINITY, placed.compare(VectorOperators.EQ, INFINITY_CODE << SHIFT));
        }
        IntVector sign =
            (FULL ? shifted : code.lanewise(VectorOperators.LSHL, 32 - BITS)).and(SIGN);
        if (HAS_NAN) {
          VectorMask<Integer> nan = placed.compare(VectorOperators.GT, NAN_ABOVE << SHIFT);
          bits = PLAIN ? bits.blend(NAN, nan).or(sign) : bits.or(sign).blend(NAN, nan);
        } else {
          bits = bits.or(sign);
        }
        value = bits.reinterpretAsFloats();
      } else if (F32 || BF16) {
        IntVector bits = F32 ? code : code.lanewise(VectorOperators.LSHL, 16);
        value =
            bits.blend(
                    bits.and(SIGN).or(NAN), bits.and(~SIGN).compare(VectorOperators.GT, INFINITY))
                .reinterpretAsFloats();
      } else if (E8M0) {
        value =
            code.lanewise(VectorOperators.LSHL, 23)
                .blend(1 << 22, code.compare(VectorOperators.EQ, 0))
                .blend(NAN, code.compare(VectorOperators.EQ, 0xFF))
                .reinterpretAsFloats();
      } else {
        IntVector integer = I4 ? code.lanewise(VectorOperators.XOR, 8).sub(8) : code;
        value = FLOATS.cast(integer.convert(VectorOperators.I2F, 0));
      }
      FloatVector product =
          PLAIN
              ? value
              : EACH
                  ? value.mul(FloatVector.fromMemorySegment(FLOAT, s, at + k * VECTOR_BYTES, LE))
                  : value.mul(
                      BLOCKS
                          ? table[s.get(ValueLayout.JAVA_BYTE, at + (i >> shift)) & 0xFF] * factor
                          : factor);
      if (!PLAIN && !FINITE) {
        product = product.blend(Float.NaN, product.compare(VectorOperators.NE, product));
      }
      FLOATS.cast(product).intoMemorySegment(y, to + k * VECTOR_BYTES, LE);
    }
    int done = LANES * vectors;
    if (ahead != null) {
      ahead.advance(done, touched);
    }
    return done;
  }
}
