package dev.minifloat.cuda.internal.plan;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.UnsupportedOpException;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.kernels.ParameterType;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/**
 * A strided view as kernels take it: {@code View} of view.cuh.
 *
 * <p>Kernels know {@link #MAX_RANK} dimensions; neighbours that lie in memory as one are merged,
 * and extents of 1 left out, but for the last few that a kernel looks at.
 */
public final class DeviceView {
  /** Dimensions that a kernel takes. */
  public static final int MAX_RANK = 8;

  private static final long DATA = offset("data");
  private static final long SCALES = offset("scales");
  private static final long GLOBAL = offset("global");
  private static final long OFFSET = offset("offset");
  private static final long GRID = offset("grid");
  private static final long DTYPE = offset("dtype");
  private static final long SCALE_KIND = offset("scaleKind");
  private static final long RANK = offset("rank");
  private static final long EXTENT = offset("extent");
  private static final long STRIDE = offset("stride");

  private final Source source;
  private final long offset;
  private final long[] extents;
  private final long[] strides;

  /**
   * The memory that a view shows.
   *
   * @param data address of the packed elements; 0 for none
   * @param scales address of the scales; 0 for none
   * @param global address of NVFP4's factor; 0 for none
   * @param dtype element type
   * @param scaling how elements are scaled
   * @param grid which element has which scale
   */
  record Source(long data, long scales, long global, DType dtype, Scaling scaling, ScaleGrid grid) {
    static Source of(TensorView x) {
      DeviceStorage storage = (DeviceStorage) x.storage();
      return new Source(
          storage.data(),
          storage.scales(),
          storage.global(),
          storage.dtype(),
          storage.scaling(),
          storage.grid());
    }

    boolean isUnscaled() {
      return scaling instanceof Scaling.None;
    }
  }

  private DeviceView(Source source, long offset, long[] extents, long[] strides) {
    this.source = source;
    this.offset = offset;
    this.extents = extents;
    this.strides = strides;
  }

  private static long offset(String member) {
    return ParameterType.VIEW.layout().byteOffset(groupElement(member));
  }

  /**
   * A view of a tensor.
   *
   * @param kept how many of the last dimensions are left as they are; extents of 1 are put before a
   *     tensor that has fewer
   * @throws UnsupportedOpException if more dimensions than kernels take can't be merged
   */
  public static DeviceView of(TensorView x, int kept) {
    int rank = x.shape().rank();
    long[] extents = new long[rank + kept];
    long[] strides = new long[rank + kept];
    int n = 0;
    for (int missing = rank; missing < kept; missing++) {
      extents[n++] = 1;
    }
    for (int i = 0; i < rank; i++) {
      long extent = x.shape().dim(i);
      long stride = x.stride(i);
      boolean free = i < rank - kept;
      if (free && extent == 1) {
        continue;
      }
      if (free && n > 0 && strides[n - 1] == stride * extent) {
        extents[n - 1] *= extent;
        strides[n - 1] = stride;
      } else {
        extents[n] = extent;
        strides[n++] = stride;
      }
    }
    if (n > MAX_RANK) {
      throw new UnsupportedOpException(
          ("A view of %s has %d dimensions that don't lie in memory as one, and kernels take %d;"
                  + " copy parts of it")
              .formatted(x, n, MAX_RANK));
    }
    return new DeviceView(
        Source.of(x), x.offset(), Arrays.copyOf(extents, n), Arrays.copyOf(strides, n));
  }

  /** A row-major matrix, or several one behind the other, of a source. */
  static DeviceView rowMajor(Source source, long batch, boolean repeated, long rows, long columns) {
    return new DeviceView(
        source,
        0,
        new long[] {batch, rows, columns},
        new long[] {repeated ? 0 : rows * columns, columns, 1});
  }

  /** A row-major matrix, or several one behind the other, of which no memory is known yet. */
  public static DeviceView planned(DType dtype, Scaling scaling, Shape shape) {
    Source source = new Source(0, 0, 0, dtype, scaling, scaling.grid(shape));
    return rowMajor(source, shape.batch(), false, shape.rows(), shape.columns());
  }

  /** The same matrices, rows as columns. */
  public DeviceView transposed() {
    long[] turnedExtents = extents.clone();
    long[] turnedStrides = strides.clone();
    int n = extents.length;
    turnedExtents[n - 1] = extents[n - 2];
    turnedExtents[n - 2] = extents[n - 1];
    turnedStrides[n - 1] = strides[n - 2];
    turnedStrides[n - 2] = strides[n - 1];
    return new DeviceView(source, offset, turnedExtents, turnedStrides);
  }

  /** A vector, or what a kernel takes for one that there isn't. */
  public static DeviceView ofNullable(TensorView vector) {
    return vector == null ? absent() : of(vector, 1);
  }

  /** What a kernel takes for a tensor that there isn't. */
  public static DeviceView absent() {
    Source none = new Source(0, 0, 0, DType.F32, Scaling.none(), null);
    return new DeviceView(none, 0, new long[] {1}, new long[1]);
  }

  /** This vector as each of {@code rows} rows. */
  public DeviceView repeated(long rows) {
    long columns = extents.length == 0 ? 1 : extents[extents.length - 1];
    long stride = strides.length == 0 ? 0 : strides[strides.length - 1];
    return new DeviceView(source, offset, new long[] {rows, columns}, new long[] {0, stride});
  }

  /** The first of its matrices. */
  DeviceView first() {
    int n = extents.length;
    return new DeviceView(
        source,
        offset,
        Arrays.copyOfRange(extents, n - 2, n),
        Arrays.copyOfRange(strides, n - 2, n));
  }

