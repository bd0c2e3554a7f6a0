package dev.minifloat.cpu.internal.math;

import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Cosines and sines of position · frequency, computed in F64 and rounded to F32. */
public final class Angles {
  private static final VectorSpecies<Double> DOUBLE =
      VectorSpecies.of(double.class, VectorShape.forBitSize(Species.BITS));

  private static final VectorSpecies<Long> LONG =
      VectorSpecies.of(long.class, VectorShape.forBitSize(Species.BITS));

  /** As many F32 as there are lanes of F64. */
  private static final VectorSpecies<Float> FLOAT =
      VectorSpecies.of(float.class, VectorShape.forBitSize(Species.BITS / 2));

  /** Angles of a vector; tables are made of as many of these as are begun. */
  static final int STEP = DOUBLE.length();

  /** The largest angle that the vectors reduce; beyond it the JDK's functions are called. */
  private static final double LARGEST = 0x1p50;

  /** 1.5 · 2^52: adding it rounds to an integer, whose low bits are those of the sum. */
  private static final double ALIGNER = 0x1.8p52;

  private static final double TWO_OVER_PI = 2 / Math.PI;

  /** π/2 in two parts. */
  private static final double HALF_PI = Math.PI / 2;

  private static final double HALF_PI_REST = 0x1.1a62633145c07p-54;

  private Angles() {}

  /** The number of F32 that a table of {@code count} angles takes. */
  public static int padded(int count) {
    return Math.ceilDiv(count, STEP) * STEP;
  }

  /**
   * Writes {@code padded(frequencies.length)} F32 each of cosines and sines.
   *
   * @param frequencies a multiple of {@link #STEP} of them
   */
  public static void fill(
      double position, double[] frequencies, MemorySegment table, long cos, long sin) {
    double largest = 0;
    for (double frequency : frequencies) {
      largest = Math.max(largest, Math.abs(frequency));
    }
    if (Math.abs(position) * largest <= LARGEST) {
      // One place that calls it: the compiler may inline it once, not twice.
      for (int quadrants = 1; quadrants >= 0; quadrants--) {
        sines(position, frequencies, quadrants, table, quadrants == 1 ? cos : sin);
      }
      return;
    }
    for (int i = 0; i < frequencies.length; i++) {
      double angle = position * frequencies[i];
      table.set(PackedElements.FLOAT, cos + 4L * i, (float) Math.cos(angle));
      table.set(PackedElements.FLOAT, sin + 4L * i, (float) Math.sin(angle));
    }
  }

  /**
   * Sines of angles that are moved by some quadrants, one for cosines. With q the integer nearest
   * to angle / (π/2), and r = angle − q · π/2, the last two bits of q, moved, tell the quadrant:
   *
   * <pre>
   *   q mod 4    0       1       2       3
   *   sine       sin r   cos r   −sin r  −cos r
   * </pre>
   *
   * The series of sin r and cos r end with r^11 and r^10, 2^-32 off at most. Cosines and sines
   * together would share much, and be more than the compiler inlines.
   */
  private static void sines(
      double position, double[] frequencies, long quadrants, MemorySegment segment, long at) {
    MemorySegment table = Segments.exact(segment);
    for (int i = 0; i < frequencies.length; i += STEP) {
      DoubleVector angle = DoubleVector.fromArray(DOUBLE, frequencies, i).mul(position);
      DoubleVector aligned = angle.mul(TWO_OVER_PI).add(ALIGNER);
      DoubleVector q = aligned.sub(ALIGNER);
      DoubleVector r = q.fma(constant(-HALF_PI), angle);
      r = q.fma(constant(-HALF_PI_REST), r);
      DoubleVector square = r.mul(r);
      LongVector sine = sine(r, square).reinterpretAsLongs();
      LongVector cosine = cosine(square).reinterpretAsLongs();
      LongVector quadrant = aligned.reinterpretAsLongs().add(quadrants);
      // Two lanes, which 128 bits are, have no masks: all bits of odd quadrants are the cosine's.
      LongVector odd = LongVector.zero(LONG).sub(quadrant.and(1));
      LongVector sign = quadrant.and(2).lanewise(VectorOperators.LSHL, 62);
      DoubleVector result =
          sine.lanewise(VectorOperators.XOR, cosine)
              .and(odd)
              .lanewise(VectorOperators.XOR, sine)
              .lanewise(VectorOperators.XOR, sign)
              .reinterpretAsDoubles();
      ((FloatVector) result.convertShape(VectorOperators.D2F, FLOAT, 0))
          .intoMemorySegment(table, at + 4L * i, LE);
    }
  }

  private static DoubleVector constant(double value) {
    return DoubleVector.broadcast(DOUBLE, value);
  }

  private static DoubleVector sine(DoubleVector r, DoubleVector square) {
    DoubleVector p = constant(-1 / 39916800.0).fma(square, constant(1 / 362880.0));
    p = p.fma(square, constant(-1 / 5040.0));
    p = p.fma(square, constant(1 / 120.0));
    p = p.fma(square, constant(-1 / 6.0));
    return p.mul(square).fma(r, r);
  }

  private static DoubleVector cosine(DoubleVector square) {
    DoubleVector p = constant(-1 / 3628800.0).fma(square, constant(1 / 40320.0));
    p = p.fma(square, constant(-1 / 720.0));
    p = p.fma(square, constant(1 / 24.0));
    p = p.fma(square, constant(-0.5));
    return p.fma(square, constant(1));
  }
}
