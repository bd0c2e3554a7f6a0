package dev.minifloat;

import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A tensor in host memory: element type, shape, scaling, and the segments that hold elements and
 * scales. Nothing is copied and nothing owned: the memory is the caller's, heap or native, of any
 * alignment, and may be memory-mapped and read-only.
 *
 * <p>Elements lie in row-major order, packed as {@link DType} says; scales in the row-major order
 * of {@link ScaleGrid}. Reading one element at a time is exact and slow; backends do the rest.
 */
public final class HostTensor {
  /** The most bytes that are asked for at all. */
  private static final long LARGEST = 1L << 60;

  private final DType dtype;
  private final Shape shape;
  private final Scaling scaling;
  private final ScaleGrid grid;
  private final MemorySegment data;
  private final MemorySegment scales;
  private final float globalScale;

  private HostTensor(
      DType dtype,
      Shape shape,
      Scaling scaling,
      MemorySegment data,
      MemorySegment scales,
      float globalScale) {
    this.dtype = Objects.requireNonNull(dtype, "dtype");
    this.shape = Objects.requireNonNull(shape, "shape");
    this.scaling = Objects.requireNonNull(scaling, "scaling");
    if (!scaling.isValidFor(dtype)) {
      throw new IllegalArgumentException(
          "scaling: " + dtype + " has no scaling \"" + scaling + "\"");
    }
    this.grid = scaling.grid(shape);
    this.data = sized("data", data, dtype.byteSize(shape.elements()));
    this.scales = sized("scales", scales, scaling.scaleDType().byteSize(grid.scales()));
    this.globalScale = globalScale;
  }

  private MemorySegment sized(String name, MemorySegment segment, long bytes) {
    Objects.requireNonNull(segment, name);
    if (segment.byteSize() < bytes) {
      throw new IllegalArgumentException(
          "%s: %d bytes, but %s %s with scaling %s needs %d"
              .formatted(name, segment.byteSize(), dtype, shape, scaling, bytes));
    }
    return segment.asSlice(0, bytes);
  }

  /**
   * Wraps elements without scales.
   *
   * @throws IllegalArgumentException if {@code data} is too short
   */
  public static HostTensor wrap(DType dtype, Shape shape, MemorySegment data) {
    return new HostTensor(dtype, shape, Scaling.none(), data, MemorySegment.NULL, 1);
  }

  /**
   * Wraps elements and their scales.
   *
   * @param scales as many as {@code scaling.grid(shape).scales()}, of {@link Scaling#scaleDType()}
   * @throws IllegalArgumentException if a segment is too short or the dtype can't be scaled so
   */
  public static HostTensor wrap(
      DType dtype, Shape shape, Scaling scaling, MemorySegment data, MemorySegment scales) {
    return new HostTensor(dtype, shape, scaling, data, scales, 1);
  }

  /** Wraps NVFP4 elements, their E4M3 block scales and the tensor's own scale. */
  public static HostTensor wrapNvfp4(
      Shape shape, MemorySegment data, MemorySegment scales, float globalScale) {
    return new HostTensor(DType.F4_E2M1, shape, Scaling.nvfp4(), data, scales, globalScale);
  }

  /** F32 values in a Java array, wrapped: {@code of(values, 2, 3)} is a 2 × 3 matrix. */
  public static HostTensor of(float[] values, long... dims) {
    Objects.requireNonNull(values, "values");
    return wrap(DType.F32, exactly(values.length, dims), MemorySegment.ofArray(values));
  }

  /** I32 values in a Java array, wrapped. */
  public static HostTensor of(int[] values, long... dims) {
    Objects.requireNonNull(values, "values");
    return wrap(DType.I32, exactly(values.length, dims), MemorySegment.ofArray(values));
  }

  private static Shape exactly(int length, long[] dims) {
    Objects.requireNonNull(dims, "dims");
    Shape shape = dims.length == 0 ? Shape.of(length) : Shape.of(dims);
    if (shape.elements() != length) {
      throw new IllegalArgumentException(
          "values: " + length + " of them don't fill shape " + shape);
    }
    return shape;
  }

  /**
   * Zeroed memory of {@code arena} for a tensor; 64-byte aligned.
   *
   * @throws MinifloatException if the system or the JVM's limit has no more
   */
  public static HostTensor allocate(Arena arena, DType dtype, Shape shape, Scaling scaling) {
    return allocate(arena, dtype, shape, scaling, 1);
  }

