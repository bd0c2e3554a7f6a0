package dev.minifloat;

import dev.minifloat.codec.ScaleGrid;

/**
 * Which elements of a tensor share a scale, and in what format scales are kept.
 *
 * <p>"Scale" always means the factor that decodes: value = scale × element. The last two dimensions
 * of a tensor are its rows and columns; each matrix of the leading (batch) dimensions has scales of
 * its own, except with {@link PerTensor}. Blocks at the right and lower edges may be short.
 */
public sealed interface Scaling {
  /** No scales: an element is its value. */
  static Scaling none() {
    return None.INSTANCE;
  }

  /** One F32 scale. */
  static Scaling tensor() {
    return PerTensor.INSTANCE;
  }

  /** One F32 scale a row: shape [batch…, rows, 1]. */
  static Scaling rows() {
    return Rows.INSTANCE;
  }

  /** One F32 scale a column: shape [batch…, 1, columns]. */
  static Scaling columns() {
    return Columns.INSTANCE;
  }

  /**
   * One F32 scale for each block of {@code rows} × {@code columns} elements.
   *
   * @throws IllegalArgumentException if one is not positive
   */
  static Scaling block(int rows, int columns) {
    return new Block(rows, columns);
  }

  /** One E8M0 scale for each 32 elements of a row: OCP Microscaling Formats 1.0 §5. */
  static Scaling mx() {
    return Mx.INSTANCE;
  }

  /** One E4M3 scale for each 16 elements of a row, times one F32 for the tensor. */
  static Scaling nvfp4() {
    return NvFp4.INSTANCE;
  }

  /** The format of the scales; {@link #none()} says F32 and has no scale. */
  default DType scaleDType() {
    return switch (this) {
      case Mx _ -> DType.F8_E8M0;
      case NvFp4 _ -> DType.F8_E4M3;
      case None _, PerTensor _, Rows _, Columns _, Block _ -> DType.F32;
    };
  }

  /** Whether elements of {@code dtype} may be scaled this way. */
  default boolean isValidFor(DType dtype) {
    return switch (this) {
      case None _ -> true;
      case NvFp4 _ -> dtype == DType.F4_E2M1;
      case Mx _ -> dtype.isFloat() && dtype.bits() <= 8 && dtype != DType.F8_E8M0;
      case PerTensor _, Rows _, Columns _, Block _ -> dtype.bits() <= 8 && dtype != DType.F8_E8M0;
    };
  }

  /** How this scaling tiles a tensor of the given shape. */
  default ScaleGrid grid(Shape shape) {
    return ScaleGrid.of(this, shape);
  }

  /**
   * The scaling of a name: {@code none}, {@code tensor}, {@code rows}, {@code columns}, {@code
   * block(R,C)} or {@code RxC}, {@code mx}, {@code nvfp4}; case ignored.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  static Scaling parse(String name) {
    return ScalingNames.parse(name);
  }

  /** See {@link Scaling#none}. */
  enum None implements Scaling {
    /** The one instance. */
    INSTANCE;

    @Override
    public String toString() {
      return "none";
    }
  }

  /** See {@link Scaling#tensor}. */
  enum PerTensor implements Scaling {
    /** The one instance. */
    INSTANCE;

    @Override
    public String toString() {
      return "tensor";
    }
  }

  /** See {@link Scaling#rows}. */
  enum Rows implements Scaling {
    /** The one instance. */
    INSTANCE;

    @Override
    public String toString() {
      return "rows";
    }
  }

  /** See {@link Scaling#columns}. */
  enum Columns implements Scaling {
    /** The one instance. */
    INSTANCE;

    @Override
    public String toString() {
      return "columns";
    }
  }

  /**
   * See {@link Scaling#block}.
   *
   * @param rows rows of a block
   * @param columns columns of a block
   */
  record Block(int rows, int columns) implements Scaling {
    /** Checks the extents. */
    public Block {
      if (rows < 1 || columns < 1) {
        throw new IllegalArgumentException(
            "block: " + rows + " × " + columns + " is not a block; both extents must be positive");
      }
    }

    @Override
    public String toString() {
      return "block(" + rows + "," + columns + ")";
    }
  }

  /** See {@link Scaling#mx}. */
  enum Mx implements Scaling {
    /** The one instance. */
    INSTANCE;

    /** Elements of a row that share a scale. */
    public static final int BLOCK = 32;

    @Override
    public String toString() {
      return "mx";
    }
  }

  /** See {@link Scaling#nvfp4}. */
  enum NvFp4 implements Scaling {
    /** The one instance. */
    INSTANCE;

    /** Elements of a row that share a scale. */
    public static final int BLOCK = 16;

    @Override
    public String toString() {
      return "nvfp4";
    }
  }
}
