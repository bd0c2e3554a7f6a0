package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link DotFused}; {@link DotKernels} makes a class of it for each format.
 *
 * <p>Each step takes four vectors of elements of both operands, in one, two or four loads, to four
 * independent sums. The product of two biased parts would underflow, so one of them is multiplied
 * by 2^127 (by an FMA: some machines are slow to multiply subnormals only); the least product of
 * two subnormals, 2^-48 for F16, is then 2^-145, still a multiple of the least F32, and the sum is
 * multiplied by what is missing.
 *
 * <p>The small methods below must not move to a class that the copies share: compiled by itself for
 * all formats such a method is too big to be inlined, and every vector would go to the heap.
 */
final class DotTemplate implements DotFused {
  private static final int BITS;
  private static final int EXPONENT_BITS;
  private static final int MASK;
  private static final int PARTS;
  private static final boolean BIASED;
  private static final float RESULT;

  static {
    DotFormat format = ClassCopies.data(MethodHandles.lookup(), DotFormat.class);
    BITS = format.bits();
    EXPONENT_BITS = format.exponentBits();
    MASK = format.mask();
    PARTS = format.parts();
    BIASED = format.isBiased();
    RESULT = BIASED ? (float) ((double) format.scale() * format.scale() * 0x1p-127) : 1;
  }

  private static final long VECTOR_BYTES = (long) LANES * Integer.BYTES;
  private static final long STEP = 4L / PARTS * VECTOR_BYTES;

  DotTemplate() {}

  @Override
  public float dot(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int steps) {
    IntVector mask = IntVector.broadcast(INT, MASK);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector scale = FloatVector.broadcast(FLOAT, 0x1p127f);
    FloatVector s0 = zero;
    FloatVector s1 = zero;
    FloatVector s2 = zero;
    FloatVector s3 = zero;
    for (int i = 0; i < steps; i++) {
      long atA = aFrom + i * STEP;
      IntVector a0 = IntVector.fromMemorySegment(INT, a, atA, LE);
      IntVector a1 = PARTS == 1 ? IntVector.fromMemorySegment(INT, a, atA + VECTOR_BYTES, LE) : a0;
      IntVector a2 =
          PARTS == 4 ? a0 : IntVector.fromMemorySegment(INT, a, atA + 2 / PARTS * VECTOR_BYTES, LE);
      IntVector a3 =
          PARTS == 1 ? IntVector.fromMemorySegment(INT, a, atA + 3 * VECTOR_BYTES, LE) : a2;
      long atB = bFrom + i * STEP;
      IntVector b0 = IntVector.fromMemorySegment(INT, b, atB, LE);
      IntVector b1 = PARTS == 1 ? IntVector.fromMemorySegment(INT, b, atB + VECTOR_BYTES, LE) : b0;
      IntVector b2 =
          PARTS == 4 ? b0 : IntVector.fromMemorySegment(INT, b, atB + 2 / PARTS * VECTOR_BYTES, LE);
      IntVector b3 =
          PARTS == 1 ? IntVector.fromMemorySegment(INT, b, atB + 3 * VECTOR_BYTES, LE) : b2;
      s0 = scaled(part(a0, 0, mask), scale, zero).fma(part(b0, 0, mask), s0);
      s1 = scaled(part(a1, 1 % PARTS, mask), scale, zero).fma(part(b1, 1 % PARTS, mask), s1);
      s2 = scaled(part(a2, 2 % PARTS, mask), scale, zero).fma(part(b2, 2 % PARTS, mask), s2);
      s3 = scaled(part(a3, 3 % PARTS, mask), scale, zero).fma(part(b3, 3 % PARTS, mask), s3);
    }
    return VectorMath.sum(s0.add(s1).add(s2.add(s3))) * RESULT;
  }

  private static FloatVector scaled(FloatVector x, FloatVector scale, FloatVector zero) {
    return BIASED ? x.fma(scale, zero) : x;
  }

  /** Part {@code j} of words, as {@link DotFormat} draws it; {@code mask} is MASK in all lanes. */
  private static FloatVector part(IntVector words, int j, IntVector mask) {
    if (BITS == 32) {
      return words.reinterpretAsFloats();
    }
    int left = 32 - (j + 1) * BITS;
    IntVector top = left == 0 ? words : words.lanewise(VectorOperators.LSHL, left);
    if (EXPONENT_BITS == 0) {
      return (FloatVector)
          top.lanewise(VectorOperators.ASHR, 32 - BITS).convert(VectorOperators.I2F, 0);
    }
    if (EXPONENT_BITS == 8) {
      return (left == 0 ? top.and(mask) : top).reinterpretAsFloats();
    }
    return top.lanewise(VectorOperators.ASHR, 8 - EXPONENT_BITS).and(mask).reinterpretAsFloats();
  }
}
