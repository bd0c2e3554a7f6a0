package dev.minifloat.cuda.internal.driver;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.DType;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * What a tensor map tells a kernel's copies: how the matrices of an operand lie, K innermost, and
 * how large the boxes are that are copied (CUDA Driver API, {@code cuTensorMapEncodeTiled}). What
 * lies beyond an extent comes as zeros; rows are swizzled over 128 bytes.
 *
 * @param dtype of the elements: F16, BF16, F8_E4M3 or F8_E5M2; F4_E2M1, of which two are a column
 * @param address of the first one, a multiple of 16
 * @param columns elements of K
 * @param rows of a matrix
 * @param matrices how many; 1 if all are the same
 * @param rowBytes from one row to the next, a multiple of 16
 * @param matrixBytes from one matrix to the next, a multiple of 16
 * @param boxColumns columns of a box
 * @param boxRows rows of a box
 */
public record TensorBoxes(
    DType dtype,
    long address,
    long columns,
    long rows,
    long matrices,
    long rowBytes,
    long matrixBytes,
    int boxColumns,
    int boxRows) {
  private static final long BYTES = 128;

  // Of CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and
  // CUtensorMapFloatOOBfill.
  private static final int UINT8 = 0;
  private static final int FLOAT16 = 6;
  private static final int BFLOAT16 = 9;
  private static final int NOT_INTERLEAVED = 0;
  private static final int SWIZZLE_128_BYTES = 3;
  private static final int PROMOTE_128_BYTES = 2;
  private static final int FILL_WITH_ZEROS = 0;

  private static final int RANK = 3;

  /** The driver's form of it, in memory of an allocator. */
  MemorySegment encode(PrimaryContext context, SegmentAllocator memory) {
    // Its layout says that 8 would do; cuda.h and the driver say more.
    MemorySegment map = memory.allocate(BYTES, BYTES);
    context.call(
        DriverFunction.cuTensorMapEncodeTiled,
        map,
        type(dtype),
        RANK,
        MemorySegment.ofAddress(address),
        memory.allocateFrom(JAVA_LONG, columns, rows, matrices),
        memory.allocateFrom(JAVA_LONG, rowBytes, matrixBytes),
        memory.allocateFrom(JAVA_INT, boxColumns, boxRows, 1),
        memory.allocateFrom(JAVA_INT, 1, 1, 1),
        NOT_INTERLEAVED,
        SWIZZLE_128_BYTES,
        PROMOTE_128_BYTES,
        FILL_WITH_ZEROS);
    return map;
  }

  private static int type(DType dtype) {
    return switch (dtype) {
      case F16 -> FLOAT16;
      case BF16 -> BFLOAT16;
      case F8_E4M3, F8_E5M2, F4_E2M1 -> UINT8;
      default -> throw new IllegalArgumentException(dtype + " is not copied by tensor maps");
    };
  }
}
