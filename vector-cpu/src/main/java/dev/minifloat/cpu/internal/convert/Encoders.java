package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Runs of F32 encoded to any type, with the same bits as {@link Codec#encode}, for every rounding
 * and overflow.
 *
 * <p>Sources and targets are native segments that do not overlap. A run may start anywhere in the
 * target, inside a byte too; other elements keep their bits, but two threads must not write to one
 * byte.
 *
 * <p>What does not fill a vector at the end of a run is encoded with elements before it, once more:
 * the same codes again.
 */
public final class Encoders {
  private Encoders() {}

  /**
   * Bytes of scratch memory that {@link #encode} needs for runs of up to {@code count} elements:
   * for codes that share bytes, and for random bits.
   */
  static int scratchBytes(DType dtype, Rounding rounding, int count) {
    int random = rounding instanceof Rounding.Stochastic ? 4 * (count + RandomBits.SLACK) : 0;
    return random + (dtype.bits() < 8 ? count : 0);
  }

  /**
   * Encodes {@code count} F32 at {@code from} to elements {@code first …} of {@code data}, a type
   * of at least 8 bits, to nearest even.
   */
  public static void encode(
      MemorySegment src,
      long from,
      int count,
      DType dtype,
      MemorySegment data,
      long first,
      Rounding rounding,
      Overflow overflow) {
    encode(src, from, count, dtype, data, first, rounding, overflow, 0, null, 0, null);
  }

  /**
   * Encodes {@code count} F32 at {@code from} to elements {@code first …} of {@code data}.
   *
   * @param index the row-major index of the first element, read with stochastic rounding only
   * @param scratch {@link #scratchBytes} at {@code at}; null where that is 0
   * @param ahead what to read ahead, or null
   */
  public static void encode(
      MemorySegment src,
      long from,
      int count,
      DType dtype,
      MemorySegment data,
      long first,
      Rounding rounding,
      Overflow overflow,
      long index,
      MemorySegment scratch,
      long at,
      ReadAhead ahead) {
    switch (dtype) {
      case F32 -> {
        // A float is rounded to itself.
        int done =
            overflow == Overflow.SATURATE
                ? saturated(src, from, count, data, 4 * first)
                : Decoders.f32(src, from, count, data, 4 * first);
        scalars(src, from, done, count, dtype, data, first, rounding, overflow, index);
      }
      case F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, I8, I32 ->
          codes(
              src, from, count, dtype, data, first, rounding, overflow, index, scratch, at, ahead);
      case F6_E2M3, F6_E3M2, F4_E2M1, I4 -> {
        // One a byte first; scratch memory is bytes, in which an I8 has the place of a code.
        long random = at + count;
        codes(
            src, from, count, dtype, scratch, at, rounding, overflow, index, scratch, random,
            ahead);
        PackedCodes.pack(dtype, scratch, at, count, data, first);
      }
    }
  }

  /** Codes in whole bytes each, at places {@code first …}; random bits go to {@code at}. */
  private static void codes(
      MemorySegment src,
      long from,
      int count,
      DType dtype,
      MemorySegment dst,
      long first,
      Rounding rounding,
      Overflow overflow,
      long index,
      MemorySegment scratch,
      long at,
      ReadAhead ahead) {
    FusedEncoder encoder = EncodeFormat.kernel(dtype, rounding, FusedEncoder.Step.CONVERT);
    int width = Math.max(1, dtype.bits() / 8);
    if (count < LANES) {
      DType place = width == 1 ? DType.I8 : dtype;
      for (int i = 0; i < count; i++) {
        float x = src.get(PackedElements.FLOAT, from + 4L * i);
        int code = Codec.encode(dtype, x, rounding, overflow, index + i);
        PackedElements.set(place, dst, first + i, code);
      }
      return;
    }
    long to = first * width;
    int done;
    if (rounding instanceof Rounding.Stochastic) {
      long random = randomBits(rounding, index, count, scratch, at);
      encoder.encode(
          src, from, count, null, 0, 0, overflow, scratch, random, scratch, random, null);
      done = Narrow.run(scratch, random, count, dst, to, width);
    } else {
      done = encoder.encode(src, from, count, null, 0, 0, overflow, null, 0, dst, to, ahead);
    }
    if (done < count) {
      int last = count - LANES;
      codes(
          src,
          from + 4L * last,
          LANES,
          dtype,
          dst,
          first + last,
          rounding,
          overflow,
          index + last,
          scratch,
          at,
          null);
    }
  }

  /** Leaves random bits at {@code at} for stochastic rounding; returns where the first are. */
  static long randomBits(Rounding rounding, long index, int count, MemorySegment scratch, long at) {
    return rounding instanceof Rounding.Stochastic(long seed)
        ? RandomBits.fill(seed, index, count, scratch, at)
        : 0;
  }

  /** What is left, one by one. */
  private static void scalars(
      MemorySegment src,
      long from,
      int done,
      int count,
      DType dtype,
      MemorySegment data,
      long first,
      Rounding rounding,
      Overflow overflow,
      long index) {
    for (int i = done; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      int code = Codec.encode(dtype, x, rounding, overflow, index + i);
      PackedElements.set(dtype, data, first + i, code);
    }
  }

  /** F32 with infinities made the largest number; its NaNs made canonical. */
  private static int saturated(
      MemorySegment src, long from, int count, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(src);
    MemorySegment y = Segments.exact(dst);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, x, from + 4L * i, LE);
      IntVector magnitude = bits.and(0x7FFFFFFF);
      // One less than an infinity is the largest number of that sign.
      bits.blend(bits.sub(1), magnitude.compare(VectorOperators.EQ, 0x7F800000))
          .blend(
              bits.and(0x80000000).or(Codec.CANONICAL_NAN),
              magnitude.compare(VectorOperators.GT, 0x7F800000))
          .intoMemorySegment(y, to + 4L * i, LE);
    }
    return i;
  }
}
