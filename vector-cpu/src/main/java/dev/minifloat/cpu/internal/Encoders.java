package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.Philox;
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
 */
public final class Encoders {
  /** Bytes of scratch memory for each element of a run. */
  static final int SCRATCH_PER_ELEMENT = 2 * Integer.BYTES + 1;

  private Encoders() {}

  /**
   * Whether {@link #encode} needs scratch memory: for codes that share bytes, for E8M0, and for all
   * roundings but the nearest.
   */
  static boolean needsScratch(DType dtype, Rounding rounding) {
    return dtype.bits() < 8 || dtype == DType.F8_E8M0 || !rounding.equals(Rounding.NEAREST_EVEN);
  }

  /**
   * Encodes {@code count} F32 at {@code from} to elements {@code first …} of {@code data}, a type
   * of at least 8 bits but E8M0, to nearest even.
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
    encode(src, from, count, dtype, data, first, rounding, overflow, 0, null);
  }

  /**
   * Encodes {@code count} F32 at {@code from} to elements {@code first …} of {@code data}.
   *
   * @param index the row-major index of the first element, read with stochastic rounding only
   * @param scratch {@link #SCRATCH_PER_ELEMENT} · count bytes where {@link #needsScratch}, or null
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
      MemorySegment scratch) {
    if (rounding instanceof Rounding.Stochastic(long seed)) {
      randomBits(seed, index, count, scratch);
    }
    if (dtype.bits() >= 8) {
      long to = first * (dtype.bits() / 8);
      int done = codes(src, from, count, dtype, data, to, rounding, overflow, scratch);
      for (int i = done; i < count; i++) {
        int code = scalar(src, from, i, dtype, rounding, overflow, index);
        PackedElements.set(dtype, data, first + i, code);
      }
      return;
    }
    long bytes = 8L * count;
    int done = codes(src, from, count, dtype, scratch, bytes, rounding, overflow, scratch);
    for (int i = done; i < count; i++) {
      int code = scalar(src, from, i, dtype, rounding, overflow, index);
      PackedElements.set(DType.I8, scratch, bytes + i, code);
    }
    PackedCodes.pack(dtype, scratch, bytes, count, data, first);
  }

  private static int scalar(
      MemorySegment src,
      long from,
      int i,
      DType dtype,
      Rounding rounding,
      Overflow overflow,
      long index) {
    float x = src.get(PackedElements.FLOAT, from + 4L * i);
    return Codec.encode(dtype, x, rounding, overflow, index + i);
  }

  /**
   * Writes the codes of as many elements as fill vectors, one a byte or two, and returns their
   * number.
   */
  private static int codes(
      MemorySegment src,
      long from,
      int count,
      DType dtype,
      MemorySegment dst,
      long to,
      Rounding rounding,
      Overflow overflow,
      MemorySegment scratch) {
    return switch (dtype) {
      case F32 ->
          overflow == Overflow.SATURATE
              ? saturated(src, from, count, dst, to)
              : Decoders.f32(src, from, count, dst, to);
      case I32 -> 0;
      case I8, I4 -> integers(src, from, count, dtype, dst, to, rounding, scratch);
      case F8_E8M0 -> {
        FloatRounding.powerOfTwoMagnitudes(src, from, count, scratch, 4L * count);
        yield floats(
            scratch, 4L * count, count, FloatFormat.F8_E8M0, dst, to, rounding, overflow, scratch);
      }
      case F16, BF16, F8_E4M3, F8_E5M2, F6_E2M3, F6_E3M2, F4_E2M1 ->
          floats(
              src, from, count, FloatFormat.of16Bits(dtype), dst, to, rounding, overflow, scratch);
    };
  }

  /** F32 with infinities made the largest number; its NaNs made canonical. */
  private static int saturated(
      MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, src, from + 4L * i, LE);
      IntVector magnitude = bits.and(0x7FFFFFFF);
      // One less than an infinity is the largest number of that sign.
      bits.blend(bits.sub(1), magnitude.compare(VectorOperators.EQ, 0x7F800000))
          .blend(
              bits.and(0x80000000).or(Codec.CANONICAL_NAN),
              magnitude.compare(VectorOperators.GT, 0x7F800000))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int floats(
      MemorySegment src,
      long from,
      int n,
      FloatFormat f,
      MemorySegment dst,
      long to,
      Rounding rounding,
      Overflow overflow,
      MemorySegment scratch) {
    int over = f.overflowCode(overflow);
    int max = f.maxCode();
    boolean wide = f.bits() > 8;
    return switch (rounding) {
      case Rounding.Mode.NEAREST_EVEN ->
          f.lowest() == 1
              ? FloatRounding.nearestTruncated(src, from, n, f, over, dst, to)
              : FloatRounding.nearest(src, from, n, f, over, dst, to);
      case Rounding.Mode.TOWARD_ZERO -> {
        scratch.asSlice(0, 4L * n).fill((byte) 0);
        FloatRounding.cut(src, from, n, f, scratch);
        FloatRounding.finish(src, from, n, f, over, max, max, scratch);
        yield Narrow.run(scratch, n, dst, to, wide);
      }
      case Rounding.Mode.TOWARD_POSITIVE -> {
        FloatRounding.raise(src, from, n, f, scratch);
        FloatRounding.cut(src, from, n, f, scratch);
        FloatRounding.finish(src, from, n, f, over, over, max, scratch);
        yield Narrow.run(scratch, n, dst, to, wide);
      }
      case Rounding.Stochastic _ -> {
        FloatRounding.draw(src, from, n, f, scratch);
        FloatRounding.cut(src, from, n, f, scratch);
        FloatRounding.finish(src, from, n, f, over, over, over, scratch);
        yield Narrow.run(scratch, n, dst, to, wide);
      }
    };
  }

  private static int integers(
      MemorySegment src,
      long from,
      int n,
      DType dtype,
      MemorySegment dst,
      long to,
      Rounding rounding,
      MemorySegment random) {
    float max = (float) dtype.max();
    int mask = dtype.codeMask();
    return switch (rounding) {
      case Rounding.Mode.NEAREST_EVEN -> IntegerRounding.nearest(src, from, n, max, mask, dst, to);
      case Rounding.Mode.TOWARD_ZERO -> IntegerRounding.cut(src, from, n, max, mask, dst, to);
      case Rounding.Mode.TOWARD_POSITIVE ->
          IntegerRounding.towardPositive(src, from, n, max, mask, dst, to);
      case Rounding.Stochastic _ -> {
        IntegerRounding.draw(src, from, n, max, random);
        yield IntegerRounding.finish(src, from, n, max, mask, random, dst, to);
      }
    };
  }

  /** The random bits of elements {@code index … index + count − 1}. */
  private static void randomBits(long seed, long index, int count, MemorySegment dst) {
    int[] block = new int[4];
    int i = 0;
    while (i < count) {
      Philox.block(seed, (index + i) >>> 2, block);
      for (int word = (int) ((index + i) & 3); word < 4 && i < count; word++, i++) {
        dst.set(PackedElements.INT, 4L * i, block[word]);
      }
    }
  }
}
