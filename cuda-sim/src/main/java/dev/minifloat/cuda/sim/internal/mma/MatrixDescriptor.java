package dev.minifloat.cuda.sim.internal.mma;

/**
 * Where {@code wgmma} finds a matrix in shared memory (PTX ISA, "Asynchronous Warpgroup Level
 * Matrix Instructions: Shared Memory Matrix Layout").
 *
 * <pre>
 *   63 62      51 49   45        32   29         16   13         0
 *  | swizzle | | base | | stride / 16 | | leading / 16 | | start / 16 |       the rest is zero
 * </pre>
 *
 * <p>Its unit is eight rows of S bytes, S the swizzle's span (16 without one). Rows run along K if
 * the matrix is K-major, else along M or N:
 *
 * <pre>
 *   K-major     without swizzle   16·(mn % 8) + stride·(mn / 8) + bytes(k) % 16 + leading·(bytes(k) / 16)
 *               with              S·(mn % 8)  + stride·(mn / 8) + bytes(k)
 *   MN-major    without swizzle   16·(k % 8)  + leading·(k / 8) + bytes(mn) % 16 + stride·(bytes(mn) / 16)
 *               with              S·(k % 8)   + stride·(k / 8)  + bytes(mn) % S + leading·(bytes(mn) / S)
 * </pre>
 *
 * <p>Then bits 4–6 of the address, as many as the span has, are changed by bits 7–9.
 *
 * @param start address of the first element
 * @param leading the leading dimension byte offset
 * @param stride the stride dimension byte offset
 * @param span bytes that the swizzle permutes: 16, 32, 64 or 128
 */
public record MatrixDescriptor(int start, int leading, int stride, int span) {
  private static final int FIELD = 0x3FFF;
  private static final int LEADING_AT = 16;
  private static final int STRIDE_AT = 32;
  private static final int BASE_AT = 49;
  private static final int SWIZZLE_AT = 62;
  private static final int VERSION_AT = 46;
  private static final int TENSOR_CORE_SWIZZLE_AT = 61;
  private static final long TENSOR_CORE_USED = 0xE000_7FFF_3FFF_3FFFL;
  private static final long USED = 0xC000_3FFF_3FFF_3FFFL;

  /**
   * The descriptor of 64 bits.
   *
   * @throws IllegalArgumentException if it has bits that mean nothing, or a base offset, which only
   *     matrices need whose swizzle doesn't begin at a multiple of its pattern
   */
  public static MatrixDescriptor decode(long bits) {
    if ((bits >>> BASE_AT & 7) != 0) {
      throw new IllegalArgumentException(
          "matrix descriptor 0x%016x has a base offset, which isn't simulated".formatted(bits));
    }
    if ((bits & ~USED) != 0) {
      throw new IllegalArgumentException(
          "matrix descriptor 0x%016x has bits set that mean nothing".formatted(bits));
    }
    int span =
        switch ((int) (bits >>> SWIZZLE_AT)) {
          case 0 -> 16;
          case 1 -> 128;
          case 2 -> 64;
          default -> 32;
        };
    return new MatrixDescriptor(
        (int) (bits & FIELD) << 4,
        (int) (bits >>> LEADING_AT & FIELD) << 4,
        (int) (bits >>> STRIDE_AT & FIELD) << 4,
        span);
  }

  /**
   * The descriptor of 64 bits that {@code tcgen05} takes (PTX ISA, "Shared Memory Descriptor"). The
   * layouts are those of {@code wgmma}:
   *
   * <pre>
   *   63   61      52 51  49 48 46 45        32   29         16   13         0
   *  | swizzle | | 0 |  base | 001 | stride / 16 | | leading / 16 | | start / 16 |
   * </pre>
   *
   * @throws IllegalArgumentException if it has bits that mean nothing, a base offset, an absolute
   *     leading dimension or a swizzle of pieces of 32 bytes, which aren't simulated
   */
  public static MatrixDescriptor ofTensorCore(long bits) {
    if ((bits >>> VERSION_AT & 7) != 1) {
      throw new IllegalArgumentException(
          "matrix descriptor 0x%016x has no 001 in bits 46 to 48".formatted(bits));
    }
    if ((bits & ~TENSOR_CORE_USED) != 0) {
      throw new IllegalArgumentException(
          ("matrix descriptor 0x%016x has bits set that mean nothing, or a base offset or absolute"
                  + " leading dimension, which aren't simulated")
              .formatted(bits));
    }
    int span =
        switch ((int) (bits >>> TENSOR_CORE_SWIZZLE_AT)) {
          case 0 -> 16;
          case 2 -> 128;
          case 4 -> 64;
          case 6 -> 32;
          default ->
              throw new IllegalArgumentException(
                  "matrix descriptor 0x%016x has swizzle %d; 0, 2, 4 or 6 are simulated"
                      .formatted(bits, bits >>> TENSOR_CORE_SWIZZLE_AT));
        };
    return new MatrixDescriptor(
        (int) (bits & FIELD) << 4,
        (int) (bits >>> LEADING_AT & FIELD) << 4,
        (int) (bits >>> STRIDE_AT & FIELD) << 4,
        span);
  }

  /**
   * The address of an element.
   *
   * @param mn its row of A, or its column of B
   * @param k along the sum
   */
  public int address(int mn, int k, int elementBytes, boolean kMajor) {
    int major = kMajor ? mn : k;
    int along = (kMajor ? k : mn) * elementBytes;
    int offset = span * (major % 8);
    if (kMajor) {
      offset += stride * (major / 8);
      offset += span == 16 ? along % 16 + leading * (along / 16) : along;
    } else {
      offset += (span == 16 ? leading : stride) * (major / 8);
      offset += along % span + (span == 16 ? stride : leading) * (along / span);
    }
    int address = start + offset;
    return address ^ ((address >>> 7 & span / 16 - 1) << 4);
  }
}
