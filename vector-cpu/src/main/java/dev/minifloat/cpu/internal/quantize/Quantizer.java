package dev.minifloat.cpu.internal.quantize;

import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.codec.Scales;
import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.PackedCodes;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.util.function.IntConsumer;

/**
 * Quantization, in three steps: the amax of each block, the scales that follow, the elements.
 *
 * <p>A band is a row of blocks over the whole width. Where bands are small enough for a cache, a
 * task takes a few through all three steps, and the source is read from memory once. Where they are
 * not (one scale for the tensor, a scale for each column, huge blocks), each step goes over the
 * tensor with tasks of its own.
 */
public final class Quantizer {
  /** Elements of the largest band that one task takes through all steps. */
  private static final long LARGEST_BAND = 1 << 19;

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Amax amax;
  private final Pool<Call> calls = new Pool<>(Call::new);
  private final Pool<BlockPass> passes = new Pool<>(BlockPass::new);
  private final Pool<ReadAhead> spares = new Pool<>(ReadAhead::new);

  public Quantizer(Workers workers, Memory memory, Copier copier, Amax amax) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
    this.amax = amax;
  }

  public void quantize(TensorView x, TensorView out, QuantSpec spec) {
    Call call = calls.take();
    try {
      call.run(x, Views.storage(out), spec);
    } finally {
      call.clear();
      calls.give(call);
    }
  }

  /** One call, whose tasks any thread may run. */
  private final class Call {
    private final Source source = new Source();
    private final IntConsumer bandTask = this::bands;
    private final IntConsumer amaxTask = this::amaxOfPiece;
    private final IntConsumer elementTask = this::elements;
    private final IntConsumer emptyTask = this::emptyScales;
    private HostStorage target;
    private QuantSpec spec;
    private ScaleGrid grid;

    /** All blocks; null in calls by bands. */
    private BlockPass whole;

    private int bandsOfPass;

    /** Passes of a task by bands, or pieces of elements of one by passes. */
    private int pieces;

    /** Pieces of bands of which amax is taken: their extents, and how many make up a band. */
    private long width;

    private int height;
    private int across;
    private int down;

    void run(TensorView x, HostStorage target, QuantSpec spec) {
      long elements = x.shape().elements();
      this.target = target;
      this.spec = spec;
      grid = target.grid();
      source.open(x, copier, memory);
      if (spec.scaling() instanceof Scaling.NvFp4) {
        target.globalScale(Scales.nvfp4Global(Amax.value(amax.bits(source, elements))));
      }
      if (elements == 0) {
        workers.run(Work.tasks(grid.scales()), emptyTask);
        return;
      }
      long band = Math.min(grid.blockRows(), grid.rows()) * grid.columns();
      boolean even = grid.rows() % grid.blockRows() == 0 || grid.batch() == 1;
      int aligned = PackedCodes.aligned(spec.dtype());
      if (band <= LARGEST_BAND && (even || aligned == 1)) {
        // A multiple of 4 bands begins at a byte, for any type, if no band of a batch is short.
        bandsOfPass = (int) Math.max(1, Work.TASK / band);
        if (aligned > 1) {
          bandsOfPass = Math.ceilDiv(bandsOfPass, 4) * 4;
        }
        int passes = Work.count(grid.batch() * grid.gridRows(), bandsOfPass);
        pieces = Work.piecesOfTask(passes);
        workers.run(Math.ceilDiv(passes, pieces), bandTask);
      } else {
        byPasses(elements);
      }
    }

    void clear() {
      source.close();
      target = null;
      spec = null;
      grid = null;
    }

    private BlockPass open(long firstScale, int scales) {
      BlockPass pass = passes.take();
      pass.open(memory, source, target, spec, firstScale, scales);
      return pass;
    }

    private void close(BlockPass pass) {
      pass.close();
      passes.give(pass);
    }

    /** A tensor without elements has scales where its shape does: those of an amax of 0. */
    private void emptyScales(int task) {
      long first = (long) task * Work.TASK;
      BlockPass pass = open(first, (int) Math.min(Work.TASK, grid.scales() - first));
      try {
        pass.zero();
        pass.scales();
      } finally {
        close(pass);
      }
    }

    private void bands(int task) {
      long bands = grid.batch() * grid.gridRows();
      long firstBand = (long) task * pieces * bandsOfPass;
      long endBand = Math.min(bands, firstBand + (long) pieces * bandsOfPass);
      ReadAhead ahead = spares.take();
      try {
        boolean cold = true;
        for (long band = firstBand; band < endBand; band += bandsOfPass) {
          cold = bands(band, Math.min(bands, band + bandsOfPass), cold, ahead);
        }
      } finally {
        spares.give(ahead);
      }
    }

    /** Takes some bands through all steps; returns whether what lies behind them is cold. */
    private boolean bands(long first, long end, boolean cold, ReadAhead ahead) {
      BlockPass pass = open(first * grid.gridColumns(), (int) ((end - first) * grid.gridColumns()));
      try {
        long firstRow = rowOf(first);
        long endRow = rowOf(end);
        pass.amax(firstRow, endRow, 0, grid.columns(), cold);
        pass.scales();
        pass.elements(firstRow * grid.columns(), endRow * grid.columns(), false, ahead);
        return !pass.readsAhead();
      } finally {
        close(pass);
      }
    }

    /** The first row of a band, counted over all matrices. */
    private long rowOf(long band) {
      return band / grid.gridRows() * grid.rows() + band % grid.gridRows() * grid.blockRows();
    }

    private void byPasses(long elements) {
      width = Math.min(grid.columns(), Work.TASK);
      across = Work.count(grid.columns(), width);
      height = Work.rowsOfTask(width);
      down = Work.count(Math.min(grid.blockRows(), grid.rows()), height);
      int downAll = Work.toInt("x", grid.batch() * grid.gridRows() * down, "pieces of bands");
      int parts = Work.toInt("x", (long) downAll * across, "pieces of bands");
      whole = open(0, Work.toInt("spec", grid.scales(), "scales"));
      try {
        whole.zero();
        workers.run(parts, amaxTask);
        whole.scales();
        int tasks = Work.tasks(elements);
        pieces = Work.piecesOfTask(tasks);
        workers.run(Math.ceilDiv(tasks, pieces), elementTask);
      } finally {
        close(whole);
        whole = null;
      }
    }

    /** The amax of blocks in a piece of a band; results are merged as they come. */
    private void amaxOfPiece(int task) {
      long band = task / across / down;
      long firstRow = rowOf(band) + (long) (task / across % down) * height;
      long endRow = Math.min(rowOf(band + 1), firstRow + height);
      long firstColumn = task % across * width;
      long endColumn = Math.min(grid.columns(), firstColumn + width);
      long firstScale = band * grid.gridColumns() + firstColumn / grid.blockColumns();
      long lastScale = band * grid.gridColumns() + (endColumn - 1) / grid.blockColumns();
      BlockPass pass = open(firstScale, (int) (lastScale - firstScale + 1));
      try {
        pass.amax(firstRow, endRow, firstColumn, endColumn, true);
        whole.merge(pass);
      } finally {
        close(pass);
      }
    }

    private void elements(int task) {
      long elements = target.shape().elements();
      long end = Math.min(elements, (task + 1L) * pieces * Work.TASK);
      ReadAhead ahead = spares.take();
      try {
        boolean cold = true;
        for (long at = (long) task * pieces * Work.TASK; at < end; at += Work.TASK) {
          whole.elements(at, Math.min(end, at + Work.TASK), cold, ahead);
          cold = !whole.readsAhead();
        }
      } finally {
        spares.give(ahead);
      }
    }
  }
}
