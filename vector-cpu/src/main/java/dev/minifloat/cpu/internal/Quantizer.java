package dev.minifloat.cpu.internal;

import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.codec.Scales;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;

/**
 * Quantization, in three steps: the amax of each block, the scales that follow, the elements.
 *
 * <p>A band is a row of blocks over the whole width. Where bands are small enough for a cache, a
 * task takes a few through all three steps, and the source is read from memory once. Where they are
 * not (one scale for the tensor, a scale for each column, huge blocks), each step goes over the
 * tensor with tasks of its own.
 */
final class Quantizer {
  /** Elements of the largest band that one task takes through all steps. */
  private static final long LARGEST_BAND = 1 << 19;

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Amax amax;

  Quantizer(Workers workers, Memory memory, Copier copier, Amax amax) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
    this.amax = amax;
  }

  void quantize(TensorView x, TensorView out, QuantSpec spec) {
    long elements = x.shape().elements();
    HostStorage target = Views.storage(out);
    try (Source source = Source.of(x, copier, memory)) {
      if (spec.scaling() instanceof Scaling.NvFp4) {
        float largest = Amax.value(amax.bits(source, elements));
        target.globalScale(Scales.nvfp4Global(largest));
      }
      if (elements == 0) {
        emptyScales(target, spec);
        return;
      }
      ScaleGrid grid = target.grid();
      long band = Math.min(grid.blockRows(), grid.rows()) * grid.columns();
      boolean even = grid.rows() % grid.blockRows() == 0 || grid.batch() == 1;
      if (band <= LARGEST_BAND && (even || PackedCodes.aligned(spec.dtype()) == 1)) {
        byBands(source, target, spec, band);
      } else {
        byPasses(source, target, spec);
      }
    }
  }

  /** A tensor without elements has scales where its shape does: those of an amax of 0. */
  private void emptyScales(HostStorage target, QuantSpec spec) {
    long scales = target.grid().scales();
    workers.run(
        Work.tasks(scales),
        task -> {
          long first = (long) task * Work.TASK;
          int count = (int) Math.min(Work.TASK, scales - first);
          try (Memory.Block block = memory.take(4L * count)) {
            block.segment().asSlice(0, 4L * count).fill((byte) 0);
            BlockScales.derive(block.segment(), count, target, first, spec);
          }
        });
  }

  private void byBands(Source source, HostStorage target, QuantSpec spec, long band) {
    ScaleGrid grid = target.grid();
    long bands = grid.batch() * grid.gridRows();
    // A multiple of 4 bands begins at a byte, for any type, if no band of a batch is short.
    int perTask =
        PackedCodes.aligned(spec.dtype()) == 1
            ? (int) Math.max(1, Work.TASK / band)
            : (int) Math.ceilDiv(Math.max(1, Work.TASK / band), 4) * 4;
    workers.run(
        Work.count(bands, perTask),
        task -> {
          long firstBand = (long) task * perTask;
          long endBand = Math.min(bands, firstBand + perTask);
          int scales = (int) ((endBand - firstBand) * grid.gridColumns());
          long firstScale = firstBand * grid.gridColumns();
          try (BlockPass pass = new BlockPass(memory, source, target, spec, firstScale, scales)) {
            long firstRow = rowOf(grid, firstBand);
            long endRow = rowOf(grid, endBand);
            pass.amax(firstRow, endRow, 0, grid.columns());
            pass.scales();
            pass.elements(firstRow * grid.columns(), endRow * grid.columns());
          }
        });
  }

  /** The first row of a band, counted over all matrices. */
  private static long rowOf(ScaleGrid grid, long band) {
    return band / grid.gridRows() * grid.rows() + band % grid.gridRows() * grid.blockRows();
  }

  private void byPasses(Source source, HostStorage target, QuantSpec spec) {
    ScaleGrid grid = target.grid();
    int scales = Work.toInt("spec", grid.scales(), "scales");
    try (BlockPass whole = new BlockPass(memory, source, target, spec, 0, scales)) {
      largest(source, target, spec, whole);
      whole.scales();
      long elements = target.shape().elements();
      workers.run(
          Work.tasks(elements),
          task -> {
            long first = (long) task * Work.TASK;
            whole.elements(first, Math.min(elements, first + Work.TASK));
          });
    }
  }

  /** The amax of all blocks: tasks are pieces of bands, whose results are merged as they come. */
  private void largest(Source source, HostStorage target, QuantSpec spec, BlockPass whole) {
    ScaleGrid grid = target.grid();
    long width = Math.min(grid.columns(), Work.TASK);
    int across = Work.count(grid.columns(), width);
    int height = Work.rowsOfTask(width);
    int downBand = Work.count(Math.min(grid.blockRows(), grid.rows()), height);
    int down = Work.toInt("x", grid.batch() * grid.gridRows() * downBand, "pieces of bands");
    workers.run(
        Work.toInt("x", (long) down * across, "pieces of bands"),
        task -> {
          long band = task / across / downBand;
          long bandEnd = rowOf(grid, band + 1);
          long firstRow = rowOf(grid, band) + (long) (task / across % downBand) * height;
          long endRow = Math.min(bandEnd, firstRow + height);
          long firstColumn = task % across * width;
          long endColumn = Math.min(grid.columns(), firstColumn + width);
          long firstScale = band * grid.gridColumns() + firstColumn / grid.blockColumns();
          long lastScale = band * grid.gridColumns() + (endColumn - 1) / grid.blockColumns();
          int scales = (int) (lastScale - firstScale + 1);
          try (BlockPass pass = new BlockPass(memory, source, target, spec, firstScale, scales)) {
            pass.amax(firstRow, endRow, firstColumn, endColumn);
            whole.merge(pass);
          }
        });
  }
}
