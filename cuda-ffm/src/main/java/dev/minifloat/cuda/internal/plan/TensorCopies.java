package dev.minifloat.cuda.internal.plan;

import dev.minifloat.cuda.internal.driver.TensorBoxes;
import java.util.Optional;

/** Which operands kernels can copy by tensor maps, and how. */
public final class TensorCopies {
  /** What addresses and distances are multiples of. */
  private static final long ALIGNMENT = 16;

  /** Bytes from one row or matrix to the next are fewer. */
  private static final long MOST_BYTES = 1L << 40;

  /** Bytes of a box along K: those of the swizzle. */
  private static final int BOX_BYTES = 128;

  private TensorCopies() {}

  /** The boxes of an operand that a kernel doesn't refuse. */
  public static TensorBoxes boxes(DeviceView view, int boxRows) {
    int size = view.dtype().bits() / Byte.SIZE;
    boolean isOne = view.rank() < 3 || view.extent(-3) == 1 || view.stride(-3) == 0;
    long rows = view.extent(-2);
    long rowBytes = rows == 1 ? distance(view.extent(-1) * size) : view.stride(-2) * size;
    return new TensorBoxes(
        view.dtype(),
        view.address(),
        view.extent(-1),
        rows,
        isOne ? 1 : view.extent(-3),
        rowBytes,
        isOne ? distance(rows * rowBytes) : view.stride(-3) * size,
        BOX_BYTES / size,
        boxRows);
  }

  /** A distance that is never gone. */
  private static long distance(long bytes) {
    return Math.min(Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT, MOST_BYTES - ALIGNMENT);
  }

  /**
   * Why an operand can't be copied so; empty if it can.
   *
   * @param name what to call it
   */
  static Optional<Refusal> refuses(String name, DeviceView view) {
    if (view.rank() > 3) {
      return Optional.of(
          Refusal.of("wants matrices the same distance apart, and those of %s aren't", name));
    }
    for (int dim = 1; dim <= view.rank(); dim++) {
      long extent = view.extent(-dim);
      if (extent == 0 || extent > Integer.MAX_VALUE) {
        return Optional.of(
            Refusal.of(
                "copies tiles of 1 to 2^31 - 1 in each extent, and %s has %,d", name, extent));
      }
    }
    TensorBoxes boxes = boxes(view, 1);
    if (boxes.address() % ALIGNMENT != 0) {
      return Optional.of(Refusal.of("wants a multiple of 16 bytes as the address of %s", name));
    }
    return misplaced(boxes.rowBytes())
        ? Optional.of(distances("rows", name, boxes.rowBytes()))
        : misplaced(boxes.matrixBytes())
            ? Optional.of(distances("matrices", name, boxes.matrixBytes()))
            : Optional.empty();
  }

  private static boolean misplaced(long bytes) {
    return bytes <= 0 || bytes >= MOST_BYTES || bytes % ALIGNMENT != 0;
  }

  private static Refusal distances(String what, String name, long bytes) {
    return Refusal.of(
        "wants a multiple of 16 bytes from one to the next of the %s of %s, and there are %,d",
        what, name, bytes);
  }
}
