package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Exact.NARROW_BYTES;
import static dev.minifloat.cpu.internal.runtime.Exact.NARROW_SHORTS;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.SHORT;

import dev.minifloat.Overflow;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.EncodeFormat.Kind;
import dev.minifloat.cpu.internal.convert.EncodeFormat.Mode;
import dev.minifloat.cpu.internal.convert.FusedEncoder.Step;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link FusedEncoder}; {@link EncodeFormat} makes a class of it for each format
 * and rounding, and explains the constants.
 *
 * <p>What {@link ClassCopies} says of small methods holds here too.
 */
final class EncodeTemplate implements FusedEncoder {
  private static final EncodeFormat FORMAT =
      ClassCopies.data(MethodHandles.lookup(), EncodeFormat.class);

  private static final boolean INTEGER = FORMAT.kind() == Kind.INTEGER;
  private static final boolean POWER_OF_TWO = FORMAT.kind() == Kind.POWER_OF_TWO;
  private static final boolean TRUNCATED = POWER_OF_TWO || FORMAT.kind() == Kind.TRUNCATED;
  private static final boolean CONVERT = FORMAT.step() == Step.CONVERT;
  private static final boolean PRODUCT = FORMAT.step() == Step.PRODUCT;
  private static final boolean RATIO = FORMAT.step() == Step.RATIO;
  private static final boolean EACH = FORMAT.step() == Step.QUOTIENT_EACH;
  private static final boolean NEAREST = FORMAT.mode() == Mode.NEAREST;
  private static final boolean ZERO = FORMAT.mode() == Mode.ZERO;
  private static final boolean POSITIVE = FORMAT.mode() == Mode.POSITIVE;
  private static final boolean STOCHASTIC = FORMAT.mode() == Mode.STOCHASTIC;
  private static final int BITS = FORMAT.bits();
  private static final int SHIFT = FORMAT.shift();
  private static final int LOWEST = FORMAT.lowest();
  private static final int ALIGNER = FORMAT.aligner();
  private static final int LARGEST = FORMAT.largest();
  private static final int BEYOND = FORMAT.beyond();
  private static final int SATURATED = FORMAT.saturated();
  private static final int OVER = FORMAT.over();
  private static final int NAN_CODE = FORMAT.nanCode();
  private static final int NAN_SIGNS = FORMAT.nanSigns();

  private static final int CODE_MASK = BITS == 32 ? -1 : (1 << BITS) - 1;
  private static final int CODE_SIGN = POWER_OF_TWO ? 0 : 1 << (BITS - 1);
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final int INFINITY = 0x7F800000;
  private static final int HIDDEN = 0x00800000;

  /** Takes 24 from the exponent of c and makes its fraction, the bias, all ones. */
  private static final int TO_SHIFT =
      (INTEGER ? HIDDEN - 1 : HIDDEN - 1 - (ALIGNER & (HIDDEN - 1))) - 24 * HIDDEN;

  private static final int WIDTH = STOCHASTIC ? 4 : Math.max(1, BITS / 8);

  EncodeTemplate() {}

