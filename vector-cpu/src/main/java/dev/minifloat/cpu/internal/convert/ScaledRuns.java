package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cpu.internal.convert.FusedDecoder.Step;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;

/**
 * Runs of elements times their scales, along the row-major order of a storage.
 *
 * <p>Where blocks of MX or NVFP4 lie one behind the other without a rest, a run is one pass. Else
 * it is cut at the ends of rows and of blocks; what is left has one scale, but for scalings with a
 * scale for each column, whose scales lie beside each other as the elements do.
 */
public final class ScaledRuns {
  private ScaledRuns() {}

  /** Decodes elements to their values, NaN to the canonical one. */
  static void decode(
      HostStorage s, long first, int count, MemorySegment dst, long to, ReadAhead ahead) {
    DType dtype = s.dtype();
    int bits = dtype.bits();
    ScaleGrid grid = s.grid();
    // Wherever a run is cut, a part of it begins at a byte then.
    boolean packed =
        Decoders.isPacked(dtype, first)
            && grid.columns() % 2 == 0
            && (grid.blockColumns() % 2 == 0 || grid.blockColumns() == 1);
    MemorySegment codes = bits < 8 && !packed ? dst : s.data();
    long from =
        bits < 8 && !packed
            ? Decoders.unpacked(dtype, s.data(), first, count, dst, to)
            : first * bits / 8;
    long row = first / grid.columns();
    long column = first % grid.columns();
    if (isDense(s) && first % grid.blockColumns() == 0) {
      codeBlocks(s, packed, codes, from, first / grid.blockColumns(), count, dst, to, ahead);
      return;
    }
    if (grid.scales() == 1) {
      one(s, packed, codes, from, 0, count, dst, to, ahead);
      return;
    }
    for (int done = 0; done < count; row++, column = 0) {
      int part = (int) Math.min(count - done, grid.columns() - column);
      long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0);
      long at = from + (packed ? done / 2 : (long) Math.max(1, bits / 8) * done);
      if (grid.blockColumns() == 1) {
        columns(s, packed, codes, at, scaleRow + column, part, dst, to + 4L * done, ahead);
      } else {
        row(s, packed, codes, at, scaleRow, column, part, dst, to + 4L * done, ahead);
      }
      done += part;
    }
  }

  /** Whether blocks with narrow scales tile rows without a rest, and vectors tile blocks. */
  private static boolean isDense(HostStorage s) {
    return hasCodes(s.scaling())
        && s.grid().blockColumns() % LANES == 0
        && s.grid().columns() % s.grid().blockColumns() == 0;
  }

  private static boolean hasCodes(Scaling scaling) {
    return switch (scaling) {
      case Scaling.None _,
          Scaling.PerTensor _,
          Scaling.Rows _,
          Scaling.Columns _,
          Scaling.Block _ ->
          false;
      case Scaling.Mx _, Scaling.NvFp4 _ -> true;
    };
  }

  /** Blocks of MX or NVFP4 from scale {@code block} on. */
  private static void codeBlocks(
      HostStorage s,
      boolean packed,
      MemorySegment codes,
      long from,
      long block,
      int count,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    int shift = Long.numberOfTrailingZeros(s.grid().blockColumns());
    float[] table = Tables.narrow(s.scaling().scaleDType());
    float global = s.globalScale();
    // Up to there a scale is finite, and so is its product with the least of values.
    Step step = Math.abs(global) <= 0x1p100f ? Step.BLOCKS_FINITE : Step.BLOCKS;
    int done =
        Decoders.kernel(s.dtype(), step, packed)
            .decode(codes, from, count, global, s.scales(), block, shift, table, dst, to, ahead);
    rest(s, packed, codes, from, done, count, block, shift, dst, to);
  }

  /** A part of one row, from {@code column} on. */
  private static void row(
      HostStorage s,
      boolean packed,
      MemorySegment codes,
      long from,
      long scaleRow,
      long column,
      int count,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    long blockColumns = s.grid().blockColumns();
    for (int done = 0; done < count; ) {
      long block = (column + done) / blockColumns;
      int part = (int) Math.min(count - done, (block + 1) * blockColumns - (column + done));
      long at = from + (packed ? done / 2 : (long) Math.max(1, s.dtype().bits() / 8) * done);
      one(s, packed, codes, at, scaleRow + block, part, dst, to + 4L * done, ahead);
      done += part;
    }
  }

  /** Elements that share the scale with index {@code block}. */
  private static void one(
      HostStorage s,
      boolean packed,
      MemorySegment codes,
      long from,
      long block,
      int count,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    float scale = scale(s, block);
    int done =
        Decoders.kernel(
                s.dtype(), isFinite(s.dtype(), scale) ? Step.TIMES_FINITE : Step.TIMES, packed)
            .decode(codes, from, count, scale, null, 0, 0, null, dst, to, ahead);
    rest(s, packed, codes, from, done, count, block, 31, dst, to);
  }

  /** Whether only NaNs of {@code dtype} times {@code scale} are NaN, and canonical then. */
  private static boolean isFinite(DType dtype, float scale) {
    return dtype.bits() <= 8 && Math.abs(scale) <= Float.MAX_VALUE && scale != 0;
  }

  /** With a scale for each element, the first at index {@code scale}. */
  private static void columns(
      HostStorage s,
      boolean packed,
      MemorySegment codes,
      long from,
      long scale,
      int count,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    int done =
        Decoders.kernel(s.dtype(), Step.EACH, packed)
            .decode(codes, from, count, 1, s.scales(), 4 * scale, 0, null, dst, to, ahead);
    rest(s, packed, codes, from, done, count, scale, 0, dst, to);
  }

  /** What is left of {@code count} elements in blocks of 2^shift. */
  private static void rest(
      HostStorage s,
      boolean packed,
      MemorySegment codes,
      long from,
      int done,
      int count,
      long scale,
      int shift,
      MemorySegment dst,
      long to) {
    float[] table = Tables.narrow(s.dtype());
    for (int i = done; i < count; i++) {
      int code =
          packed
              ? PackedElements.get(s.dtype(), codes, 2 * from + i)
              : codes.get(ValueLayout.JAVA_BYTE, from + i) & 0xFF;
      float value = table[code];
      float product = scale(s, scale + (i >> shift)) * value;
      dst.set(PackedElements.FLOAT, to + 4L * i, Nans.canonical(product));
    }
  }

  /** The decoded scale with a given index, NVFP4's two levels multiplied. */
  public static float scale(HostStorage s, long index) {
    return switch (s.scaling()) {
      case Scaling.None _ -> 1;
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ ->
          Codec.decode(DType.F32, s.scales().get(PackedElements.INT, index * 4));
      case Scaling.Mx _ -> Tables.e8m0(s.scales().get(ValueLayout.JAVA_BYTE, index));
      case Scaling.NvFp4 _ ->
          Tables.e4m3(s.scales().get(ValueLayout.JAVA_BYTE, index)) * s.globalScale();
    };
  }

  /**
   * Lays out the scales of a part of a row, one for each of {@code n} elements from {@code column}
   * on. Up to a vector's bytes behind them are written, too.
   *
   * @param blocks an F32 for each block of {@code blockColumns} columns, the row's from index
   *     {@code scaleRow} on
   */
  public static void spread(
      MemorySegment blocks,
      long scaleRow,
      long column,
      int n,
      long blockColumns,
      MemorySegment dst,
      long to) {
    for (int done = 0; done < n; ) {
      long block = (column + done) / blockColumns;
      int width = (int) Math.min(n - done, (block + 1) * blockColumns - column - done);
      fill(dst, to + 4L * done, width, blocks.get(PackedElements.FLOAT, 4 * (scaleRow + block)));
      done += width;
    }
  }

  private static void fill(MemorySegment dst, long to, int n, float value) {
    MemorySegment y = Segments.exact(dst);
    FloatVector values = FloatVector.broadcast(FLOAT, value);
    for (int i = 0; i < n; i += LANES) {
      values.intoMemorySegment(y, to + 4L * i, LE);
    }
  }
}
