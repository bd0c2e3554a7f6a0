package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.BITS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_BYTE;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.convert.Tables;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * E4M3 and E5M2, each with each, on machines whose vectors have 64 bytes and which permute bytes in
 * one instruction ({@link dev.minifloat.cpu.internal.runtime.Cpu#permutesBytes}). {@link
 * DotKernels} makes a copy for each pair.
 *
 * <p>Every value of an 8-bit float is one of BF16, whose two bytes are looked up by the code
 * without its sign; so infinities, NaNs, subnormals and −0 come out of the tables like all others,
 * and no F32 subnormal, whose products stall some machines, takes part:
 *
 * <pre>
 *   codes of a word   c3       c2       c1       c0
 *   high              h3       h2       h1       h0      table, and the code's sign
 *   low               l3       l2       l1       l0      table
 *   even              h2 l2             h0 l0            high &lt;&lt; 8 over low
 *   odd               h3 l3             h1 l1            high over low &gt;&gt; 8
 * </pre>
 *
 * <p>The halves of even and odd words are multiplied as those of {@link DotBf16}.
 */
final class DotBytes implements DotFused {
  /** The formats of the two operands. */
  record Pair(DType a, DType b) {}

  private static final int V = BITS / Byte.SIZE;
  private static final int SIGNS = 0x80808080;
  private static final int HIGH_BYTES = 0xFF00FF00;
  private static final int ODD = 0xFFFF0000;

  private static final Pair PAIR = ClassCopies.data(MethodHandles.lookup(), Pair.class);
  private static final byte[] A_HIGH = table(PAIR.a(), Byte.SIZE);
  private static final byte[] A_LOW = table(PAIR.a(), 0);
  private static final byte[] B_HIGH = table(PAIR.b(), Byte.SIZE);
  private static final byte[] B_LOW = table(PAIR.b(), 0);

  private static final float[] A_VALUES = Tables.narrow(PAIR.a());
  private static final float[] B_VALUES = Tables.narrow(PAIR.b());

  private static byte[] table(DType dtype, int shift) {
    byte[] bytes = new byte[128];
    for (int code = 0; code < bytes.length; code++) {
      bytes[code] = (byte) (Float.floatToRawIntBits(Codec.decode(dtype, code)) >>> 16 >>> shift);
    }
    return bytes;
  }

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int whole = n & -V;
    float sum = whole == 0 ? 0 : vectors(a, aFrom, b, bFrom, whole, pool);
    for (int i = whole; i < n; i++) {
      float x = A_VALUES[a.get(ValueLayout.JAVA_BYTE, aFrom + i) & 0xFF];
      float y = B_VALUES[b.get(ValueLayout.JAVA_BYTE, bFrom + i) & 0xFF];
      sum = Math.fma(x, y, sum);
    }
    return sum;
  }

  private static float vectors(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    DotScratch scratch = pool.take();
    products(a, aFrom, b, bFrom, n, scratch.sums());
    // Behind so long a body not even these steps are inlined; so the sums pass through memory.
    FloatVector s = FloatVector.fromArray(FLOAT, scratch.sums(), 0);
    s = s.add(s.rearrange(DotLanes.EIGHT_AWAY));
    s = s.add(s.rearrange(DotLanes.FOUR_AWAY));
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    float sum = s.add(s.rearrange(DotLanes.ONE_AWAY)).lane(0);
    pool.give(scratch);
    return sum;
  }

  private static void products(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, float[] sums) {
    ByteVector aHigh0 = ByteVector.fromArray(WIDE_BYTE, A_HIGH, 0);
    ByteVector aHigh1 = ByteVector.fromArray(WIDE_BYTE, A_HIGH, V);
    ByteVector aLow0 = ByteVector.fromArray(WIDE_BYTE, A_LOW, 0);
    ByteVector aLow1 = ByteVector.fromArray(WIDE_BYTE, A_LOW, V);
    ByteVector bHigh0 = ByteVector.fromArray(WIDE_BYTE, B_HIGH, 0);
    ByteVector bHigh1 = ByteVector.fromArray(WIDE_BYTE, B_HIGH, V);
    ByteVector bLow0 = ByteVector.fromArray(WIDE_BYTE, B_LOW, 0);
    ByteVector bLow1 = ByteVector.fromArray(WIDE_BYTE, B_LOW, V);
    IntVector signs = IntVector.broadcast(INT, SIGNS);
    IntVector high = IntVector.broadcast(INT, HIGH_BYTES);
    IntVector odd = IntVector.broadcast(INT, ODD);
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int i = 0; i < n; i += V) {
      ByteVector x = ByteVector.fromMemorySegment(WIDE_BYTE, a, aFrom + i, LE);
      ByteVector y = ByteVector.fromMemorySegment(WIDE_BYTE, b, bFrom + i, LE);
      IntVector xHigh =
          x.selectFrom(aHigh0, aHigh1).reinterpretAsInts().or(x.reinterpretAsInts().and(signs));
      IntVector yHigh =
          y.selectFrom(bHigh0, bHigh1).reinterpretAsInts().or(y.reinterpretAsInts().and(signs));
      IntVector xLow = x.selectFrom(aLow0, aLow1).reinterpretAsInts();
      IntVector yLow = y.selectFrom(bLow0, bLow1).reinterpretAsInts();
      // u over v: (u ^ v) & mask ^ v, one instruction.
      IntVector xEven =
          xHigh
              .lanewise(VectorOperators.LSHL, 8)
              .lanewise(VectorOperators.XOR, xLow)
              .and(high)
              .lanewise(VectorOperators.XOR, xLow);
      IntVector yEven =
          yHigh
              .lanewise(VectorOperators.LSHL, 8)
              .lanewise(VectorOperators.XOR, yLow)
              .and(high)
              .lanewise(VectorOperators.XOR, yLow);
      s0 =
          xEven
              .lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(yEven.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s0);
      s1 = xEven.and(odd).reinterpretAsFloats().fma(yEven.and(odd).reinterpretAsFloats(), s1);
      IntVector xDown = xLow.lanewise(VectorOperators.LSHR, 8);
      IntVector yDown = yLow.lanewise(VectorOperators.LSHR, 8);
      IntVector xOdd =
          xHigh.lanewise(VectorOperators.XOR, xDown).and(high).lanewise(VectorOperators.XOR, xDown);
      IntVector yOdd =
          yHigh.lanewise(VectorOperators.XOR, yDown).and(high).lanewise(VectorOperators.XOR, yDown);
      s2 =
          xOdd.lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(yOdd.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s2);
      s3 = xOdd.and(odd).reinterpretAsFloats().fma(yOdd.and(odd).reinterpretAsFloats(), s3);
    }
    FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3)).intoArray(sums, 0);
  }
}