  @Override
  public int encode(
      MemorySegment src,
      long from,
      int n,
      MemorySegment scales,
      long at,
      int shift,
      Overflow overflow,
      MemorySegment random,
      long auxAt,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    MemorySegment x = Segments.exact(src);
    MemorySegment s = CONVERT ? x : Segments.exact(scales);
    MemorySegment r = STOCHASTIC ? Segments.exact(random) : x;
    MemorySegment y = Segments.exact(dst);
    long line = ahead == null ? from : ahead.at();
    long apart = ahead == null ? 0 : ahead.apart();
    int touched = 0;
    FloatVector ratioScale = broadcast(s, RATIO, at);
    FloatVector ratioInverse = broadcast(s, RATIO, auxAt);
    boolean ieee = overflow == Overflow.IEEE;
    int limit = limit(ieee);
    int negativeLimit = negativeLimit(ieee);
    int over = ieee ? OVER : SATURATED;
    int i = 0;
    // All steps are written out. A method of several is compiled before this loop in some programs,
    // and then too big to be inlined; and after many steps the compiler still inlines vectors'
    // methods but none of ours. Either way every vector that passes the call goes to the heap.
    for (; i <= n - LANES; i += LANES) {
      if (!STOCHASTIC) {
        touched |= x.get(PackedElements.INT, line + (i >> 4 & 7) * apart + (i >> 7) * 64L);
      }
      FloatVector value = FloatVector.fromMemorySegment(FLOAT, x, from + 4L * i, LE);
      FloatVector q;
      if (CONVERT) {
        q = value;
      } else if (RATIO) {
        FloatVector near = value.mul(ratioInverse);
        q = near.fma(ratioScale, value).fma(ratioInverse, near);
      } else if (EACH) {
        q = value.div(FloatVector.fromMemorySegment(FLOAT, s, at + 4L * i, LE));
      } else {
        float scale = s.get(PackedElements.FLOAT, at + 4L * (i >> shift));
        q = PRODUCT ? value.mul(scale) : value.div(scale);
      }
      // The sign of a ratio is that of x: it is computed negated, and −0 loses its sign.
      IntVector bits = (RATIO ? value : q).reinterpretAsInts();
      IntVector magnitude = q.reinterpretAsInts().and(MAGNITUDE);
      IntVector held =
          RATIO
              ? magnitude
              : POSITIVE && !TRUNCATED && !INTEGER
                  ? magnitude.min(
                      bits.lanewise(VectorOperators.ASHR, 31)
                          .and(limit ^ negativeLimit)
                          .lanewise(VectorOperators.XOR, limit))
                  : magnitude.min(limit);
      IntVector sign = bits.lanewise(VectorOperators.LSHR, 32 - BITS).and(CODE_SIGN);
      IntVector code;
      if (TRUNCATED) {
        IntVector fraction = held;
        if (POWER_OF_TWO) {
          // Codes of E8M0 are the exponent. Code 00 is 2^-127, half of F32's least normal, and
          // below
          // that the distance from 2^-127 is the fraction.
          IntVector above = held.sub(HIDDEN / 2).max(0).lanewise(VectorOperators.LSHL, 1);
          fraction = held.blend(above, held.compare(VectorOperators.LT, HIDDEN));
        }
        IntVector cut = fraction.lanewise(VectorOperators.LSHR, SHIFT);
        if (NEAREST) {
          code =
              fraction
                  .add(cut.and(1))
                  .add((1 << (SHIFT - 1)) - 1)
                  .lanewise(VectorOperators.LSHR, SHIFT);
        } else if (ZERO) {
          code = cut;
        } else if (POSITIVE) {
          code = fraction.add((1 << SHIFT) - 1).lanewise(VectorOperators.LSHR, SHIFT);
          if (!POWER_OF_TWO) {
            code = code.blend(cut, bits.compare(VectorOperators.LT, 0));
          }
        } else {
          code =
              cut.blend(
                  cut.add(1),
                  IntVector.fromMemorySegment(INT, r, auxAt + 4L * i, LE)
                      .compare(
                          VectorOperators.ULT,
                          fraction.lanewise(VectorOperators.LSHL, 32 - SHIFT)));
        }
        code = code.or(sign);
      } else {
        IntVector c =
            INTEGER
                ? IntVector.broadcast(INT, ALIGNER)
                : held.and(INFINITY).max(LOWEST).add(ALIGNER);
        FloatVector nearest = held.reinterpretAsFloats().add(c.reinterpretAsFloats());
        IntVector sum = nearest.reinterpretAsInts();
        if (!NEAREST) {
          // magnitude + c, given the nearest sum, in another rounding.
          IntVector rounded = nearest.sub(c.reinterpretAsFloats()).reinterpretAsInts();
          // −1 where the sum is above; bits of positive floats are ordered as they are.
          IntVector down = held.sub(rounded).lanewise(VectorOperators.ASHR, 31);
          IntVector cut = sum.add(down);
          if (ZERO) {
            sum = cut;
          } else if (POSITIVE) {
            IntVector raised = rounded.sub(held).lanewise(VectorOperators.LSHR, 31);
            sum = sum.add(raised).blend(cut, bits.compare(VectorOperators.LT, 0));
          } else {
            // One more where the random bits are less than ⌊2^32 · fraction⌋, the fraction being
            // what the cut sum leaves, exactly, in ulps of c:
            //   rest        0 | E | f        c   0 | C | …      ulp 2^(C − 150)
            //   threshold   1f 0…0 >>> (C − E − 24)             0 from 32 on, and for a rest of 0
            IntVector rest =
                held.reinterpretAsFloats()
                    .sub(cut.reinterpretAsFloats().sub(c.reinterpretAsFloats()))
                    .reinterpretAsInts();
            IntVector distance = c.add(TO_SHIFT).sub(rest).lanewise(VectorOperators.LSHR, 23);
            IntVector threshold =
                rest.lanewise(VectorOperators.LSHL, 8)
                    .or(0x80000000)
                    .lanewise(VectorOperators.LSHR, distance)
                    .blend(0, distance.compare(VectorOperators.GT, 31));
            sum =
                cut.blend(
                    cut.add(1),
                    IntVector.fromMemorySegment(INT, r, auxAt + 4L * i, LE)
                        .compare(VectorOperators.ULT, threshold));
          }
        }
        if (INTEGER) {
          // The integer whose magnitude is in the low bits of the sum.
          IntVector negatives = bits.lanewise(VectorOperators.ASHR, 31);
          IntVector signed =
              sum.sub(ALIGNER).lanewise(VectorOperators.XOR, negatives).sub(negatives);
          code =
              BITS == 32
                  ? signed.blend(
                      INTS.cast(bits.reinterpretAsFloats().convert(VectorOperators.F2I, 0)),
                      bits.and(MAGNITUDE).compare(VectorOperators.GE, BEYOND))
                  : signed.min(SATURATED).and(CODE_MASK);
        } else {
          code = sum.add(sum.lanewise(VectorOperators.LSHR, SHIFT)).and(CODE_SIGN - 1).or(sign);
        }
      }
      if (CONVERT && (ZERO || POSITIVE) && !TRUNCATED && !INTEGER) {
        code = code.blend(sign.or(over), magnitude.compare(VectorOperators.EQ, INFINITY));
      }
      if (!RATIO) {
        VectorMask<Integer> nan = magnitude.compare(VectorOperators.GT, INFINITY);
        code =
            CONVERT && NAN_SIGNS != 0
                ? code.blend(sign.or(NAN_CODE), nan)
                : code.blend(CONVERT ? NAN_CODE : 0, nan);
      }
      code = INTS.cast(code);
      if (WIDTH == 4) {
        code.intoMemorySegment(y, to + 4L * i, LE);
      } else if (WIDTH == 2) {
        NARROW_SHORTS
            .cast(code.convertShape(VectorOperators.I2S, SHORT, 0))
            .intoMemorySegment(y, to + 2L * i, LE);
      } else if (LANES > 4) {
        NARROW_BYTES
            .cast(code.convertShape(VectorOperators.I2B, BYTE, 0))
            .intoMemorySegment(y, to + i, LE);
      } else {
        IntVector four =
            NARROW_BYTES.cast(code.convertShape(VectorOperators.I2B, BYTE, 0)).reinterpretAsInts();
        y.set(PackedElements.INT, to + i, four.lane(0));
      }
    }
    if (ahead != null) {
      ahead.advance(i, touched);
    }
    return i;
  }

  private static FloatVector broadcast(MemorySegment scales, boolean read, long at) {
    return FloatVector.broadcast(FLOAT, read ? scales.get(PackedElements.FLOAT, at) : 0);
  }

  /** What magnitudes are held to. A cut-off format stays below infinity by itself. */
  private static int limit(boolean ieee) {
    return ieee && (TRUNCATED || !ZERO) ? BEYOND : LARGEST;
  }

  /** The same for negative numbers. */
  private static int negativeLimit(boolean ieee) {
    return ieee && (TRUNCATED || !POSITIVE) ? limit(true) : LARGEST;
  }
}
