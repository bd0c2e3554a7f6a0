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
    int bits = view.dtype().bits();
    // Columns of a map are elements, or bytes that have several.
    int size = Math.max(1, bits / Byte.SIZE);
    int inColumn = Math.max(1, Byte.SIZE / bits);
    boolean isOne = view.rank() < 3 || view.extent(-3) == 1 || view.stride(-3) == 0;
    long rows = view.extent(-2);
    long rowBytes =
        rows == 1
            ? distance(view.extent(-1) * size / inColumn)
            : view.stride(-2) * bits / Byte.SIZE;
    return new TensorBoxes(
        view.dtype(),
        view.address(),
        view.extent(-1) / inColumn,
        rows,
        isOne ? 1 : view.extent(-3),
        rowBytes,
        isOne ? distance(rows * rowBytes) : view.stride(-3) * bits / Byte.SIZE,
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
    long inByte = Math.max(1, Byte.SIZE / view.dtype().bits());
    boolean isWhole = view.offset() % inByte == 0 && view.extent(-1) % inByte == 0;
    for (int dim = 2; dim <= view.rank(); dim++) {
      isWhole &= view.extent(-dim) == 1 || view.stride(-dim) % inByte == 0;
    }
    if (!isWhole) {
      return Optional.of(Refusal.of("wants rows of whole bytes, and those of %s aren't", name));
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
