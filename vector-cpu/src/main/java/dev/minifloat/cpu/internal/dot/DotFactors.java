package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.Scaling;
import dev.minifloat.cpu.internal.convert.Tables;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * For each block of two operands a quarter of the product of their scales, as {@link DotNibbles}
 * takes it; where the products of a block can't be had of that, the caller is told.
 */
final class DotFactors {
  /** The exponent field of a quarter of 2^(a − 127) · 2^(b − 127) is a + b less this. */
  private static final int MX_BIAS = 129;

  /** The largest field whose product with a block's sum, below 2^16, is finite. */
  private static final int MX_MOST = 238;

  private static final int MX_NAN = 0xFF;

  /** Bytes of a block's codes. */
  private static final int MX_BYTES = Scaling.Mx.BLOCK / 2;

  /** 16 codes of E2M1 without their signs. */
  private static final long MAGNITUDES = 0x7777777777777777L;

  private static final int E4M3_NAN = 0x7F;

  /** Exponent fields that E4M3's are moved by: for the value, and for a quarter of it. */
  private static final int MOVED = 120 << 23;

  private static final int MOVED_QUARTER = 118 << 23;

  private static final int ONE = 1 << 23;

  /** Codes of E4M3 below this are subnormal. */
  private static final int NORMAL = 8;

  /** What a subnormal code gives too much if its exponent field is taken for 1. */
  private static final float TOO_MUCH = 0x1p-6f;

  private static final float TOO_MUCH_QUARTER = 0x1p-8f;

  private DotFactors() {}

  /**
   * Factors of {@code blocks} blocks of MX; false if one is NaN or beyond what F32 holds.
   *
   * @param at index of the first element of {@code a}
   * @param bt likewise of {@code b}
   * @param factors gets a float for each block
   */
  static boolean mx(HostStorage a, long at, HostStorage b, long bt, int blocks, float[] factors) {
    long aBlock = at / Scaling.Mx.BLOCK;
    long bBlock = bt / Scaling.Mx.BLOCK;
    int vectors = blocks / LANES;
    int done =
        mxVectors(a.scales(), aBlock, b.scales(), bBlock, vectors, factors) ? vectors * LANES : 0;
    for (int i = done; i < blocks; i++) {
      int left = a.scales().get(ValueLayout.JAVA_BYTE, aBlock + i) & 0xFF;
      int right = b.scales().get(ValueLayout.JAVA_BYTE, bBlock + i) & 0xFF;
      int exponent = left + right - MX_BIAS;
      if (left == MX_NAN || right == MX_NAN || exponent > MX_MOST) {
        return false;
      }
      if (exponent < 1) {
        // Such a block counts for nothing only if there is nothing in it.
        if (!isZero(a.data(), (aBlock + i) * MX_BYTES)
            && !isZero(b.data(), (bBlock + i) * MX_BYTES)) {
          return false;
        }
        exponent = 0;
      }
      factors[i] = Float.intBitsToFloat(exponent << 23);
    }
    return true;
  }

  private static boolean isZero(MemorySegment codes, long at) {
    long first = codes.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    long second = codes.get(ValueLayout.JAVA_LONG_UNALIGNED, at + Long.BYTES);
    return ((first | second) & MAGNITUDES) == 0;
  }

  /** False if a factor is out of range. */
  private static boolean mxVectors(
      MemorySegment a, long at, MemorySegment b, long bt, int vectors, float[] factors) {
    MemorySegment left = Segments.exact(a);
    MemorySegment right = Segments.exact(b);
    IntVector bad = IntVector.zero(INT);
    for (int i = 0; i < vectors; i++) {
      IntVector x =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, left, at + (long) i * LANES, LE)
                  .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0));
      IntVector y =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, right, bt + (long) i * LANES, LE)
                  .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0));
      IntVector exponent = x.add(y).sub(MX_BIAS);
      // Negative: NaN left or right, too large, or below the normal numbers.
      bad =
          INTS.cast(bad)
              .or(x.neg().add(MX_NAN - 1))
              .or(y.neg().add(MX_NAN - 1))
              .or(exponent.neg().add(MX_MOST))
              .or(exponent.sub(1));
      exponent
          .lanewise(VectorOperators.LSHL, 23)
          .reinterpretAsFloats()
          .intoArray(factors, i * LANES);
    }
    return !INTS.cast(bad).compare(VectorOperators.LT, 0).anyTrue();
  }

  /** Factors of blocks of NVFP4 without the tensors' own; false if one is NaN. */
  static boolean nvfp4(
      HostStorage a, long at, HostStorage b, long bt, int blocks, float[] factors) {
    long aBlock = at / Scaling.NvFp4.BLOCK;
    long bBlock = bt / Scaling.NvFp4.BLOCK;
    int vectors = blocks / LANES;
    boolean good = nvfp4Vectors(a.scales(), aBlock, b.scales(), bBlock, vectors, factors);
    for (int i = vectors * LANES; i < blocks; i++) {
      float left = Tables.e4m3(a.scales().get(ValueLayout.JAVA_BYTE, aBlock + i));
      float right = Tables.e4m3(b.scales().get(ValueLayout.JAVA_BYTE, bBlock + i));
      factors[i] = left * right * 0.25f;
      good &= !Float.isNaN(factors[i]);
    }
    return good;
  }

  /**
   * E4M3 to F32, subnormals without F32's:
   *
   * <pre>
   *   code            s eeee mmm
   *   moved           0 0000eeee mmm 0…0 + bias     right but for eeee = 0
   *   eeee = 0        2^-6 · (1 + mmm / 8) - 2^-6
   * </pre>
   */
  private static boolean nvfp4Vectors(
      MemorySegment a, long at, MemorySegment b, long bt, int vectors, float[] factors) {
    MemorySegment left = Segments.exact(a);
    MemorySegment right = Segments.exact(b);
    IntVector nan = IntVector.zero(INT);
    for (int i = 0; i < vectors; i++) {
      IntVector x =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, left, at + (long) i * LANES, LE)
                  .convertShape(VectorOperators.B2I, INT, 0));
      IntVector y =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, right, bt + (long) i * LANES, LE)
                  .convertShape(VectorOperators.B2I, INT, 0));
      IntVector signs = x.lanewise(VectorOperators.XOR, y).and(Integer.MIN_VALUE);
      x = x.and(E4M3_NAN);
      y = y.and(E4M3_NAN);
      nan = INTS.cast(nan).max(x).max(y);
      VectorMask<Integer> small = x.compare(VectorOperators.LT, NORMAL);
      FloatVector u =
          x.lanewise(VectorOperators.LSHL, 20).add(MOVED).add(ONE, small).reinterpretAsFloats();
      u = u.sub(TOO_MUCH, small.cast(FLOAT));
      small = y.compare(VectorOperators.LT, NORMAL);
      FloatVector v =
          y.lanewise(VectorOperators.LSHL, 20)
              .add(MOVED_QUARTER)
              .add(ONE, small)
              .reinterpretAsFloats();
      v = v.sub(TOO_MUCH_QUARTER, small.cast(FLOAT));
      u.mul(v)
          .reinterpretAsInts()
          .lanewise(VectorOperators.XOR, signs)
          .reinterpretAsFloats()
          .intoArray(factors, i * LANES);
    }
    return !INTS.cast(nan).compare(VectorOperators.EQ, E4M3_NAN).anyTrue();
  }
}
