package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.NARROW_BYTES;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.Overflow;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Pages;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of the {@link FusedEncoder}s of products and ratios that leave codes of F4_E2M1 two
 * in a byte, rounded to nearest even. Elements are finite, and what is rounded is below 15;
 * magnitudes above 6 become 6.
 *
 * <p>The magnitudes 0, ½, 1, 1½, 2, 3, 4, 6 have the codes 0 … 7, so that the code of a magnitude m
 * is the least of three straight lines, each rounded to nearest even where it is the least:
 *
 * <pre>
 *   2m        up to 2
 *   m + 2     from 2 to 4
 *   m/10 + 6  from 4 on: 6 up to m = 5, where the tie goes to 4, then 7, since the factor is the
 *             float below 1/10, of which 5 times is below ½ and the next float's times above
 * </pre>
 *
 * Added to 2^23, whose ulp is 1, a line leaves its rounded value in the low bits of the sum; sums
 * are ordered as their bits are.
 *
 * <p>Of two vectors the even elements go to one, the odd elements to another, and each byte is put
 * together within a lane:
 *
 * <pre>
 *   a0 a1 a2 a3 | b0 b1 b2 b3   →   a0 a2 b0 b2 | a1 a3 b1 b3
 *   magnitude's sum   0 | 96 in 8 bits | 0 … 0 kkk        x >>> 28   0 … 0 seee
 *   code              0 … 0 skkk
 * </pre>
 */
final class E2m1Template implements FusedEncoder {
  private static final Step STEP = ClassCopies.data(MethodHandles.lookup(), Step.class);
  private static final boolean RATIO = STEP == Step.RATIO;

  private static final IntVector EVEN = IntVector.zero(INT).addIndex(2);
  private static final IntVector ODD = EVEN.add(1);

  private static final int MAGNITUDE = 0x7FFFFFFF;

  /** Bytes of a vector of F32s. */
  private static final long FLOATS = 4L * LANES;

  /** The floats that lines are added to, and the slope of the last one. */
  private static final float LOW = 0x1p23f;

  private static final float MIDDLE = 0x1p23f + 2;
  private static final float HIGH = 0x1p23f + 6;
  private static final float SLOPE = Math.nextDown(0.1f);

  /** The signs of two codes: ratios are computed negated. */
  private static final int SIGNS = 0x88;

  E2m1Template() {}

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
    MemorySegment s = Segments.exact(scales);
    MemorySegment y = Segments.exact(dst);
    long line = ahead == null ? from : ahead.at();
    long apart = ahead == null ? 0 : ahead.apart();
    int touched = 0;
    IntVector evens = EVEN;
    IntVector odds = ODD;
    FloatVector two = FloatVector.broadcast(FLOAT, 2);
    FloatVector lowest = FloatVector.broadcast(FLOAT, LOW);
    FloatVector slope = FloatVector.broadcast(FLOAT, SLOPE);
    FloatVector highest = FloatVector.broadcast(FLOAT, HIGH);
    int pairs = n / (2 * LANES);
    for (int k = 0; k < pairs; k++) {
      int i = 2 * LANES * k;
      long next = line + (i >> 4 & 7) * apart + (i >> 7) * 64L;
      touched |= x.get(PackedElements.INT, next);
      if (2 * FLOATS > Pages.LINE) {
        // Two vectors are two lines, of two streams.
        touched |= x.get(PackedElements.INT, next + apart);
      }
      long place = from + k * (2 * FLOATS);
      FloatVector first = FloatVector.fromMemorySegment(FLOAT, x, place, LE);
      FloatVector second = FloatVector.fromMemorySegment(FLOAT, x, place + FLOATS, LE);
      FloatVector p;
      FloatVector q;
      if (RATIO) {
        int j = i + LANES;
        // −x / scale, given the scale and −1 / scale; see EncodeFormat.
        FloatVector divisor =
            FloatVector.broadcast(FLOAT, s.get(PackedElements.FLOAT, at + 4L * (i >> shift)));
        FloatVector negated =
            FloatVector.broadcast(FLOAT, s.get(PackedElements.FLOAT, auxAt + 4L * (i >> shift)));
        FloatVector near = first.mul(negated);
        p = near.fma(divisor, first).fma(negated, near);
        divisor = FloatVector.broadcast(FLOAT, s.get(PackedElements.FLOAT, at + 4L * (j >> shift)));
        negated =
            FloatVector.broadcast(FLOAT, s.get(PackedElements.FLOAT, auxAt + 4L * (j >> shift)));
        near = second.mul(negated);
        q = near.fma(divisor, second).fma(negated, near);
      } else {
        // A block of MX has both.
        FloatVector scale =
            FloatVector.broadcast(FLOAT, s.get(PackedElements.FLOAT, at + 4L * (i >> shift)));
        p = first.mul(scale);
        q = second.mul(scale);
      }
      IntVector low = p.reinterpretAsInts();
      IntVector high = q.reinterpretAsInts();
      FloatVector m;
      IntVector sum;
      IntVector upper;
      // The sum's three bits under the sign; written out, as in EncodeTemplate.
      IntVector evenLanes = evens.selectFrom(low, high);
      m = evenLanes.and(MAGNITUDE).reinterpretAsFloats();
      sum =
          m.fma(two, lowest)
              .reinterpretAsInts()
              .min(m.add(MIDDLE).reinterpretAsInts())
              .min(m.fma(slope, highest).reinterpretAsInts());
      upper = evenLanes.lanewise(VectorOperators.LSHR, 28);
      IntVector even =
          upper.lanewise(VectorOperators.XOR, sum).and(7).lanewise(VectorOperators.XOR, upper);
      IntVector oddLanes = odds.selectFrom(low, high);
      m = oddLanes.and(MAGNITUDE).reinterpretAsFloats();
      sum =
          m.fma(two, lowest)
              .reinterpretAsInts()
              .min(m.add(MIDDLE).reinterpretAsInts())
              .min(m.fma(slope, highest).reinterpretAsInts());
      upper = oddLanes.lanewise(VectorOperators.LSHR, 28);
      IntVector odd =
          upper.lanewise(VectorOperators.XOR, sum).and(7).lanewise(VectorOperators.XOR, upper);
      IntVector bytes = even.or(odd.lanewise(VectorOperators.LSHL, 4));
      if (RATIO) {
        bytes = bytes.lanewise(VectorOperators.XOR, SIGNS);
      }
      if (LANES > 4) {
        NARROW_BYTES
            .cast(bytes.convertShape(VectorOperators.I2B, BYTE, 0))
            .intoMemorySegment(y, to + (long) k * LANES, LE);
      } else {
        IntVector four =
            NARROW_BYTES.cast(bytes.convertShape(VectorOperators.I2B, BYTE, 0)).reinterpretAsInts();
        y.set(PackedElements.INT, to + (long) k * LANES, four.lane(0));
      }
    }
    int done = 2 * LANES * pairs;
    if (ahead != null) {
      ahead.advance(done, touched);
    }
    return done;
  }
}
