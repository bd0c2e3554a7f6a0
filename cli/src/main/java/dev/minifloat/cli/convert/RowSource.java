package dev.minifloat.cli.convert;

import dev.minifloat.DType;
import dev.minifloat.Shape;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.StorageType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A tensor of floats in a file, read by whole rows; perhaps turned, so that its rows are the file's
 * columns.
 *
 * <p>All rows of all matrices are counted through. F32, F16 and BF16 are read as they are, F64 is
 * rounded to F32. Any thread may read.
 */
public final class RowSource {
  /** Rows or columns turned at a time: both sides of the tile stay in the L1 cache. */
  private static final int TILE = 32;

  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final StorageType type;
  private final DType dtype;
  private final Shape shape;
  private final MemorySegment data;
  private final boolean transposed;

  /**
   * A source over a tensor's bytes.
   *
   * @param type F32, F16, BF16 or F64
   * @param shape as in the file
   * @param data as in the file
   * @param transposed whether to read the rows of the transposed matrix; then the rank is 2
   */
  public RowSource(StorageType type, Shape shape, MemorySegment data, boolean transposed) {
    if (!isFloat(type) || (transposed && shape.rank() != 2)) {
      throw new IllegalArgumentException("type: " + type + " " + shape + ", " + transposed);
    }
    this.type = type;
    this.dtype = type == StorageType.F64 ? DType.F32 : type.dtype().orElseThrow();
    this.shape = transposed ? Shape.of(shape.dim(1), shape.dim(0)) : shape;
    this.data = data;
    this.transposed = transposed;
  }

  /** Whether a type can be read here. */
  public static boolean isFloat(StorageType type) {
    return type == StorageType.F32
        || type == StorageType.F16
        || type == StorageType.BF16
        || type == StorageType.F64;
  }

  /** The type in the file. */
  public StorageType type() {
    return type;
  }

  /** The type of what {@link #read} gives. */
  public DType dtype() {
    return dtype;
  }

  /** The shape as it is read. */
  public Shape shape() {
    return shape;
  }

  /** Rows of all matrices together. */
  public long rows() {
    return shape.batch() * shape.rows();
  }

  /** Elements of a row. */
  public long columns() {
    return shape.columns();
  }

  /** Bytes of one element as {@link #read} gives it. */
  public int elementSize() {
    return dtype.bits() / 8;
  }

  /** Whether {@link #read} hands out the file's own memory. */
  public boolean isDirect() {
    return !transposed && type != StorageType.F64;
  }

  /**
   * Some rows, of {@link #dtype}.
   *
   * @param target where to put them, unless {@link #isDirect}; at least as large as they are
   */
  public MemorySegment read(long firstRow, long count, MemorySegment target) {
    long start = firstRow * columns();
    long elements = count * columns();
    if (isDirect()) {
      return data.asSlice(start * elementSize(), elements * elementSize());
    }
    MemorySegment rows = target.asSlice(0, elements * elementSize());
    if (transposed) {
      turn(firstRow, count, rows);
    } else {
      for (long i = 0; i < elements; i++) {
        rows.set(PackedElements.FLOAT, 4 * i, (float) data.get(DOUBLE, 8 * (start + i)));
      }
    }
    return rows;
  }

  /** One element, exactly. */
  public double value(long row, long column) {
    long index = transposed ? column * shape.dim(0) + row : row * columns() + column;
    return type.decode(data, index);
  }

  private void turn(long firstRow, long count, MemorySegment target) {
    long columns = columns();
    long pitch = shape.dim(0);
    for (long c0 = 0; c0 < columns; c0 += TILE) {
      long c1 = Math.min(columns, c0 + TILE);
      for (long r0 = 0; r0 < count; r0 += TILE) {
        long r1 = Math.min(count, r0 + TILE);
        for (long c = c0; c < c1; c++) {
          for (long r = r0; r < r1; r++) {
            move(c * pitch + firstRow + r, r * columns + c, target);
          }
        }
      }
    }
  }

  private void move(long from, long to, MemorySegment target) {
    if (type == StorageType.F64) {
      target.set(PackedElements.FLOAT, 4 * to, (float) data.get(DOUBLE, 8 * from));
    } else if (dtype == DType.F32) {
      target.set(PackedElements.INT, 4 * to, data.get(PackedElements.INT, 4 * from));
    } else {
      target.set(PackedElements.SHORT, 2 * to, data.get(PackedElements.SHORT, 2 * from));
    }
  }

  /** The largest |x| by bits, as F32 bits, of some rows that {@link #read} gave. */
  public int amaxBits(MemorySegment rows) {
    if (dtype == DType.F32) {
      int largest = 0;
      for (long at = 0; at < rows.byteSize(); at += 4) {
        largest = Math.max(largest, rows.get(PackedElements.INT, at) & 0x7FFFFFFF);
      }
      return largest;
    }
    int largest = 0;
    for (long at = 0; at < rows.byteSize(); at += 2) {
      largest = Math.max(largest, rows.get(PackedElements.SHORT, at) & 0x7FFF);
    }
    float value =
        dtype == DType.F16
            ? Float.float16ToFloat((short) largest)
            : Float.intBitsToFloat(largest << 16);
    return Float.floatToRawIntBits(value);
  }

  /** Raises the largest |x| of each column, in the file's own bits, by those of some rows. */
  public void columnAmax(MemorySegment rows, int[] largest) {
    int columns = largest.length;
    long count = columns == 0 ? 0 : rows.byteSize() / elementSize() / columns;
    for (long r = 0; r < count; r++) {
      for (int c = 0; c < columns; c++) {
        long i = r * columns + c;
        int bits =
            dtype == DType.F32
                ? rows.get(PackedElements.INT, 4 * i) & 0x7FFFFFFF
                : rows.get(PackedElements.SHORT, 2 * i) & 0x7FFF;
        largest[c] = Math.max(largest[c], bits);
      }
    }
  }
}
