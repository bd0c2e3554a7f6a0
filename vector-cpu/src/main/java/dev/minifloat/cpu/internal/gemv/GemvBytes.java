package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_BYTE;

import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * The one text of {@link GemvRow} for E4M3 and E5M2: both are exact in BF16, whose two bytes are
 * looked up by the seven bits of a code's magnitude.
 *
 * <pre>
 *   codes       d        c        b        a        one word, four elements
 *   high bytes  D        C        B        A        looked up, the codes' signs added
 *   low bytes   δ        γ        β        α        looked up
 *   even pair   C γ               A α               BF16 of c and a
 *   odd pair    D δ               B β               BF16 of d and b
 * </pre>
 *
 * <p>A pair's lower BF16, shifted up, and its upper one, the lower masked off, are the floats. The
 * tables have infinities, NaNs, subnormals and both zeros like any other code; no subnormal F32
 * takes part, over which some machines stumble. Half of a table is a vector of 64 bytes, so this is
 * for 512 bits only.
 */
final class GemvBytes implements GemvRow {
  private static final int GROUP;
  private static final byte[] HIGH = new byte[128];
  private static final byte[] LOW = new byte[128];

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    GROUP = format.group();
    for (int code = 0; code < 128; code++) {
      int bits = Float.floatToRawIntBits(Codec.decode(format.dtype(), code));
      HIGH[code] = (byte) (bits >>> 24);
      LOW[code] = (byte) (bits >>> 16);
    }
  }

  private static final int STEP = 4 * LANES;
  private static final int STEP_SCALES = GROUP == 0 ? 0 : STEP / GROUP;
  private static final VectorShuffle<Float> SPREAD =
      VectorShuffle.fromOp(FLOAT, lane -> GROUP == 0 ? lane : lane * 4 / GROUP);

  GemvBytes() {}

  @Override
  public void multiply(
      MemorySegment w,
      long at,
      int steps,
      float[] x,
      int from,
      int pitch,
      float[] scales,
      int scale,
      float[] sums,
      int to,
      int stride) {
    MemorySegment codes = Segments.exact(w);
    ByteVector high0 = ByteVector.fromArray(WIDE_BYTE, HIGH, 0);
    ByteVector high1 = ByteVector.fromArray(WIDE_BYTE, HIGH, HIGH.length / 2);
    ByteVector low0 = ByteVector.fromArray(WIDE_BYTE, LOW, 0);
    ByteVector low1 = ByteVector.fromArray(WIDE_BYTE, LOW, LOW.length / 2);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector sum = FloatVector.fromArray(FLOAT, sums, to);
    for (int i = 0; i < steps; i++) {
      ByteVector code = ByteVector.fromMemorySegment(WIDE_BYTE, codes, at + (long) i * STEP, LE);
      int q = from + i * STEP;
      IntVector high =
          code.selectFrom(high0, high1)
              .reinterpretAsInts()
              .or(code.reinterpretAsInts().and(0x80808080));
      IntVector low = code.selectFrom(low0, low1).reinterpretAsInts();
      IntVector even =
          high.lanewise(VectorOperators.LSHL, 8).and(0xFF00FF00).or(low.and(0x00FF00FF));
      IntVector odd =
          high.and(0xFF00FF00).or(low.lanewise(VectorOperators.LSHR, 8).and(0x00FF00FF));
      FloatVector step = zero;
      step = plus(step, even.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), x, q);
      step = plus(step, even.and(0xFFFF0000).reinterpretAsFloats(), x, q + LANES);
      step =
          plus(
              step, odd.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), x, q + 2 * LANES);
      step = plus(step, odd.and(0xFFFF0000).reinterpretAsFloats(), x, q + 3 * LANES);
      FloatVector factor =
          GROUP == 0
              ? zero
              : FloatVector.fromArray(FLOAT, scales, scale + i * STEP_SCALES).rearrange(SPREAD);
      sum = GROUP == 0 ? sum.add(step) : step.fma(factor, sum);
    }
    sum.intoArray(sums, to);
  }

  private static FloatVector plus(FloatVector sum, FloatVector e, float[] x, int at) {
    return e.fma(FloatVector.fromArray(FLOAT, x, at), sum);
  }
}
