package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A stack of strided matrices in a storage: what a view is to a product. An object shows one
 * operand at a time and is used for the next.
 */
public final class GemmOperand {
  private static final long[] NONE = {};

  private HostStorage storage;
  private long offset;
  private long rows;
  private long columns;
  private long rowStride;
  private long columnStride;
  private int batchRank;
  private long[] batchDims = NONE;
  private long[] batchStrides = NONE;

  /** The matrices of a view of rank 2 or more. */
  static GemmOperand of(TensorView x) {
    return new GemmOperand().show(x);
  }

  /** A vector as a matrix of one row. */
  static GemmOperand rowOf(TensorView x) {
    return new GemmOperand().showRow(x);
  }

  /** Shows the matrices of a view of rank 2 or more. */
  public GemmOperand show(TensorView x) {
    batchRank = x.shape().rank() - 2;
    if (batchDims.length < batchRank) {
      batchDims = new long[batchRank];
      batchStrides = new long[batchRank];
    }
    for (int i = 0; i < batchRank; i++) {
      batchDims[i] = x.shape().dim(i);
      batchStrides[i] = x.stride(i);
    }
    storage = (HostStorage) x.storage();
    offset = x.offset();
    rows = x.shape().rows();
    columns = x.shape().columns();
    rowStride = x.stride(-2);
    columnStride = x.stride(-1);
    return this;
  }

  /** Shows a vector as a matrix of one row. */
  public GemmOperand showRow(TensorView x) {
    batchRank = 0;
    storage = (HostStorage) x.storage();
    offset = x.offset();
    rows = 1;
    columns = x.shape().elements();
    rowStride = 0;
    columnStride = x.stride(0);
    return this;
  }

  /** Shows what another does. */
  public GemmOperand show(GemmOperand x) {
    batchRank = x.batchRank;
    batchDims = Arrays.copyOf(x.batchDims, batchRank);
    batchStrides = Arrays.copyOf(x.batchStrides, batchRank);
    storage = x.storage;
    offset = x.offset;
    rows = x.rows;
    columns = x.columns;
    rowStride = x.rowStride;
    columnStride = x.columnStride;
    return this;
  }

  /** Shows nothing, and keeps nothing alive. */
  public void clear() {
    storage = null;
  }

  /** Where the elements are. */
  public HostStorage storage() {
    return storage;
  }

  /** The element of the storage at which the first matrix begins. */
  public long offset() {
    return offset;
  }

  /** Rows of each matrix. */
  public long rows() {
    return rows;
  }

  /** Columns of each matrix. */
  public long columns() {
    return columns;
  }

  /** Storage elements from a row to the next. */
  public long rowStride() {
    return rowStride;
  }

  /** Storage elements from a column to the next. */
  long columnStride() {
    return columnStride;
  }

  /** Shows each matrix transposed. */
  public GemmOperand transpose() {
    long extent = rows;
    rows = columns;
    columns = extent;
    long stride = rowStride;
    rowStride = columnStride;
    columnStride = stride;
    return this;
  }

  /** Each matrix transposed. */
  GemmOperand transposed() {
    return new GemmOperand().show(this).transpose();
  }

  /** Whether the stack shows the same matrix again and again. */
  public boolean isRepeated() {
    for (int i = 0; i < batchRank; i++) {
      if (batchStrides[i] != 0 && batchDims[i] != 1) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether the rows of the whole stack are evenly spaced, so that it can be seen as one matrix.
   */
  public boolean isStackable() {
    long next = rows * rowStride;
    for (int i = batchRank - 1; i >= 0; i--) {
      if (batchDims[i] != 1 && batchStrides[i] != next) {
        return false;
      }
      next *= batchDims[i];
    }
    return true;
  }

  /** Shows the rows of all matrices as one matrix; only if {@link #isStackable}. */
  public void stack(long matrices) {
    rows *= matrices;
    batchRank = 0;
  }

  /** Shows the one matrix of a stack that {@link #isRepeated}. */
  public void single() {
    batchRank = 0;
  }

  /** Columns {@code from … from + count − 1} of one matrix of the stack. */
  public GemmOperand columns(long matrix, long from, long count) {
    GemmOperand part = new GemmOperand().show(this);
    part.offset = index(matrix, 0, from);
    part.columns = count;
    part.batchRank = 0;
    return part;
  }

  /** Whether the storage indices of the first elements of all rows are multiples of {@code n}. */
  public boolean startsRowsAtMultiplesOf(long n) {
    return offset % n == 0 && stepsRowsByMultiplesOf(n);
  }

  /** Whether from each row to every other it is a multiple of {@code n} storage elements. */
  public boolean stepsRowsByMultiplesOf(long n) {
    for (int i = 0; i < batchRank; i++) {
      if (batchDims[i] != 1 && batchStrides[i] % n != 0) {
        return false;
      }
    }
    return rows == 1 || rowStride % n == 0;
  }

  /** Whether elements of a row are neighbours in the storage. */
  public boolean hasDenseRows() {
    return columnStride == 1 || columns <= 1;
  }

  /** Whether elements of a column are neighbours in the storage. */
  public boolean hasDenseColumns() {
    return rowStride == 1 || rows <= 1;
  }

  /** Whether rows can be read as floats where they are. */
  boolean isPlainF32() {
    return storage.dtype() == DType.F32 && hasDenseRows();
  }

  /** Whether rows can be read as BF16s where they are. */
  boolean isPlainBf16() {
    return storage.dtype() == DType.BF16 && storage.grid().scales() == 0 && hasDenseRows();
  }

  /** Storage index of an element. */
  public long index(long matrix, long row, long column) {
    long at = offset + row * rowStride + column * columnStride;
    for (int i = batchRank - 1; i >= 0 && matrix != 0; i--) {
      at += matrix % batchDims[i] * batchStrides[i];
      matrix /= batchDims[i];
    }
    return at;
  }

  /** Decodes part of a row to {@code count} floats, scales applied. */
  public void decodeRow(
      long matrix, long row, long column, int count, MemorySegment target, long targetByte) {
    long first = index(matrix, row, column);
    if (columnStride == 1 || count == 1) {
      Decoders.decodeScaled(storage, first, count, target, targetByte);
    } else {
      for (int i = 0; i < count; i++) {
        target.set(
            PackedElements.FLOAT,
            targetByte + (long) i * Float.BYTES,
            Views.value(storage, first + i * columnStride));
      }
    }
  }

  /** Decodes the start of a row, of any length, to an array, scales applied. */
  public void decodeRow(
      long matrix, long row, int count, float[] target, int to, PackingBuffers buffers) {
    try (Memory.Block block = buffers.takeRows()) {
      for (int from = 0; from < count; from += PackingBuffers.ROW_FLOATS) {
        int run = Math.min(PackingBuffers.ROW_FLOATS, count - from);
        decodeRow(matrix, row, from, run, block.segment(), 0);
        Packing.copy(block.segment(), 0, target, to + from, run);
      }
    }
  }
}