  /** Number of its elements. */
  public long elements() {
    long elements = 1;
    for (long extent : extents) {
      elements *= extent;
    }
    return elements;
  }

  /** Element type. */
  public DType dtype() {
    return source.dtype();
  }

  /** The memory it shows. */
  Source source() {
    return source;
  }

  /** Number of dimensions. */
  public int rank() {
    return extents.length;
  }

  /** Storage index of its first element. */
  long offset() {
    return offset;
  }

  /** Extent of a dimension; negative ones count from the end. */
  public long extent(int dim) {
    return extents[dim < 0 ? dim + extents.length : dim];
  }

  /** Elements of the storage from one index of a dimension to the next. */
  public long stride(int dim) {
    return strides[dim < 0 ? dim + strides.length : dim];
  }

  /** Address of its first element, whose type has 8 bits or more. */
  public long address() {
    return source.data() + offset * source.dtype().bits() / 8;
  }

  /** Whether elements of a row lie side by side. */
  public boolean isDense() {
    return extent(-1) <= 1 || stride(-1) == 1;
  }

  /**
   * Whether rows are dense, and their scales constant over each {@code granule} elements, counted
   * from a row's first: what kernels want that multiply a granule before its scale.
   */
  boolean hasGranules(int granule) {
    return refusesGranules("", granule).isEmpty();
  }

  /**
   * Why it doesn't have granules; empty if it has.
   *
   * @param name what to call it
   */
  Optional<Refusal> refusesGranules(String name, int granule) {
    if (!isDense()) {
      return Optional.of(
          Refusal.of("wants K side by side, and in %s it lies %,d apart", name, stride(-1)));
    }
    long depth = extent(-1);
    if (source.isUnscaled() || source.scaling() instanceof Scaling.PerTensor || depth == 0) {
      return Optional.empty();
    }
    ScaleGrid grid = source.grid();
    long first = offset % grid.columns();
    boolean atSameColumn = true;
    for (int i = 0; i < extents.length - 1; i++) {
      atSameColumn &= extents[i] <= 1 || strides[i] % grid.columns() == 0;
    }
    if (!atSameColumn || first + depth > grid.columns()) {
      return Optional.of(Refusal.of("rows of %s aren't parts of rows that have scales", name));
    }
    long block =
        source.scaling() instanceof Scaling.NvFp4 ? Scaling.NvFp4.BLOCK : grid.blockColumns();
    long inBlock = first % block;
    boolean fits =
        source.scaling() instanceof Scaling.NvFp4
            ? inBlock == 0
            : inBlock + depth <= block || (inBlock == 0 && block % granule == 0);
    return fits
        ? Optional.empty()
        : Optional.of(
            Refusal.of(
                "wants one scale for each %d of K, and blocks of %s have %d, from %d on",
                granule, name, block, inBlock));
  }

  /**
   * Why its scales aren't of whole blocks: one for all of K in each row, or blocks of {@code depth}
   * of K of which each {@code rows} rows, counted from the first, have the same; empty if they are.
   *
   * @param name what to call it
   */
  Optional<Refusal> refusesBlocks(String name, int rows, int depth) {
    if (source.isUnscaled() || source.scaling() instanceof Scaling.PerTensor) {
      return Optional.empty();
    }
    ScaleGrid grid = source.grid();
    long first = offset % grid.columns();
    if (first % grid.blockColumns() + extent(-1) <= grid.blockColumns()) {
      return Optional.empty();
    }
    if (grid.blockColumns() != depth) {
      return Optional.of(
          Refusal.of(
              "wants blocks of %d of K, and those of %s have %d",
              depth, name, grid.blockColumns()));
    }
    long firstRow = offset / grid.columns() % grid.rows();
    boolean apart = extent(-2) > 1 && stride(-2) != grid.columns();
    boolean elsewhere =
        rank() > 2 && extent(-3) > 1 && stride(-3) % (grid.rows() * grid.columns()) != 0;
    boolean ragged = grid.blockRows() % rows != 0 || firstRow % rows != 0;
    return rows > 1 && (ragged || apart || elsewhere)
        ? Optional.of(
            Refusal.of("wants the same scale for each %d rows of %s that it takes", rows, name))
        : Optional.empty();
  }

  /** Writes the struct. */
  void write(MemorySegment to, long at) {
    to.set(JAVA_LONG, at + DATA, source.data());
    to.set(JAVA_LONG, at + SCALES, source.scales());
    to.set(JAVA_LONG, at + GLOBAL, source.global());
    to.set(JAVA_LONG, at + OFFSET, offset);
    if (source.grid() != null) {
      Grids.write(source.grid(), to, at + GRID);
    }
    to.set(JAVA_INT, at + DTYPE, Codes.of(source.dtype()));
    to.set(JAVA_INT, at + SCALE_KIND, scaleKind(source.scaling()));
    to.set(JAVA_INT, at + RANK, extents.length);
    for (int i = 0; i < extents.length; i++) {
      to.set(JAVA_LONG, at + EXTENT + i * 8L, extents[i]);
      to.set(JAVA_LONG, at + STRIDE + i * 8L, strides[i]);
    }
  }

  /** {@code ScaleKind} of view.cuh. */
  private static int scaleKind(Scaling scaling) {
    return switch (scaling) {
      case Scaling.None _ -> 0;
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ -> 1;
      case Scaling.Mx _ -> 2;
      case Scaling.NvFp4 _ -> 3;
    };
  }

  @Override
  public String toString() {
    return source.dtype()
        + " "
        + Arrays.toString(extents)
        + ", strides "
        + Arrays.toString(strides)
        + ", scaled by "
        + source.scaling();
  }
}
