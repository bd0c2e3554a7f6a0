package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.ScaleGrid;
import java.util.Optional;

/**
 * How an operand [batch…, rows, K] whose rows aren't dense becomes one whose rows are: its elements
 * are copied, and its scales turned with it.
 *
 * <pre>
 *   storage [K, rows], as it lies        copy [rows, K]
 *   one scale                            the same
 *   one a column                         one a row: the same scales in the same order
 *   one a block of r × c                 one a block of c × r: the matrix of scales, turned
 * </pre>
 *
 * Scales of MX and NVFP4 belong to elements that lie side by side in the storage, and so do those
 * of a part of a matrix to its place in it: these are not turned.
 *
 * @param from the operand, without the batch if one matrix is repeated
 * @param repeated whether it is
 * @param batch matrices of the operand
 * @param scaling of the copy
 * @param turnsScales whether the scales are copied too, turned
 */
public record Turn(
    DeviceView from, boolean repeated, long batch, Scaling scaling, boolean turnsScales) {
  /** How to turn an operand of at least two dimensions; empty for one that can't be. */
  public static Optional<Turn> of(DeviceView x) {
    int batchRank = x.rank() - 2;
    long batch = 1;
    for (int i = 0; i < batchRank; i++) {
      batch *= x.extent(i);
    }
    boolean repeated = batchRank == 1 && x.stride(0) == 0;
    DeviceView from = repeated ? x.first() : x;
    return switch (x.source().scaling()) {
      case Scaling.None _, Scaling.PerTensor _ ->
          Optional.of(new Turn(from, repeated, batch, x.source().scaling(), false));
      case Scaling.Columns _ ->
          isStorageTurned(from)
              ? Optional.of(new Turn(from, repeated, batch, Scaling.rows(), false))
              : Optional.empty();
      case Scaling.Block(int rows, int columns) ->
          isStorageTurned(from) && areFew(from.source().grid().gridRows())
              ? Optional.of(new Turn(from, repeated, batch, Scaling.block(columns, rows), true))
              : Optional.empty();
      case Scaling.Rows _, Scaling.Mx _, Scaling.NvFp4 _ -> Optional.empty();
    };
  }

  /** Whether a view shows all matrices of its storage, each turned. */
  private static boolean isStorageTurned(DeviceView x) {
    ScaleGrid grid = x.source().grid();
    long batch = x.rank() == 2 ? 1 : x.extent(0);
    return x.rank() <= 3
        && x.offset() == 0
        && x.extent(-1) == grid.rows()
        && x.extent(-2) == grid.columns()
        && x.stride(-1) == grid.columns()
        && x.stride(-2) == 1
        && batch == grid.batch()
        && (batch == 1 || x.stride(0) == grid.rows() * grid.columns());
  }

  /** Rows of a matrix of the copy. */
  public long rows() {
    return from.extent(-2);
  }

  /** Columns of a matrix of the copy. */
  public long columns() {
    return from.extent(-1);
  }

  /** Matrices that are copied. */
  public long matrices() {
    return repeated ? 1 : batch;
  }

  /** Bytes of the copy's elements. */
  public long dataBytes() {
    return from.source().dtype().byteSize(matrices() * rows() * columns());
  }

  /** Scales that are copied; 0 if they serve as they are. */
  public long scales() {
    return turnsScales ? from.source().grid().scales() : 0;
  }

  /** Address of the scales, as they lie. */
  public long scalesAddress() {
    return from.source().scales();
  }

  /** Rows and columns of a matrix of scales, as they lie. */
  public Shape scaleGrid() {
    ScaleGrid grid = from.source().grid();
    return Shape.of(grid.gridRows(), grid.gridColumns());
  }

  /** Whether the kernel for transposing takes it; another copies any view, element by element. */
  public boolean isPlain() {
    DType dtype = from.source().dtype();
    return dtype.bits() >= 8 && from.stride(-2) == 1 && from.rank() <= 3 && areFew(columns());
  }

  /** Whether the kernel for transposing, which takes 32 rows at a time, has CTAs for so many. */
  private static boolean areFew(long rows) {
    return Math.ceilDiv(rows, 32L) <= LaunchGrid.MAX_YZ;
  }

  /**
   * The copy, once it is made.
   *
   * @param data address of its elements
   * @param scales address of its scales, where they are turned
   */
  public DeviceView to(long data, long scales) {
    DeviceView.Source source = from.source();
    Shape shape = Shape.of(matrices(), rows(), columns());
    return DeviceView.rowMajor(
        new DeviceView.Source(
            data,
            turnsScales ? scales : source.scales(),
            source.global(),
            source.dtype(),
            scaling,
            scaling.grid(shape)),
        batch,
        repeated,
        rows(),
        columns());
  }
}
