package dev.minifloat.codec;

import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.util.Arrays;

/**
 * How a {@link Scaling} tiles a tensor: {@code batch} matrices of {@code rows × columns} elements,
 * each cut into blocks of {@code blockRows × blockColumns}, in row-major order.
 *
 * <p>Scales lie in row-major order of [batch, gridRows, gridColumns]. {@link Scaling#tensor()}
 * counts as one matrix whose rows are all rows of the tensor; {@link Scaling#none()} as one block
 * without a scale.
 *
 * @param scales number of scales
 * @param batch number of matrices
 * @param rows rows of a matrix
 * @param columns columns of a matrix
 * @param blockRows rows of a block, at least 1
 * @param blockColumns columns of a block, at least 1
 * @param gridRows blocks from top to bottom of a matrix
 * @param gridColumns blocks from left to right of a matrix
 * @param shape the scales' own shape: the tensor's, with the last two extents replaced by the
 *     grid's
 */
public record ScaleGrid(
    long scales,
    long batch,
    long rows,
    long columns,
    long blockRows,
    long blockColumns,
    long gridRows,
    long gridColumns,
    Shape shape) {

  /** The grid of a scaling over a shape. */
  public static ScaleGrid of(Scaling scaling, Shape shape) {
    long rows = shape.rows();
    long columns = shape.columns();
    return switch (scaling) {
      case Scaling.None _ -> whole(shape, 0);
      case Scaling.PerTensor _ -> whole(shape, 1);
      case Scaling.Rows _ -> tiled(shape, 1, Math.max(1, columns), rows, 1);
      case Scaling.Columns _ -> tiled(shape, Math.max(1, rows), 1, 1, columns);
      case Scaling.Block(int r, int c) -> tiled(shape, r, c);
      case Scaling.Mx _ -> tiled(shape, 1, Scaling.Mx.BLOCK);
      case Scaling.NvFp4 _ -> tiled(shape, 1, Scaling.NvFp4.BLOCK);
    };
  }

  private static ScaleGrid whole(Shape shape, long scales) {
    long rows = shape.batch() * shape.rows();
    return new ScaleGrid(
        scales,
        1,
        rows,
        shape.columns(),
        Math.max(1, rows),
        Math.max(1, shape.columns()),
        1,
        1,
        scales == 0 ? Shape.of(0) : Shape.SCALAR);
  }

  private static ScaleGrid tiled(Shape shape, long blockRows, long blockColumns) {
    return tiled(
        shape,
        blockRows,
        blockColumns,
        Math.ceilDiv(shape.rows(), blockRows),
        Math.ceilDiv(shape.columns(), blockColumns));
  }

  private static ScaleGrid tiled(
      Shape shape, long blockRows, long blockColumns, long gridRows, long gridColumns) {
    return new ScaleGrid(
        shape.batch() * gridRows * gridColumns,
        shape.batch(),
        shape.rows(),
        shape.columns(),
        blockRows,
        blockColumns,
        gridRows,
        gridColumns,
        scaleShape(shape, gridRows, gridColumns));
  }

  private static Shape scaleShape(Shape shape, long gridRows, long gridColumns) {
    if (shape.rank() < 2) {
      return shape.rank() == 0 ? Shape.of(gridRows * gridColumns) : Shape.of(gridColumns);
    }
    long[] dims = Arrays.copyOf(shape.dims(), shape.rank());
    dims[dims.length - 2] = gridRows;
    dims[dims.length - 1] = gridColumns;
    return Shape.of(dims);
  }

  /** Index of the scale of the element at {@code (row, column)} of matrix {@code b}. */
  public long index(long b, long row, long column) {
    return (b * gridRows + row / blockRows) * gridColumns + column / blockColumns;
  }

  /** Index of the scale of the element with row-major index {@code element}. */
  public long indexOf(long element) {
    long row = element / columns;
    return index(row / rows, row % rows, element % columns);
  }
}
