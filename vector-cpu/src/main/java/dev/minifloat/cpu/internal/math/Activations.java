package dev.minifloat.cpu.internal.math;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.Activation;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/**
 * Activations of runs of F32, with the bounds of {@link VectorMath} and the canonical NaN.
 *
 * <p>A loop for each, which holds its own body: one loop that took the function as an argument
 * would have a profile of them all, inline none, and box every vector.
 */
public final class Activations {
  private Activations() {}

  /** In place. */
  public static void apply(Activation activation, MemorySegment x, long at, int count) {
    if (activation != Activation.NONE) {
      apply(activation, x, at, count, x, at);
    }
  }

  /** From {@code src} to {@code dst}, which are the same run or don't overlap. */
  public static void apply(
      Activation activation, MemorySegment src, long from, int count, MemorySegment dst, long to) {
    if (count < LANES) {
      rest(activation, src, from, 0, count, dst, to);
      return;
    }
    int done = vectors(activation, src, from, count, dst, to);
    if (done == count) {
      return;
    }
    if (src.equals(dst) && from == to) {
      rest(activation, src, from, done, count, dst, to);
    } else {
      // One vector more, which ends where the run does, and gives some lanes the same once more.
      long back = 4L * (count - LANES);
      vectors(activation, src, from + back, LANES, dst, to + back);
    }
  }

  /** As many elements, at least one vector of them, as fill vectors; returns their number. */
  private static int vectors(
      Activation activation, MemorySegment src, long from, int count, MemorySegment dst, long to) {
    return switch (activation) {
      case NONE -> none(src, from, count, dst, to);
      case RELU -> relu(src, from, count, dst, to);
      case GELU_ERF -> geluErf(src, from, count, dst, to);
      case GELU_TANH -> geluTanh(src, from, count, dst, to);
      case SILU -> silu(src, from, count, dst, to);
    };
  }

  /**
   * Elements {@code done … count − 1}, with the very operations of the lanes, so that an element's
   * bits don't depend on its place.
   */
  private static void rest(
      Activation activation,
      MemorySegment src,
      long from,
      int done,
      int count,
      MemorySegment dst,
      long to) {
    for (int i = done; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      float y =
          switch (activation) {
            case NONE -> x;
            case RELU -> x <= 0 ? 0 : x;
            case GELU_ERF -> geluErf(x);
            case GELU_TANH -> geluTanh(x);
            case SILU -> silu(x);
          };
      dst.set(PackedElements.FLOAT, to + 4L * i, Nans.canonical(y));
    }
  }

  // Methods of their own, in which the compiler sees the functions called always, and inlines them.

  private static float geluErf(float x) {
    return VectorMath.geluErf(FloatVector.broadcast(FLOAT, x)).lane(0);
  }

  private static float geluTanh(float x) {
    return VectorMath.geluTanh(FloatVector.broadcast(FLOAT, x)).lane(0);
  }

  private static float silu(float x) {
    return VectorMath.silu(FloatVector.broadcast(FLOAT, x)).lane(0);
  }

  private static FloatVector load(MemorySegment src, long at) {
    return FloatVector.fromMemorySegment(FLOAT, src, at, LE);
  }

  private static int none(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = load(src, from + 4L * i);
      VectorMath.canonical(x).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int relu(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = load(src, from + 4L * i);
      VectorMath.canonical(VectorMath.relu(x)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int geluErf(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = load(src, from + 4L * i);
      VectorMath.canonical(VectorMath.geluErf(x)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int geluTanh(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = load(src, from + 4L * i);
      VectorMath.canonical(VectorMath.geluTanh(x)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int silu(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = load(src, from + 4L * i);
      VectorMath.canonical(VectorMath.silu(x)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }
}
