package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.QuantSpec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The steps of quantization over a run of blocks whose scales lie beside each other: {@link #amax},
 * {@link #scales}, {@link #elements}, in this order.
 */
final class BlockPass implements AutoCloseable {
  private final Memory memory;
  private final Source source;
  private final HostStorage target;
  private final QuantSpec spec;
  private final ScaleGrid grid;
  private final long firstScale;
  private final int count;

  /** For each block: the bits of its amax, later its divisor, NaN where elements are 0. */
  private final Memory.Block blocks;

  BlockPass(
      Memory memory,
      Source source,
      HostStorage target,
      QuantSpec spec,
      long firstScale,
      int count) {
    this.memory = memory;
    this.source = source;
    this.target = target;
    this.spec = spec;
    this.grid = target.grid();
    this.firstScale = firstScale;
    this.count = count;
    this.blocks = memory.take(4L * count);
    blocks.segment().asSlice(0, 4L * count).fill((byte) 0);
  }

  /** Takes rows (over all matrices) and columns into the amax of their blocks. */
  void amax(long firstRow, long endRow, long firstColumn, long endColumn) {
    try (Memory.Block scratch = memory.take(4L * Work.RUN)) {
      MemorySegment buffer = scratch.segment();
      MemorySegment values = source.segment(buffer);
      for (long row = firstRow; row < endRow; row++) {
        long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0) - firstScale;
        for (long column = firstColumn; column < endColumn; column += Work.RUN) {
          int part = (int) Math.min(Work.RUN, endColumn - column);
          long from = source.read(row * grid.columns() + column, part, buffer, 0);
          if (grid.blockColumns() == 1) {
            Amax.each(values, from, part, blocks.segment(), 4 * (scaleRow + column));
          } else {
            amaxOfBlocks(values, from, column, part, scaleRow);
          }
        }
      }
    }
  }

  private void amaxOfBlocks(MemorySegment values, long from, long column, int part, long scaleRow) {
    MemorySegment amax = blocks.segment();
    for (int done = 0; done < part; ) {
      long block = (column + done) / grid.blockColumns();
      int width = (int) Math.min(part - done, (block + 1) * grid.blockColumns() - column - done);
      long at = 4 * (scaleRow + block);
      int bits = Amax.bits(values, from + 4L * done, width);
      amax.set(PackedElements.INT, at, Math.max(amax.get(PackedElements.INT, at), bits));
      done += width;
    }
  }

  /** Takes the amax of some of these blocks from another pass. Any thread may call it. */
  synchronized void merge(BlockPass part) {
    long to = 4 * (part.firstScale - firstScale);
    Amax.each(part.blocks.segment(), 0, part.count, blocks.segment(), to);
  }

  /** Writes the scales and keeps the divisors. */
  void scales() {
    BlockScales.derive(blocks.segment(), count, target, firstScale, spec);
  }

  /** Encodes elements {@code first … end − 1}; {@code first} begins at a byte. */
  void elements(long first, long end) {
    long valueBytes = 4L * Work.RUN;
    long codeBytes = (long) Work.RUN * Encoders.SCRATCH_PER_ELEMENT;
    try (Memory.Block scratch = memory.take(valueBytes + codeBytes)) {
      MemorySegment buffer = scratch.segment();
      MemorySegment values = source.segment(buffer);
      MemorySegment codes = buffer.asSlice(valueBytes);
      for (long at = first; at < end; at += Work.RUN) {
        int n = (int) Math.min(Work.RUN, end - at);
        long from = source.read(at, n, buffer, 0);
        divide(at, n, values, from, buffer);
        Encoders.encode(
            buffer,
            0,
            n,
            spec.dtype(),
            target.data(),
            at,
            spec.rounding(),
            spec.overflow(),
            at,
            codes);
      }
    }
  }

  /** Divides a run by the divisors of its blocks, to the start of {@code dst}. */
  private void divide(long first, int n, MemorySegment src, long from, MemorySegment dst) {
    long row = first / grid.columns();
    long column = first % grid.columns();
    for (int done = 0; done < n; row++, column = 0) {
      int part = (int) Math.min(n - done, grid.columns() - column);
      long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0) - firstScale;
      if (grid.blockColumns() == 1) {
        long at = 4 * (scaleRow + column);
        byEach(src, from + 4L * done, part, blocks.segment(), at, dst, 4L * done);
      } else {
        divideBlocks(column, part, scaleRow, src, from + 4L * done, dst, 4L * done);
      }
      done += part;
    }
  }

  private void divideBlocks(
      long column,
      int part,
      long scaleRow,
      MemorySegment src,
      long from,
      MemorySegment dst,
      long to) {
    for (int done = 0; done < part; ) {
      long block = (column + done) / grid.blockColumns();
      int width = (int) Math.min(part - done, (block + 1) * grid.blockColumns() - column - done);
      float divisor = blocks.segment().get(PackedElements.FLOAT, 4 * (scaleRow + block));
      if (Float.isNaN(divisor)) {
        dst.asSlice(to + 4L * done, 4L * width).fill((byte) 0);
      } else {
        byOne(src, from + 4L * done, width, divisor, dst, to + 4L * done);
      }
      done += width;
    }
  }

  private static void byOne(
      MemorySegment src, long from, int n, float divisor, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE)
          .div(divisor)
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, x / divisor);
    }
  }

  private static void byEach(
      MemorySegment src,
      long from,
      int n,
      MemorySegment divisors,
      long divisorsFrom,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector divisor =
          FloatVector.fromMemorySegment(FLOAT, divisors, divisorsFrom + 4L * i, LE);
      FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE)
          .div(divisor)
          .blend(0, divisor.test(VectorOperators.IS_NAN))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      float divisor = divisors.get(PackedElements.FLOAT, divisorsFrom + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, Float.isNaN(divisor) ? 0 : x / divisor);
    }
  }

  @Override
  public void close() {
    blocks.close();
  }
}
