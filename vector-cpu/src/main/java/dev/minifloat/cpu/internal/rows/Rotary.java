package dev.minifloat.cpu.internal.rows;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.math.Angles;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * Rotary embedding. Each pair (u, v) turns by its angle, whose cosine and sine are computed once
 * for each position of the sequence:
 *
 * <pre>
 *   u · cos − v · sin
 *   v · cos + u · sin
 * </pre>
 *
 * The elements of a pair are neighbours, or half of {@code dims} apart.
 */
public final class Rotary {
  /** Positions whose angles one task computes. */
  private static final int POSITIONS = 64;

  /** As many F32 as there are pairs of neighbours in a vector. */
  private static final VectorSpecies<Float> PAIRS =
      VectorSpecies.of(float.class, VectorShape.forBitSize(Species.BITS / 2));

  private static final VectorShuffle<Float> NEIGHBOURS =
      VectorShuffle.fromOp(FLOAT, lane -> lane ^ 1);

  /** Each of the lower lanes twice. */
  private static final VectorShuffle<Float> TWICE = VectorShuffle.fromOp(FLOAT, lane -> lane >> 1);

  /** −1, 1, −1, … */
  private static final FloatVector SIGNS =
      FloatVector.broadcast(FLOAT, -1)
          .blend(
              1,
              FloatVector.zero(FLOAT)
                  .addIndex(1)
                  .rearrange(NEIGHBOURS)
                  .lt(FloatVector.zero(FLOAT).addIndex(1)));

  private final Workers workers;
  private final Memory memory;
  private final Rows rows;
  private final Pool<Call> calls = new Pool<>(Call::new);

  public Rotary(Workers workers, Memory memory, Rows rows) {
    this.workers = workers;
    this.memory = memory;
    this.rows = rows;
  }

  /**
   * Rotates pairs of the first {@code dims} columns of each row by its position.
   *
   * @param positions of the rows of a matrix, I32; null for 0, 1, 2, …
   */
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    int sequence = Work.toInt("x", x.shape().rows(), "rows");
    Call call = calls.take();
    call.setFrequencies(dims, base);
    try (Memory.Block table = memory.take(8L * call.frequencies.length * sequence)) {
      call.interleaved = interleaved;
      call.positions = positions;
      call.sequence = sequence;
      call.table = table.segment();
      workers.run(Work.count(sequence, POSITIONS), call.angles);
      rows.run(x, out, call);
    } finally {
      call.positions = null;
      call.table = null;
      calls.give(call);
    }
  }

  private static final class Call extends Rows.Call {
    int dims;
    float base;
    double[] frequencies = {};
    boolean interleaved;
    TensorView positions;
    int sequence;

    /** Cosines and then sines of each position. */
    MemorySegment table;

    final IntConsumer angles = this::computeAngles;

    /** Keeps what the last call computed, which is most often what the next one needs. */
    void setFrequencies(int dims, float base) {
      if (this.dims == dims && this.base == base && frequencies.length > 0) {
        return;
      }
      this.dims = dims;
      this.base = base;
      frequencies = new double[Angles.padded(dims / 2)];
      for (int pair = 0; pair < dims / 2; pair++) {
        frequencies[pair] = Math.pow(base, -2.0 * pair / dims);
      }
    }

    private void computeAngles(int task) {
      int end = (int) Math.min(sequence, (task + 1L) * POSITIONS);
      for (int place = task * POSITIONS; place < end; place++) {
        double position = positions == null ? place : Views.readInt(positions, place);
        long cos = 8L * frequencies.length * place;
        Angles.fill(position, frequencies, table, cos, cos + 4L * frequencies.length);
      }
    }

    @Override
    void row(long row, MemorySegment src, long from, int n, MemorySegment dst, long to) {
      long cos = 8L * frequencies.length * (row % sequence);
      long sin = cos + 4L * frequencies.length;
      if (interleaved) {
        neighbours(src, from, dims, table, cos, sin, dst, to);
      } else {
        halves(src, from, dims / 2, table, cos, sin, dst, to);
      }
      if (dims < n) {
        MemorySegment.copy(src, from + 4L * dims, dst, to + 4L * dims, 4L * (n - dims));
        Nans.canonical(dst, to + 4L * dims, n - dims);
      }
    }
  }

  private static void halves(
      MemorySegment source,
      long from,
      int half,
      MemorySegment table,
      long cos,
      long sin,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    MemorySegment angles = Segments.exact(table);
    int i = 0;
    while (i <= half - LANES) {
      long at = 4L * i;
      FloatVector u = FloatVector.fromMemorySegment(FLOAT, src, from + at, LE);
      FloatVector v = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * half + at, LE);
      FloatVector c = FloatVector.fromMemorySegment(FLOAT, angles, cos + at, LE);
      FloatVector s = FloatVector.fromMemorySegment(FLOAT, angles, sin + at, LE);
      VectorMath.canonical(u.fma(c, v.mul(s).neg())).intoMemorySegment(dst, to + at, LE);
      VectorMath.canonical(v.fma(c, u.mul(s))).intoMemorySegment(dst, to + 4L * half + at, LE);
      // The last vector ends where the half does, and computes some pairs once more.
      i = i < half - LANES ? Math.min(i + LANES, half - LANES) : half;
    }
    for (; i < half; i++) {
      float u = get(src, from, i);
      float v = get(src, from, i + half);
      rotate(u, v, get(angles, cos, i), get(angles, sin, i), dst, to + 4L * i, 4L * half);
    }
  }

  private static void neighbours(
      MemorySegment source,
      long from,
      int dims,
      MemorySegment table,
      long cos,
      long sin,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    MemorySegment angles = Segments.exact(table);
    int i = 0;
    while (i <= dims - LANES) {
      long at = 4L * i;
      FloatVector x = FloatVector.fromMemorySegment(FLOAT, src, from + at, LE);
      FloatVector c = twice(angles, cos + at / 2);
      FloatVector s = twice(angles, sin + at / 2).mul(SIGNS);
      VectorMath.canonical(x.fma(c, x.rearrange(NEIGHBOURS).mul(s)))
          .intoMemorySegment(dst, to + at, LE);
      i = i < dims - LANES ? Math.min(i + LANES, dims - LANES) : dims;
    }
    for (; i < dims; i += 2) {
      float u = get(src, from, i);
      float v = get(src, from, i + 1);
      rotate(u, v, get(angles, cos, i / 2), get(angles, sin, i / 2), dst, to + 4L * i, 4);
    }
  }

  private static void rotate(
      float u, float v, float c, float s, MemorySegment dst, long to, long away) {
    float first = Nans.canonical(Math.fma(u, c, -(v * s)));
    float second = Nans.canonical(Math.fma(v, c, u * s));
    dst.set(PackedElements.FLOAT, to, first);
    dst.set(PackedElements.FLOAT, to + away, second);
  }

  private static FloatVector twice(MemorySegment table, long at) {
    return ((FloatVector)
            FloatVector.fromMemorySegment(PAIRS, table, at, LE).reinterpretShape(FLOAT, 0))
        .rearrange(TWICE);
  }

  private static float get(MemorySegment src, long from, int i) {
    return src.get(PackedElements.FLOAT, from + 4L * i);
  }
}
