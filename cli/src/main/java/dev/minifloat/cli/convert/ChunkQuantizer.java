package dev.minifloat.cli.convert;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.formats.StorageType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Quantizes rows of a tensor as if the whole tensor were quantized at once.
 *
 * <p>Scales that span all rows (tensor, columns, NVFP4's scale of the tensor) follow from values
 * that a chunk hasn't got. So a row is appended to the chunk that holds the largest value of the
 * tensor, or of each column: the chunk's scales then are the tensor's, on any backend and to the
 * bit. The row is dropped from the result.
 */
public final class ChunkQuantizer {
  private final Backend backend;
  private final QuantSpec spec;
  private final RowSource source;

  /** For one tensor. */
  public ChunkQuantizer(Backend backend, QuantSpec spec, RowSource source) {
    this.backend = backend;
    this.spec = spec;
    this.source = source;
  }

  /**
   * What became of some rows. The segments live until the arena's next reuse.
   *
   * @param rows the rows
   * @param data their elements, packed
   * @param scales their scales; with one scale for the tensor or a column, all of them
   * @param globalScale NVFP4's scale of the tensor, otherwise 1
   * @param before the values in F32
   * @param after what they decode to, in F32
   */
  public record Result(
      long rows,
      MemorySegment data,
      MemorySegment scales,
      float globalScale,
      MemorySegment before,
      MemorySegment after) {}

  /**
   * Quantizes some rows of one matrix.
   *
   * @param amax the row to append, of the source's type; null if no scale spans all rows
   * @param arena where results go
   */
  public Result quantize(long firstRow, long rows, MemorySegment amax, Arena arena) {
    long columns = source.columns();
    MemorySegment values = values(firstRow, rows, amax, arena);
    Shape shape = Shape.of(amax == null ? rows : rows + 1, columns);
    HostTensor host = HostTensor.wrap(source.dtype(), shape, values);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(host);
      Tensor q;
      if (isExactlyScalar()) {
        HostTensor scalar = scalar(scope, x, firstRow, rows, arena);
        q = scope.upload(scalar);
      } else {
        q = quantized(scope, x, spec.rounding());
      }
      HostTensor result = scope.download(q, arena);
      HostTensor after = scope.download(scope.dequantize(q), arena);
      MemorySegment before =
          source.dtype() == DType.F32 ? values : scope.download(scope.dequantize(x), arena).data();
      return new Result(
          rows,
          result.data().asSlice(0, spec.dtype().byteSize(rows * columns)),
          result.scales().asSlice(0, scaleBytes(rows)),
          result.globalScale(),
          before.asSlice(0, rows * columns * 4),
          after.data().asSlice(0, rows * columns * 4));
    }
  }

  private Tensor quantized(Scope scope, Tensor x, Rounding rounding) {
    return spec.scaling() instanceof Scaling.None
        ? scope.convert(x, spec.dtype(), rounding, spec.overflow())
        : scope.quantize(x, spec.rounding(rounding));
  }

  /** The rows themselves, and the appended one. */
  private MemorySegment values(long firstRow, long rows, MemorySegment amax, Arena arena) {
    long rowBytes = source.columns() * source.elementSize();
    if (amax == null) {
      MemorySegment target =
          source.isDirect() ? MemorySegment.NULL : arena.allocate(rows * rowBytes, 64);
      return source.read(firstRow, rows, target);
    }
    MemorySegment all = arena.allocate((rows + 1) * rowBytes, 64);
    MemorySegment read = source.read(firstRow, rows, all);
    if (source.isDirect()) {
      all.asSlice(0, rows * rowBytes).copyFrom(read);
    }
    all.asSlice(rows * rowBytes).copyFrom(amax);
    return all;
  }

  /** Bytes of the scales that belong to some rows. */
  private long scaleBytes(long rows) {
    ScaleGrid grid = spec.scaling().grid(Shape.of(rows, source.columns()));
    return spec.scaling().scaleDType().byteSize(grid.scales());
  }

  /**
   * Whether elements are encoded one by one: stochastic rounding draws by an element's place in the
   * whole tensor, and F64 without scaling is rounded from all its bits.
   */
  private boolean isExactlyScalar() {
    return spec.rounding() instanceof Rounding.Stochastic
        || (source.type() == StorageType.F64 && spec.scaling() instanceof Scaling.None);
  }

  /** As the backend, which finds the scales, but with every element encoded here. */
  private HostTensor scalar(Scope scope, Tensor x, long firstRow, long rows, Arena arena) {
    HostTensor result = scope.download(quantized(scope, x, Rounding.NEAREST_EVEN), arena);
    boolean scaled = !(spec.scaling() instanceof Scaling.None);
    long columns = source.columns();
    for (long i = 0; i < rows * columns; i++) {
      double value = source.value(firstRow + i / columns, i % columns);
      // Zeros need no rounding; those of an all-zero block have lost their sign already.
      if (scaled && value != 0 && !Float.isNaN(result.scale(i))) {
        value = (float) value / result.scale(i);
      }
      if (!scaled || (value != 0 && !Float.isNaN(result.scale(i)))) {
        int code =
            Codec.encode(
                spec.dtype(), value, spec.rounding(), spec.overflow(), firstRow * columns + i);
        PackedElements.set(spec.dtype(), result.data(), i, code);
      }
    }
    return result;
  }
}
