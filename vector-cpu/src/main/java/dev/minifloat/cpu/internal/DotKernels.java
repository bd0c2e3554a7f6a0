package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Dot products of any two formats and scalings.
 *
 * <p>Unscaled operands of formats that have the same width, one of 8, 16 and 32 bits, are
 * multiplied straight from memory ({@link DotFused}). Of all others chunks are decoded to the
 * first-level cache, then multiplied.
 */
final class DotKernels {
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = Species.LANES;

  /** Bytes of a vector. */
  private static final long V = (long) LANES * Float.BYTES;

  /** Elements decoded at a time. */
  private static final int CHUNK = 2048;

  private static final long SECOND = (long) CHUNK * Float.BYTES;

  /** Elements of a step of {@link DotFused}. */
  private static final int STEP = 4 * LANES;

  /** Steps of one call of it, which may read its operands twice. */
  private static final long MOST_STEPS = 256;

  private static final Map<DType, Fused> FUSED = new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      DotFormat.of(dtype)
          .ifPresent(
              format ->
                  FUSED.put(
                      dtype,
                      new Fused(
                          format,
                          ClassCopies.instantiate(DotFused.class, DotTemplate.class, format))));
    }
  }

  private record Fused(DotFormat format, DotFused kernel) {}

  private DotKernels() {}

  /** The dot product of two vectors. */
  static float dot(TensorView a, TensorView b, PackingBuffers buffers) {
    Fused fused = a.dtype() == b.dtype() ? FUSED.get(a.dtype()) : null;
    if (fused != null && isPlain(a) && isPlain(b)) {
      float sum = fused(fused, a, b);
      if (!Float.isNaN(sum)) {
        return sum;
      }
      // A real NaN, or an infinity or NaN that the kernel can't see: the other way tells.
    }
    try (Memory.Block scratch = buffers.takeRows()) {
      return dot(GemmOperand.rowOf(a), GemmOperand.rowOf(b), scratch.segment());
    }
  }

  private static boolean isPlain(TensorView x) {
    return x.isUnscaled() && (x.stride(0) == 1 || x.shape().elements() <= 1);
  }

  private static float fused(Fused fused, TensorView a, TensorView b) {
    MemorySegment left = ((HostStorage) a.storage()).data();
    MemorySegment right = ((HostStorage) b.storage()).data();
    int bytes = a.dtype().bits() / Byte.SIZE;
    long n = a.shape().elements();
    long steps = n / STEP;
    float sum = 0;
    for (long step = 0; step < steps; step += MOST_STEPS) {
      int count = (int) Math.min(MOST_STEPS, steps - step);
      long done = step * STEP * bytes;
      long length = (long) count * STEP * bytes;
      long atA = a.offset() * bytes + done;
      long atB = b.offset() * bytes + done;
      if (fused.format.anySpecial(left, atA, length)
          || fused.format.anySpecial(right, atB, length)) {
        return Float.NaN;
      }
      sum += fused.kernel.dot(left, atA, right, atB, count);
    }
    for (long i = steps * STEP; i < n; i++) {
      sum =
          Math.fma(
              Tables.decode(a.dtype(), left, a.offset() + i),
              Tables.decode(b.dtype(), right, b.offset() + i),
              sum);
    }
    return sum;
  }

  /** The dot product of two operands of one row. */
  private static float dot(GemmOperand a, GemmOperand b, MemorySegment scratch) {
    float sum = 0;
    long n = a.columns();
    for (long k = 0; k < n; k += CHUNK) {
      int count = (int) Math.min(CHUNK, n - k);
      a.decodeRow(0, 0, k, count, scratch, 0);
      b.decodeRow(0, 0, k, count, scratch, SECOND);
      sum += multiply(scratch, count);
    }
    return sum;
  }

  // Loads are written out: a method around them may be compiled by itself first, become too big
  // to be inlined, and then put every vector on the heap.
  private static float multiply(MemorySegment scratch, int count) {
    FloatVector a = FloatVector.zero(F32);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    int k = 0;
    for (; k <= count - 4 * LANES; k += 4 * LANES) {
      long p = (long) k * Float.BYTES;
      long q = p + SECOND;
      a =
          FloatVector.fromMemorySegment(F32, scratch, p, Species.LE)
              .fma(FloatVector.fromMemorySegment(F32, scratch, q, Species.LE), a);
      b =
          FloatVector.fromMemorySegment(F32, scratch, p + V, Species.LE)
              .fma(FloatVector.fromMemorySegment(F32, scratch, q + V, Species.LE), b);
      c =
          FloatVector.fromMemorySegment(F32, scratch, p + 2 * V, Species.LE)
              .fma(FloatVector.fromMemorySegment(F32, scratch, q + 2 * V, Species.LE), c);
      d =
          FloatVector.fromMemorySegment(F32, scratch, p + 3 * V, Species.LE)
              .fma(FloatVector.fromMemorySegment(F32, scratch, q + 3 * V, Species.LE), d);
    }
    for (; k <= count - LANES; k += LANES) {
      long p = (long) k * Float.BYTES;
      long q = p + SECOND;
      a =
          FloatVector.fromMemorySegment(F32, scratch, p, Species.LE)
              .fma(FloatVector.fromMemorySegment(F32, scratch, q, Species.LE), a);
    }
    float sum = VectorMath.sum(a.add(b).add(c.add(d)));
    for (; k < count; k++) {
      float left = scratch.getAtIndex(Packing.FLOAT, k);
      float right = scratch.getAtIndex(Packing.FLOAT, CHUNK + k);
      sum = Math.fma(left, right, sum);
    }
    return sum;
  }
}
