package dev.minifloat.cpu.internal;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A stack of strided matrices in a storage: what a view is to a product.
 *
 * @param storage where the elements are
 * @param offset storage index of element (0, 0) of the first matrix
 * @param rows rows of each matrix
 * @param columns columns of each matrix
 * @param rowStride storage elements from a row to the next
 * @param columnStride storage elements from a column to the next
 * @param batchDims extents of the stack
 * @param batchStrides storage elements from a matrix to the next, along each extent
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, hashed or printed
record GemmOperand(
    HostStorage storage,
    long offset,
    long rows,
    long columns,
    long rowStride,
    long columnStride,
    long[] batchDims,
    long[] batchStrides) {

  private static final long[] SINGLE = {};

  /** The matrices of a view of rank 2 or more. */
  static GemmOperand of(TensorView x) {
    int batchRank = x.shape().rank() - 2;
    long[] strides = batchRank == 0 ? SINGLE : new long[batchRank];
    for (int i = 0; i < batchRank; i++) {
      strides[i] = x.stride(i);
    }
    return new GemmOperand(
        (HostStorage) x.storage(),
        x.offset(),
        x.shape().rows(),
        x.shape().columns(),
        x.stride(-2),
        x.stride(-1),
        batchRank == 0 ? SINGLE : Arrays.copyOf(x.shape().dims(), batchRank),
        strides);
  }

  /** A vector as a matrix of one row. */
  static GemmOperand rowOf(TensorView x) {
    long n = x.shape().elements();
    return new GemmOperand(
        (HostStorage) x.storage(), x.offset(), 1, n, 0, x.stride(0), SINGLE, SINGLE);
  }

  /** Each matrix transposed. */
  GemmOperand transposed() {
    return new GemmOperand(
        storage, offset, columns, rows, columnStride, rowStride, batchDims, batchStrides);
  }

  /** Whether the stack shows the same matrix again and again. */
  boolean isRepeated() {
    for (int i = 0; i < batchStrides.length; i++) {
      if (batchStrides[i] != 0 && batchDims[i] != 1) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether the rows of the whole stack are evenly spaced, so that it can be seen as one matrix.
   */
  boolean isStackable() {
    long next = rows * rowStride;
    for (int i = batchStrides.length - 1; i >= 0; i--) {
      if (batchDims[i] != 1 && batchStrides[i] != next) {
        return false;
      }
      next *= batchDims[i];
    }
    return true;
  }

  /** The rows of all matrices as one matrix; only if {@link #isStackable}. */
  GemmOperand stacked(long matrices) {
    return new GemmOperand(
        storage, offset, rows * matrices, columns, rowStride, columnStride, SINGLE, SINGLE);
  }

  /** The one matrix of a stack that {@link #isRepeated}. */
  GemmOperand single() {
    return new GemmOperand(storage, offset, rows, columns, rowStride, columnStride, SINGLE, SINGLE);
  }

  /** Columns {@code from … from + count − 1} of one matrix of the stack. */
  GemmOperand columns(long matrix, long from, long count) {
    return new GemmOperand(
        storage, index(matrix, 0, from), rows, count, rowStride, columnStride, SINGLE, SINGLE);
  }

  /** Whether elements of a row are neighbours in the storage. */
  boolean hasDenseRows() {
    return columnStride == 1 || columns <= 1;
  }

  /** Whether elements of a column are neighbours in the storage. */
  boolean hasDenseColumns() {
    return rowStride == 1 || rows <= 1;
  }

  /** Storage index of an element. */
  long index(long matrix, long row, long column) {
    long at = offset + row * rowStride + column * columnStride;
    for (int i = batchStrides.length - 1; i >= 0 && matrix != 0; i--) {
      at += matrix % batchDims[i] * batchStrides[i];
      matrix /= batchDims[i];
    }
    return at;
  }

  /** Decodes part of a row to {@code count} floats, scales applied. */
  void decodeRow(
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
  void decodeRow(long matrix, long row, int count, float[] target, int to, PackingBuffers buffers) {
    try (Memory.Block block = buffers.takeRows()) {
      for (int from = 0; from < count; from += PackingBuffers.ROW_FLOATS) {
        int run = Math.min(PackingBuffers.ROW_FLOATS, count - from);
        decodeRow(matrix, row, from, run, block.segment(), 0);
        Packing.copy(block.segment(), 0, target, to + from, run);
      }
    }
  }
}
