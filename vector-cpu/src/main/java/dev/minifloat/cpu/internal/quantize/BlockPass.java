package dev.minifloat.cpu.internal.quantize;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cpu.internal.convert.EncodeFormat;
import dev.minifloat.cpu.internal.convert.Encoders;
import dev.minifloat.cpu.internal.convert.FusedEncoder;
import dev.minifloat.cpu.internal.convert.FusedEncoder.Step;
import dev.minifloat.cpu.internal.convert.PackedCodes;
import dev.minifloat.cpu.internal.convert.RandomBits;
import dev.minifloat.cpu.internal.convert.ScaledRuns;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pages;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The steps of quantization over a run of blocks whose scales lie beside each other: {@link #amax},
 * {@link #scales}, {@link #elements}, in this order, between {@link #open} and {@link #close}.
 *
 * <p>Each run of elements is divided and encoded in one pass of a {@link FusedEncoder}, but with
 * stochastic rounding, for which that would be too much for one loop. Where blocks lie one behind
 * the other without a rest, and are as long as a power of two, or where a run lies within one
 * block, it finds each vector's scale by a shift. Otherwise the scales are laid out first, one for
 * each element.
 */
final class BlockPass {
  /** Scratch memory: values or quotients; scales of elements; codes, random bits. */
  private static final long SPREAD = 4L * Work.RUN;

  private static final long CODES = SPREAD + 4L * (Work.RUN + LANES);
  private static final long SCRATCH = CODES + Work.RUN + 4L * (Work.RUN + RandomBits.SLACK);

  /** A shift that makes every element's block the first. */
  private static final int ONE_BLOCK = 31;

  private Memory memory;
  private Source source;
  private HostStorage target;
  private QuantSpec spec;
  private ScaleGrid grid;
  private long firstScale;
  private int count;

  /**
   * For each block: the bits of its amax, later its divisor, NaN where elements are 0. Behind those
   * the negated reciprocals, if divisors are ordinary.
   */
  private Memory.Block blocks;

  /** Whether the kernels that need ordinary scales take all blocks. */
  private boolean ordinary;

  /** log2 of a block's elements where vectors find their scales by a shift, else −1. */
  private int shift;

  /** Where a step ends in row-major order, and how far its memory is being fetched. */
  private long last;

  private long fetched;

  void open(
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
    boolean shifted =
        grid.blockRows() == 1
            && grid.columns() % grid.blockColumns() == 0
            && BlockAmax.handles(grid.blockColumns());
    shift = shifted ? Long.numberOfTrailingZeros(grid.blockColumns()) : -1;
    blocks = memory.take(8L * count);
  }

  /** Makes the amax of all blocks that of zeros. */
  void zero() {
    MemorySegment amax = Segments.exact(blocks.segment());
    for (int i = 0; i < count; i++) {
      amax.set(PackedElements.INT, 4L * i, 0);
    }
  }

  void close() {
    blocks.close();
    blocks = null;
    source = null;
    target = null;
  }

  /**
   * Takes the amax of all blocks from rows (over all matrices) and columns.
   *
   * @param cold whether they are in memory, and not in a cache
   */
  void amax(long firstRow, long endRow, long firstColumn, long endColumn, boolean cold) {
    boolean whole = firstColumn == 0 && endColumn == grid.columns();
    fetched = cold ? 0 : Long.MAX_VALUE;
    try (Memory.Block scratch = memory.take(6L * Work.RUN)) {
      MemorySegment buffer = scratch.segment();
      MemorySegment values = source.segment(buffer);
      last = endRow * grid.columns();
      if (shift >= 0 && whole) {
        amaxOfRuns(values, firstRow * endColumn, last, buffer);
        return;
      }
      zero();
      for (long row = firstRow; row < endRow; row++) {
        long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0) - firstScale;
        last = whole ? last : row * grid.columns() + endColumn;
        for (long column = firstColumn; column < endColumn; column += Work.RUN) {
          int part = (int) Math.min(Work.RUN, endColumn - column);
          fetch(row * grid.columns() + column, buffer);
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

  /** Has what a step reads from an element on fetched, once for many runs. */
  private void fetch(long at, MemorySegment buffer) {
    if (at >= fetched) {
      long count = Math.min(Work.TASK, last - at);
      Pages.keep(buffer, source.touch(at, count));
      fetched = at + count;
    }
  }

  /** Whether {@link #elements} leaves the values behind its own in a cache. */
  boolean readsAhead() {
    return source.isDirect() && !(spec.rounding() instanceof Rounding.Stochastic);
  }

  /** Of blocks that lie one behind the other. */
  private void amaxOfRuns(MemorySegment values, long first, long end, MemorySegment buffer) {
    int block = 1 << shift;
    for (long at = first; at < end; at += Work.RUN) {
      int n = (int) Math.min(Work.RUN, end - at);
      fetch(at, buffer);
      long from = source.read(at, n, buffer, 0);
      long to = 4 * ((at >> shift) - firstScale);
      int done =
          BlockAmax.blocks(values, from, n, block, buffer, 4L * Work.RUN, blocks.segment(), to);
      for (int i = done; i << shift < n; i++) {
        int bits = Amax.bits(values, from + 4L * block * i, block);
        blocks.segment().set(PackedElements.INT, to + 4L * i, bits);
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

  /** Writes the scales and keeps the divisors, or their reciprocals where elements want those. */
  void scales() {
    MemorySegment divisors = blocks.segment();
    BlockScales.derive(divisors, count, target, firstScale, spec, inverted());
    ordinary = false;
    if (!spec.rounding().equals(Rounding.NEAREST_EVEN)) {
      return;
    }
    if (inverted()) {
      ordinary = BlockScales.within(divisors, count, Float.MIN_VALUE, Float.MAX_VALUE);
    } else if (BlockScales.within(
        divisors, count, FusedEncoder.LEAST_SCALE, FusedEncoder.LARGEST_SCALE)) {
      BlockScales.negatedReciprocals(divisors, count, 4L * count);
      ordinary = true;
    }
  }

  private boolean inverted() {
    return spec.scaling() instanceof Scaling.Mx
        && shift >= 0
        && !(spec.rounding() instanceof Rounding.Stochastic);
  }

  /**
   * Encodes elements {@code first … end − 1}; {@code first} begins at a byte. Where {@link
   * #readsAhead}, as many values behind them are in the second cache then.
   *
   * <p>Several threads may be in it.
   *
   * @param cold whether the values are in memory, and not in a cache
   * @param spare the caller's, to read ahead with
   */
  void elements(long first, long end, boolean cold, ReadAhead spare) {
    DType dtype = spec.dtype();
    ReadAhead ahead = readsAhead() ? source.ahead(spare, end, end - first) : null;
    try (Memory.Block scratch = memory.take(SCRATCH)) {
      MemorySegment buffer = scratch.segment();
      MemorySegment values = source.segment(buffer);
      if (cold) {
        Pages.keep(buffer, source.touch(first, end - first));
      }
      for (long at = first; at < end; at += Work.RUN) {
        int n = (int) Math.min(Work.RUN, end - at);
        long from = source.read(at, n, buffer, 0);
        if (spec.rounding() instanceof Rounding.Stochastic) {
          spread(at, n, buffer);
          divide(values, from, n, buffer);
          Encoders.encode(
              buffer,
              0,
              n,
              dtype,
              target.data(),
              at,
              spec.rounding(),
              spec.overflow(),
              at,
              buffer,
              CODES,
              null);
        } else if (dtype.bits() == 8) {
          codes(at, n, values, from, buffer, target.data(), at, ahead);
        } else {
          int done = pairs(at, n, values, from, ahead);
          if (done < n) {
            long rest = at + done;
            codes(rest, n - done, values, from + 4L * done, buffer, buffer, CODES, ahead);
            PackedCodes.pack(dtype, buffer, CODES, n - done, target.data(), rest);
          }
        }
      }
    }
  }

  /** Codes of a run, two to a byte, where a kernel leaves them so; returns how many. */
  private int pairs(long at, int n, MemorySegment values, long from, ReadAhead ahead) {
    int found = isOneBlock(at, n) ? ONE_BLOCK : shift;
    if (spec.dtype() != DType.F4_E2M1 || !ordinary || found < 0) {
      return 0;
    }
    MemorySegment scales = blocks.segment();
    long scale = 4 * (grid.indexOf(at) - firstScale);
    return EncodeFormat.pairKernel(inverted() ? Step.PRODUCT : Step.RATIO)
        .encode(
            values,
            from,
            n,
            scales,
            scale,
            found,
            spec.overflow(),
            null,
            scale + 4L * count,
            target.data(),
            at / 2,
            ahead);
  }

  /**
   * Codes of a run, a byte each. What does not fill a vector at its end is encoded with elements
   * before it, once more; then the run is not one of blocks that vectors tile.
   */
  private void codes(
      long at,
      int n,
      MemorySegment values,
      long from,
      MemorySegment buffer,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    MemorySegment scales = blocks.segment();
    long scale = 4 * (grid.indexOf(at) - firstScale);
    int found = isOneBlock(at, n) ? ONE_BLOCK : shift;
    if (found < 0) {
      spread(at, n, buffer);
      scales = buffer;
      scale = SPREAD;
    }
    if (n < LANES) {
      scalars(at, n, values, from, scales, scale, found, dst, to);
      return;
    }
    int done = vectors(values, from, n, scales, scale, found, dst, to, ahead);
    if (done < n) {
      int last = n - LANES;
      long lastScale = found < 0 ? scale + 4L * last : scale;
      vectors(values, from + 4L * last, LANES, scales, lastScale, found, dst, to + last, null);
    }
  }

  private boolean isOneBlock(long at, int n) {
    boolean undivided = grid.gridColumns() == 1 || at % grid.columns() + n <= grid.columns();
    return undivided && grid.indexOf(at) == grid.indexOf(at + n - 1);
  }

  private int vectors(
      MemorySegment values,
      long from,
      int n,
      MemorySegment scales,
      long scale,
      int shift,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    Step step;
    if (shift < 0) {
      step = Step.QUOTIENT_EACH;
    } else if (inverted()) {
      step = Step.PRODUCT;
    } else {
      // Scales that are rounded themselves, as NVFP4's are, may let quotients exceed the format.
      boolean bounded = spec.scaling().scaleDType() == DType.F32;
      step = ordinary && bounded && shift == ONE_BLOCK ? Step.RATIO : Step.QUOTIENT;
    }
    return EncodeFormat.kernel(spec.dtype(), spec.rounding(), step)
        .encode(
            values,
            from,
            n,
            scales,
            scale,
            shift,
            spec.overflow(),
            null,
            scale + 4L * count,
            dst,
            to,
            ahead);
  }

  /** A run too short for a vector. */
  private void scalars(
      long at,
      int n,
      MemorySegment values,
      long from,
      MemorySegment scales,
      long scale,
      int shift,
      MemorySegment dst,
      long to) {
    for (int i = 0; i < n; i++) {
      float x = values.get(PackedElements.FLOAT, from + 4L * i);
      float divisor = scales.get(PackedElements.FLOAT, scale + 4L * (shift < 0 ? i : i >> shift));
      float quotient = Float.isNaN(divisor) ? 0 : inverted() ? x * divisor : x / divisor;
      int code = Codec.encode(spec.dtype(), quotient, spec.rounding(), spec.overflow(), at + i);
      dst.set(ValueLayout.JAVA_BYTE, to + i, (byte) code);
    }
  }

  /** Lays out the divisors of a run, one for each element, in the buffer. */
  private void spread(long first, int n, MemorySegment buffer) {
    long row = first / grid.columns();
    long column = first % grid.columns();
    for (int done = 0; done < n; row++, column = 0) {
      int part = (int) Math.min(n - done, grid.columns() - column);
      long scaleRow = grid.index(row / grid.rows(), row % grid.rows(), 0) - firstScale;
      if (grid.blockColumns() == 1) {
        long at = 4 * (scaleRow + column);
        MemorySegment.copy(blocks.segment(), at, buffer, SPREAD + 4L * done, 4L * part);
      } else {
        ScaledRuns.spread(
            blocks.segment(),
            scaleRow,
            column,
            part,
            grid.blockColumns(),
            buffer,
            SPREAD + 4L * done);
      }
      done += part;
    }
  }

  /** Quotients of a run to the start of the buffer; 0 where a divisor is NaN. */
  private static void divide(MemorySegment values, long from, int n, MemorySegment buffer) {
    MemorySegment x = Segments.exact(values);
    MemorySegment y = Segments.exact(buffer);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector divisor = FloatVector.fromMemorySegment(FLOAT, y, SPREAD + 4L * i, LE);
      FloatVector.fromMemorySegment(FLOAT, x, from + 4L * i, LE)
          .div(divisor)
          .blend(0, divisor.test(VectorOperators.IS_NAN))
          .intoMemorySegment(y, 4L * i, LE);
    }
    for (; i < n; i++) {
      float value = x.get(PackedElements.FLOAT, from + 4L * i);
      float divisor = y.get(PackedElements.FLOAT, SPREAD + 4L * i);
      y.set(PackedElements.FLOAT, 4L * i, Float.isNaN(divisor) ? 0 : value / divisor);
    }
  }
}
