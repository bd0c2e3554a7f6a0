package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.Scaling;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;

/**
 * Runs of F32 values times, or divided by, the scales of a storage, along its row-major order.
 *
 * <p>A run is cut at the ends of rows and of blocks; what is left has one scale, but for scalings
 * with a scale for each column, whose scales lie beside each other as the elements do.
 */
final class ScaledRuns {
  private ScaledRuns() {}

  /** Multiplies F32s at {@code dst}, the elements from {@code first} on, by their scales. */
  static void multiply(HostStorage s, long first, int count, MemorySegment dst, long to) {
    apply(s, first, count, dst, to, dst, to, false);
  }

  /** Divides F32s at {@code src} by the scales of elements {@code first …}. */
  static void divide(
      HostStorage s,
      long first,
      int count,
      MemorySegment src,
      long from,
      MemorySegment dst,
      long to) {
    apply(s, first, count, src, from, dst, to, true);
  }

  private static void apply(
      HostStorage s,
      long first,
      int count,
      MemorySegment src,
      long from,
      MemorySegment dst,
      long to,
      boolean divide) {
    ScaleGrid grid = s.grid();
    long row = first / grid.columns();
    long column = first % grid.columns();
    for (int done = 0; done < count; row++, column = 0) {
      int part = (int) Math.min(count - done, grid.columns() - column);
      long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0);
      if (grid.blockColumns() == 1 && isF32(s.scaling())) {
        long scales = 4 * (scaleRow + column);
        vector(src, from + 4L * done, s.scales(), scales, part, dst, to + 4L * done, divide);
      } else {
        blocks(s, scaleRow, column, part, src, from + 4L * done, dst, to + 4L * done, divide);
      }
      done += part;
    }
  }

  private static boolean isF32(Scaling scaling) {
    return switch (scaling) {
      case Scaling.None _,
          Scaling.PerTensor _,
          Scaling.Rows _,
          Scaling.Columns _,
          Scaling.Block _ ->
          true;
      case Scaling.Mx _, Scaling.NvFp4 _ -> false;
    };
  }

  /** A part of one row, from {@code column} on. */
  private static void blocks(
      HostStorage s,
      long scaleRow,
      long column,
      int count,
      MemorySegment src,
      long from,
      MemorySegment dst,
      long to,
      boolean divide) {
    long blockColumns = s.grid().blockColumns();
    for (int done = 0; done < count; ) {
      long block = (column + done) / blockColumns;
      int part = (int) Math.min(count - done, (block + 1) * blockColumns - (column + done));
      float scale = scale(s, scaleRow + block);
      if (divide) {
        quotients(src, from + 4L * done, part, scale, dst, to + 4L * done);
      } else {
        products(src, from + 4L * done, part, scale, dst, to + 4L * done);
      }
      done += part;
    }
  }

  /** The decoded scale with a given index, NVFP4's two levels multiplied. */
  static float scale(HostStorage s, long index) {
    return switch (s.scaling()) {
      case Scaling.None _ -> 1;
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ ->
          Codec.decode(dev.minifloat.DType.F32, s.scales().get(PackedElements.INT, index * 4));
      case Scaling.Mx _ -> Tables.e8m0(s.scales().get(ValueLayout.JAVA_BYTE, index));
      case Scaling.NvFp4 _ ->
          Tables.e4m3(s.scales().get(ValueLayout.JAVA_BYTE, index)) * s.globalScale();
    };
  }

  private static void products(
      MemorySegment src, long from, int count, float scale, MemorySegment dst, long to) {
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      factor
          .mul(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, scale * x);
    }
  }

  private static void quotients(
      MemorySegment src, long from, int count, float scale, MemorySegment dst, long to) {
    FloatVector divisor = FloatVector.broadcast(FLOAT, scale);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE)
          .div(divisor)
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, x / scale);
    }
  }

  /** The same with a scale for each element. */
  private static void vector(
      MemorySegment src,
      long from,
      MemorySegment scales,
      long scalesFrom,
      int count,
      MemorySegment dst,
      long to,
      boolean divide) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE);
      FloatVector scale = FloatVector.fromMemorySegment(FLOAT, scales, scalesFrom + 4L * i, LE);
      (divide ? x.div(scale) : scale.mul(x)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      float scale = scales.get(PackedElements.FLOAT, scalesFrom + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, divide ? x / scale : scale * x);
    }
  }
}
