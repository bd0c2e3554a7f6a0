package dev.minifloat.cuda.internal.plan;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.kernels.ParameterType;
import java.lang.foreign.MemorySegment;

/** Scale grids as kernels take them: {@code Grid} of view.cuh, whose extents are at least 1. */
final class Grids {
  private static final long ROWS = offset("rows");
  private static final long COLUMNS = offset("columns");
  private static final long BLOCK_ROWS = offset("blockRows");
  private static final long BLOCK_COLUMNS = offset("blockColumns");
  private static final long GRID_ROWS = offset("gridRows");
  private static final long GRID_COLUMNS = offset("gridColumns");

  private Grids() {}

  private static long offset(String member) {
    return ParameterType.GRID.layout().byteOffset(groupElement(member));
  }

  /** Writes the struct. */
  static void write(ScaleGrid grid, MemorySegment to, long at) {
    to.set(JAVA_LONG, at + ROWS, Math.max(1, grid.rows()));
    to.set(JAVA_LONG, at + COLUMNS, Math.max(1, grid.columns()));
    to.set(JAVA_LONG, at + BLOCK_ROWS, Math.max(1, grid.blockRows()));
    to.set(JAVA_LONG, at + BLOCK_COLUMNS, Math.max(1, grid.blockColumns()));
    to.set(JAVA_LONG, at + GRID_ROWS, Math.max(1, grid.gridRows()));
    to.set(JAVA_LONG, at + GRID_COLUMNS, Math.max(1, grid.gridColumns()));
  }
}
