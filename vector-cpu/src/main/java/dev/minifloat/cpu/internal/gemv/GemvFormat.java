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
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/**
 * What a copy of a {@link GemvRow} class is made for.
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
 */
record GemvFormat(DType dtype, int group, int vectors) {
  private static final IntVector EVEN = IntVector.zero(INT).addIndex(2);
  private static final IntVector ODD = EVEN.add(1);

  private static final int GROUPS = 3;
  private static final int COUNTS = 3;

  /**
   * The kernels made so far. A class each, and most programs use few of them, so each is made when
   * first asked for; it makes no difference who makes it.
   */
  private static final Map<DType, AtomicReferenceArray<GemvRow>> KERNELS =
      new EnumMap<>(DType.class);

  private static final Map<DType, AtomicReference<GemvRows>> QUADS = new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      KERNELS.put(dtype, new AtomicReferenceArray<>(GROUPS * COUNTS));
      QUADS.put(dtype, new AtomicReference<>());
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
      case F32, BF16, F16, I8 -> group == 0 && vectors <= 2;
      // The look-up of sixteen values takes one vector, or two.
      case F4_E2M1, I4 -> vectors == 1 && LANES >= 8 && (group == 0 || group == 16 || group == 32);
      // A step holds at least one group.
      case F8_E4M3, F8_E5M2 -> vectors == 1 && (group == 0 || (LANES >= 8 && group == 32));
      case F6_E2M3, F6_E3M2, F8_E8M0, I32 -> false;
    };
  }

  /** The kernel of a format that {@link #exists}. */
  static GemvRow kernel(DType dtype, int group, int vectors) {
    AtomicReferenceArray<GemvRow> kernels = KERNELS.get(dtype);
    int index = group / 16 * COUNTS + vectors / 2;
    GemvRow kernel = kernels.get(index);
    if (kernel == null) {
      GemvFormat format = new GemvFormat(dtype, group, vectors);
      kernel =
          dtype == DType.F16
              ? new GemvHalves(vectors)
              : ClassCopies.instantiate(
                  MethodHandles.lookup(), GemvRow.class, format.template(), format);
      kernels.set(index, kernel);
    }
    return kernel;
  }

  /** The kernel of four unscaled rows and one vector at once; null if a format has none. */
  static GemvRows quads(DType dtype) {
    if (dtype != DType.F32 && dtype != DType.BF16) {
      return null;
    }
    AtomicReference<GemvRows> made = QUADS.get(dtype);
    GemvRows kernel = made.get();
    if (kernel == null) {
      GemvFormat format = new GemvFormat(dtype, 0, 1);
      kernel =
          ClassCopies.instantiate(MethodHandles.lookup(), GemvRows.class, GemvQuads.class, format);
      made.set(kernel);
    }
    return kernel;
  }

  private Class<? extends GemvRow> template() {
    return switch (dtype) {
      case F32, BF16, I8 -> GemvWords.class;
      case F8_E4M3, F8_E5M2 -> GemvBytes.class;
      case F4_E2M1, I4 -> GemvNibbles.class;
      case F16, F6_E2M3, F6_E3M2, F8_E8M0, I32 ->
          throw new IllegalArgumentException("dtype: there is no kernel for " + dtype);
    };
  }

  /** The power of two that a kernel's elements, and so its sums, are too large by. */
  static int exponent(DType dtype) {
    return switch (dtype) {
      case F8_E4M3 -> 8;
      case F8_E5M2 -> 16;
      case F32, F16, BF16, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 -> 0;
    };
  }

  /** Elements in a word; 1 where a kernel meets them one by one. */
  static int parts(DType dtype) {
    return dtype == DType.F16 ? 1 : 32 / dtype.bits();
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
