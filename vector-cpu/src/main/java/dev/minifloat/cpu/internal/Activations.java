package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.Activation;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** Activations of runs of F32, with the bounds of {@link VectorMath}. */
final class Activations {
  private Activations() {}

  /** In place. */
  static void apply(Activation activation, MemorySegment x, long at, int count) {
    if (activation != Activation.NONE) {
      apply(activation, x, at, count, x, at);
    }
  }

  /** From {@code src} to {@code dst}, which are the same run or don't overlap. */
  static void apply(
      Activation activation, MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int done =
        switch (activation) {
          case NONE -> none(src, from, count, dst, to);
          case RELU -> relu(src, from, count, dst, to);
          case GELU_ERF -> geluErf(src, from, count, dst, to);
          case GELU_TANH -> geluTanh(src, from, count, dst, to);
          case SILU -> silu(src, from, count, dst, to);
        };
    // The tail takes the very operations of the lanes, so that an element's bits don't depend on
    // its place.
    for (int i = done; i < count; i++) {
      FloatVector x = FloatVector.broadcast(FLOAT, src.get(PackedElements.FLOAT, from + 4L * i));
      FloatVector y =
          switch (activation) {
            case NONE -> x;
            case RELU -> VectorMath.relu(x);
            case GELU_ERF -> VectorMath.geluErf(x);
            case GELU_TANH -> VectorMath.geluTanh(x);
            case SILU -> VectorMath.silu(x);
          };
      dst.set(PackedElements.FLOAT, to + 4L * i, y.lane(0));
    }
  }

  private static int none(MemorySegment src, long from, int count, MemorySegment dst, long to) {
    MemorySegment.copy(src, from, dst, to, 4L * count);
    return count;
  }

  private static FloatVector load(MemorySegment src, long at) {
    return FloatVector.fromMemorySegment(FLOAT, src, at, LE);
  }

  private static int relu(MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      VectorMath.relu(load(src, from + 4L * i)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int geluErf(MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      VectorMath.geluErf(load(src, from + 4L * i)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int geluTanh(MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      VectorMath.geluTanh(load(src, from + 4L * i)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int silu(MemorySegment src, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      VectorMath.silu(load(src, from + 4L * i)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }
}
