package dev.minifloat.cli.convert;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import java.lang.foreign.MemorySegment;

/** Counts the values that lie beyond the largest that a format, times their scale, has. */
final class Saturation {
  private Saturation() {}

  /** Counts them in a chunk. */
  static void count(ErrorStats stats, QuantSpec spec, long columns, ChunkQuantizer.Result result) {
    float max = (float) spec.dtype().max();
    MemorySegment before = result.before();
    switch (spec.scaling()) {
      case Scaling.None _ -> stats.countBeyond(before, 0, result.rows() * columns, max);
      case Scaling.Mx _, Scaling.NvFp4 _ -> countBlocks(stats, spec, columns, result);
      // amax / max(format) is the scale, so nothing lies beyond.
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ -> {}
    }
  }

  private static void countBlocks(
      ErrorStats stats, QuantSpec spec, long columns, ChunkQuantizer.Result result) {
    ScaleGrid grid = spec.scaling().grid(Shape.of(result.rows(), columns));
    DType scaleDType = spec.scaling().scaleDType();
    float max = (float) spec.dtype().max();
    for (long s = 0; s < grid.scales(); s++) {
      int code = PackedElements.get(scaleDType, result.scales(), s);
      float scale = Codec.decode(scaleDType, code) * result.globalScale();
      long row = s / grid.gridColumns();
      long column = s % grid.gridColumns() * grid.blockColumns();
      long from = row * columns + column;
      long to = from + Math.min(grid.blockColumns(), columns - column);
      stats.countBeyond(result.before(), from, to, max * scale);
    }
  }
}
