package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * Runs of I32, whose values F32 can't all hold, on their way to another type: as F32s that, rounded
 * to that type, give what the integers would.
 *
 * <pre>
 *   magnitude   0 … 0 1xxx…x yyyyy       p bits kept, the lowest s = 32 − p − leading zeros not
 * </pre>
 *
 * Narrow types: p = 24, and a 1 in the lowest bit kept if there is any among the s below: it stands
 * for them in whatever rounding follows, of 22 bits or fewer. F32 itself, and stochastic rounding,
 * where it takes all bits to tell: the rounding is done here, p being the target's precision.
 */
final class Integers {
  private static final int SIGN = 0x80000000;

  private Integers() {}

  /** Bytes of scratch memory for random bits that {@link #floats} needs. */
  static int scratchBytes(Rounding rounding, int count) {
    return rounding instanceof Rounding.Stochastic ? 4 * (count + RandomBits.SLACK) : 0;
  }

  /**
   * Writes F32s of {@code n} integers, as many as fill a vector at least, to {@code to}.
   *
   * @param type what they are rounded to next, in the same rounding
   * @param index the row-major index of the first
   * @param random where to leave random bits in {@code dst}
   */
  static void floats(
      MemorySegment src,
      long from,
      int n,
      DType type,
      Rounding rounding,
      long index,
      MemorySegment dst,
      long to,
      long random) {
    long words = Encoders.randomBits(rounding, index, n, dst, random);
    int done = vectors(src, from, n, type, rounding, dst, to, words);
    if (done < n) {
      int last = n - LANES;
      long at = 4L * last;
      vectors(src, from + at, LANES, type, rounding, dst, to + at, words + at);
    }
  }

  private static int vectors(
      MemorySegment src,
      long from,
      int n,
      DType type,
      Rounding rounding,
      MemorySegment dst,
      long to,
      long random) {
    boolean single = type == DType.F32;
    return switch (rounding) {
      case Rounding.Mode.NEAREST_EVEN ->
          single ? Decoders.plain(DType.I32, src, from, n, dst, to) : sticky(src, from, n, dst, to);
      case Rounding.Mode.TOWARD_ZERO ->
          single ? cut(src, from, n, dst, to, 0) : sticky(src, from, n, dst, to);
      case Rounding.Mode.TOWARD_POSITIVE ->
          single ? cut(src, from, n, dst, to, -1) : sticky(src, from, n, dst, to);
      case Rounding.Stochastic _ ->
          // Integers lose nothing to sticky bits; their own types have no mantissa.
          type.isInteger()
              ? sticky(src, from, n, dst, to)
              : drawn(src, from, n, type.mantissaBits() + 1, dst, to, random);
    };
  }

  /** s of magnitudes, of which 2^31 counts as one. */
  private static IntVector lost(IntVector magnitude, int precision) {
    return magnitude.lanewise(VectorOperators.LEADING_ZEROS_COUNT).neg().add(32 - precision).max(0);
  }

  private static IntVector cut(IntVector magnitude, IntVector lost) {
    return magnitude.lanewise(VectorOperators.LSHR, lost).lanewise(VectorOperators.LSHL, lost);
  }

  private static IntVector step(IntVector lost) {
    return IntVector.broadcast(INT, 1).lanewise(VectorOperators.LSHL, lost);
  }

  /** Stores magnitudes that F32 can hold, under the signs of {@code x}. */
  private static void store(IntVector magnitude, IntVector x, MemorySegment dst, long at) {
    // 2^31 is converted as its negative.
    FloatVector f = FLOATS.cast(magnitude.convert(VectorOperators.I2F, 0)).abs();
    f.reinterpretAsInts().or(x.and(SIGN)).intoMemorySegment(dst, at, LE);
  }

  private static int sticky(MemorySegment src, long from, int n, MemorySegment dst, long to) {
    MemorySegment in = Segments.exact(src);
    MemorySegment out = Segments.exact(dst);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector x = IntVector.fromMemorySegment(INT, in, from + 4L * i, LE);
      IntVector magnitude = x.abs();
      IntVector lost = lost(magnitude, 24);
      IntVector kept = cut(magnitude, lost);
      IntVector inexact = kept.sub(magnitude).lanewise(VectorOperators.ASHR, 31);
      store(kept.or(step(lost).and(inexact)), x, out, to + 4L * i);
    }
    return i;
  }

  /** F32s cut off; positive ones are raised if {@code raise} is −1. */
  private static int cut(
      MemorySegment src, long from, int n, MemorySegment dst, long to, int raise) {
    MemorySegment in = Segments.exact(src);
    MemorySegment out = Segments.exact(dst);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector x = IntVector.fromMemorySegment(INT, in, from + 4L * i, LE);
      IntVector magnitude = x.abs();
      IntVector lost = lost(magnitude, 24);
      IntVector kept = cut(magnitude, lost);
      IntVector inexact = kept.sub(magnitude).lanewise(VectorOperators.ASHR, 31);
      IntVector positive = x.lanewise(VectorOperators.ASHR, 31).not().and(raise);
      store(kept.add(step(lost).and(inexact).and(positive)), x, out, to + 4L * i);
    }
    return i;
  }

  private static int drawn(
      MemorySegment src, long from, int n, int precision, MemorySegment dst, long to, long random) {
    MemorySegment in = Segments.exact(src);
    MemorySegment out = Segments.exact(dst);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector x = IntVector.fromMemorySegment(INT, in, from + 4L * i, LE);
      IntVector magnitude = x.abs();
      IntVector lost = lost(magnitude, precision);
      IntVector kept = cut(magnitude, lost);
      // Where nothing is lost the rest is 0, however far it is shifted.
      IntVector threshold = magnitude.sub(kept).lanewise(VectorOperators.LSHL, lost.neg().and(31));
      IntVector word = IntVector.fromMemorySegment(INT, out, random + 4L * i, LE);
      VectorMask<Integer> up = word.compare(VectorOperators.ULT, threshold);
      store(kept.blend(kept.add(step(lost)), up), x, out, to + 4L * i);
    }
    return i;
  }
}
