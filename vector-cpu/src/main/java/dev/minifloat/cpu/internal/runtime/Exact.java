package dev.minifloat.cpu.internal.runtime;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;

/**
 * The classes of the vectors that kernels use, to tell the compiler by a cast which one a vector
 * has: {@code FLOATS.cast(v).add(w)}.
 *
 * <p>Methods of vectors are virtual, in the Vector API's own code too. C2 knows the class of what
 * an operation has just made, or of a constant, but not of a variable that a loop carries or that
 * has been assigned on two ways, nor of what a conversion to another shape returns. In a process in
 * which all vectors have one width it assumes that one class. Where vectors of other widths are
 * used as well, by another library for instance, it calls the method, and the vector goes to the
 * heap. A cast to a constant class is one of its intrinsics, also where it inlines no more of our
 * methods, and is gone from the machine code once it knows the class.
 */
public final class Exact {
  /** Of {@link Species#FLOAT}. */
  public static final Class<? extends FloatVector> FLOATS =
      FloatVector.zero(Species.FLOAT).getClass();

  /** Of {@link Species#INT}. */
  public static final Class<? extends IntVector> INTS = IntVector.zero(Species.INT).getClass();

  /** Of {@link Species#WIDE_SHORT}. */
  public static final Class<? extends ShortVector> SHORTS =
      ShortVector.zero(Species.WIDE_SHORT).getClass();

  /** Of {@link Species#HALF_BYTE}. */
  public static final Class<? extends ByteVector> HALF_BYTES =
      ByteVector.zero(Species.HALF_BYTE).getClass();

  /** Of {@link Species#BYTE}. */
  public static final Class<? extends ByteVector> NARROW_BYTES =
      ByteVector.zero(Species.BYTE).getClass();

  /** Of {@link Species#SHORT}. */
  public static final Class<? extends ShortVector> NARROW_SHORTS =
      ShortVector.zero(Species.SHORT).getClass();

  /** Of {@link Species#LONG}. */
  public static final Class<? extends LongVector> LONGS = LongVector.zero(Species.LONG).getClass();

  private Exact() {}
}
