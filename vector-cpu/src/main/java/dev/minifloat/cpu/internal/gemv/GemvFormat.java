package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/**
 * What a copy of a {@link GemvRows} class is made for.
 *
 * <p>A kernel loads vectors of 32-bit words and takes words apart, so that a vector of floats holds
 * element p of each word. The activations it multiplies with are brought into the same order once a
 * call ({@link #arrange}); a word's elements follow each other with the bits of their numbers
 * reversed, which is what taking even and odd elements apart again and again gives:
 *
 * <pre>
 *   words   [0 1 2 3] [4 5 6 7] …                       elements of 8 bits
 *   floats  0 4 8 …  | 2 6 10 …  | 1 5 9 …  | 3 7 11 …
 * </pre>
 *
 * @param dtype format of the elements
 * @param group elements of a row that share a scale which the kernel applies; 0 if it applies none
 * @param vectors vectors that it multiplies a row with: 1 or 2
 * @param rows rows that it takes together: 1, or {@link GemvRows#ROWS}, then with one vector
 */
record GemvFormat(DType dtype, int group, int vectors, int rows) {
  private static final IntVector EVEN = IntVector.zero(INT).addIndex(2);
  private static final IntVector ODD = EVEN.add(1);

  private static final int GROUPS = 3;
  private static final int COUNTS = 3;

  /**
   * The kernels made so far. A class each, and most programs use few of them, so each is made when
   * first asked for; it makes no difference who makes it.
   */
  private static final Map<DType, AtomicReferenceArray<GemvRows>> KERNELS =
      new EnumMap<>(DType.class);

  private static final Map<DType, AtomicReferenceArray<GemvRows>> QUADS =
      new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      KERNELS.put(dtype, new AtomicReferenceArray<>(GROUPS * COUNTS));
      QUADS.put(dtype, new AtomicReferenceArray<>(GROUPS));
    }
  }

  /**
   * Whether there is a kernel for rows of a type with scales for each {@code group} elements.
   *
   * <p>Formats that take many operations to take apart have one for a single vector only: for more,
   * the loop is too big for the compiler, and decoding a row once for all of them is as good.
   */
  static boolean exists(DType dtype, int group, int vectors) {
    return switch (dtype) {
      case F32, BF16, I8 -> group == 0 && vectors <= 2;
      case F16 -> group == 0 && vectors == 1;
      // The look-up of sixteen values takes one vector, or two.
      case F4_E2M1, I4 -> vectors == 1 && LANES >= 8 && (group == 0 || group == 16 || group == 32);
      // A step holds at least one group.
      case F8_E4M3, F8_E5M2 -> vectors == 1 && (group == 0 || (LANES >= 8 && group == 32));
      case F6_E2M3, F6_E3M2, F8_E8M0, I32 -> false;
    };
  }

  /** The kernel of a format that {@link #exists}. */
  static GemvRows kernel(DType dtype, int group, int vectors) {
    AtomicReferenceArray<GemvRows> kernels = KERNELS.get(dtype);
    int index = group / 16 * COUNTS + vectors / 2;
    GemvRows kernel = kernels.get(index);
    if (kernel == null) {
      kernel = make(new GemvFormat(dtype, group, vectors, 1));
      kernels.set(index, kernel);
    }
    return kernel;
  }

  private static GemvRows make(GemvFormat format) {
    return ClassCopies.instantiate(
        MethodHandles.lookup(), GemvRows.class, format.template(), format);
  }

  /**
   * The kernel of four rows and one vector at once; null if a format has none. For 8-bit floats
   * with scales for groups four rows are more than the compiler takes in one loop: some programs
   * would find their vectors on the heap.
   */
  static GemvRows quads(DType dtype, int group) {
    boolean byteFloat = dtype == DType.F8_E4M3 || dtype == DType.F8_E5M2;
    if (dtype == DType.I8 || (byteFloat && group != 0)) {
      return null;
    }
    AtomicReferenceArray<GemvRows> kernels = QUADS.get(dtype);
    int index = group / 16;
    GemvRows kernel = kernels.get(index);
    if (kernel == null) {
      kernel = make(new GemvFormat(dtype, group, 1, GemvRows.ROWS));
      kernels.set(index, kernel);
    }
    return kernel;
  }

  private Class<? extends GemvRows> template() {
    return switch (dtype) {
      case F32, BF16 -> rows == 1 ? GemvWords.class : GemvQuads.class;
      case I8 -> GemvWords.class;
      case F16 -> GemvHalves.class;
      case F8_E4M3, F8_E5M2 -> GemvBytes.class;
      case F4_E2M1, I4 -> GemvNibbles.class;
      case F6_E2M3, F6_E3M2, F8_E8M0, I32 ->
          throw new IllegalArgumentException("dtype: there is no kernel for " + dtype);
    };
  }

  /** Bytes before the first row that the kernel of four rows reads. */
  static int bytesBefore(DType dtype) {
    return switch (dtype) {
      case F8_E4M3, F8_E5M2 -> Integer.BYTES - 1;
      case F32, F16, BF16, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 -> 0;
    };
  }

  /**
   * The power of two that activations are multiplied by where elements are so much too large that
   * sums would overflow. None that {@link GemvScales#areSafe} becomes subnormal.
   */
  static int activationExponent(DType dtype) {
    return dtype == DType.F16 ? -24 : 0;
  }

  /** The power of two that a kernel's sums are too large by. */
  static int exponent(DType dtype) {
    return switch (dtype) {
      case F8_E4M3 -> 8;
      case F8_E5M2 -> 16;
      case F16 -> 112 + activationExponent(dtype);
      case F32, BF16, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 -> 0;
    };
  }

  /** Elements in a word. */
  static int parts(DType dtype) {
    return 32 / dtype.bits();
  }

  /** Elements of a row that a kernel takes in a step. */
  static int step(DType dtype) {
    return LANES * Math.max(4, parts(dtype));
  }

  /** Elements of a row that a kernel takes in a step. */
  int step() {
    return step(dtype);
  }

  /**
   * Brings activations into the order in which a kernel meets them.
   *
   * @param x the activations
   * @param from the first of them
   * @param count how many; a multiple of {@link #step}
   * @param spare two arrays of {@code count} floats
   * @param target where they are brought
   * @param to the byte where the first of them goes
   */
  static void arrange(
      DType dtype, float[] x, int from, int count, float[][] spare, MemorySegment target, long to) {
    float[] last = x;
    int lastFrom = from;
    int which = 0;
    for (int vectors = parts(dtype); vectors > 1; vectors /= 2) {
      separate(last, lastFrom, count, vectors, spare[which], 0);
      last = spare[which];
      lastFrom = 0;
      which ^= 1;
    }
    MemorySegment.copy(last, lastFrom, target, ValueLayout.JAVA_FLOAT, to, count);
  }

  /** In each block of some vectors: even elements to its first half, odd ones to its second. */
  private static void separate(
      float[] x, int from, int count, int vectors, float[] target, int to) {
    int half = vectors / 2;
    for (int pair = 0; pair < count / (2 * LANES); pair++) {
      IntVector a = FloatVector.fromArray(FLOAT, x, from + 2 * LANES * pair).reinterpretAsInts();
      IntVector b =
          FloatVector.fromArray(FLOAT, x, from + 2 * LANES * pair + LANES).reinterpretAsInts();
      int even = to + (pair + (pair & -half)) * LANES;
      EVEN.selectFrom(a, b).reinterpretAsFloats().intoArray(target, even);
      ODD.selectFrom(a, b).reinterpretAsFloats().intoArray(target, even + half * LANES);
    }
  }
}