  /** As {@link #allocate(Arena, DType, Shape, Scaling)}, with NVFP4's scale of the tensor. */
  public static HostTensor allocate(
      Arena arena, DType dtype, Shape shape, Scaling scaling, float globalScale) {
    Objects.requireNonNull(arena, "arena");
    Objects.requireNonNull(dtype, "dtype");
    Objects.requireNonNull(shape, "shape");
    Objects.requireNonNull(scaling, "scaling");
    long scaleBytes = scaling.scaleDType().byteSize(scaling.grid(shape).scales());
    long dataBytes = dtype.byteSize(shape.elements());
    long wanted = dataBytes + scaleBytes;
    if (wanted < 0 || wanted > LARGEST) {
      throw refused(dtype, shape, wanted, "it is more than any machine has", null);
    }
    try {
      return new HostTensor(
          dtype,
          shape,
          scaling,
          arena.allocate(dataBytes, 64),
          arena.allocate(scaleBytes, 64),
          globalScale);
    } catch (OutOfMemoryError e) {
      throw refused(dtype, shape, wanted, e.getMessage(), e);
    }
  }

  private static MinifloatException refused(
      DType dtype, Shape shape, long bytes, String reason, OutOfMemoryError cause) {
    return new MinifloatException(
        ("Can't allocate %s bytes of native memory for %s %s: %s;"
                + " close tensors that are done with, or raise -XX:MaxDirectMemorySize")
            .formatted(Long.toUnsignedString(bytes), dtype, shape, reason),
        cause);
  }

  /** The element type. */
  public DType dtype() {
    return dtype;
  }

  /** The extents. */
  public Shape shape() {
    return shape;
  }

  /** Which elements share a scale. */
  public Scaling scaling() {
    return scaling;
  }

  /** How the scaling tiles the shape. */
  public ScaleGrid grid() {
    return grid;
  }

  /** The packed elements, exactly as long as they need. */
  public MemorySegment data() {
    return data;
  }

  /** The scales, exactly as long as they need; empty without scaling. */
  public MemorySegment scales() {
    return scales;
  }

  /** NVFP4's F32 factor of the whole tensor; 1 for every other scaling. */
  public float globalScale() {
    return globalScale;
  }

  /** Bytes of elements and scales together. */
  public long byteSize() {
    return data.byteSize()
        + scales.byteSize()
        + (scaling instanceof Scaling.NvFp4 ? Float.BYTES : 0);
  }

  /** The code of the element with row-major index {@code index}. */
  public int code(long index) {
    return PackedElements.get(dtype, data, Objects.checkIndex(index, shape.elements()));
  }

  /** The decoded scale of an element, NVFP4's two levels multiplied; 1 without scaling. */
  public float scale(long index) {
    Objects.checkIndex(index, shape.elements());
    if (grid.scales() == 0) {
      return 1;
    }
    int code = PackedElements.get(scaling.scaleDType(), scales, grid.indexOf(index));
    float scale = Codec.decode(scaling.scaleDType(), code);
    return scaling instanceof Scaling.NvFp4 ? canonical(scale * globalScale) : scale;
  }

  /**
   * The value of an element: its code decoded, times its scale, rounded to F32 once. A NaN that was
   * scaled is the canonical one; without scaling it keeps its sign.
   */
  public float get(long index) {
    float element = Codec.decode(dtype, code(index));
    return grid.scales() == 0 ? element : canonical(scale(index) * element);
  }

  private static float canonical(float x) {
    return Float.isNaN(x) ? Float.NaN : x;
  }

  /**
   * All values in row-major order.
   *
   * @throws IllegalArgumentException if there are more than a Java array holds
   */
  public float[] toFloats() {
    float[] values = new float[arrayLength()];
    for (int i = 0; i < values.length; i++) {
      values[i] = get(i);
    }
    return values;
  }

  /**
   * All values of an integer tensor in row-major order.
   *
   * @throws IllegalArgumentException if the elements aren't integers, or are too many for an array
   */
  public int[] toInts() {
    if (!dtype.isInteger()) {
      throw new IllegalArgumentException("dtype: " + dtype + " holds no integers");
    }
    int[] values = new int[arrayLength()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (int) Codec.decodeDouble(dtype, code(i));
    }
    return values;
  }

  private int arrayLength() {
    if (shape.elements() > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException(
          "shape: " + shape + " has more elements than an array can hold");
    }
    return (int) shape.elements();
  }

  @Override
  public String toString() {
    return dtype + " " + shape + (scaling instanceof Scaling.None ? "" : " scaled by " + scaling);
  }
}
