package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;

/**
 * Rounds exact numbers by looking at a format's neighbouring numbers; no arithmetic on bits. The
 * modes are rn, rz, rm, rp and rna.
 */
final class ExactRounding {
  private ExactRounding() {}

  static float toFloat(BigDecimal exact, String mode) {
    float below = exact.floatValue();
    if (Float.isInfinite(below)) {
      below = Math.copySign(Float.MAX_VALUE, below);
    }
    while (!Float.isInfinite(below) && new BigDecimal(below).compareTo(exact) > 0) {
      below = Math.nextDown(below);
    }
    float above = Float.isInfinite(below) ? -Float.MAX_VALUE : below;
    while (!Float.isInfinite(above) && new BigDecimal(above).compareTo(exact) < 0) {
      above = Math.nextUp(above);
    }
    if (below == above) {
      return above;
    }
    return switch (mode) {
      case "rz" -> exact.signum() > 0 ? below : above;
      case "rm" -> below;
      case "rp" -> above;
      default -> exact.floatValue();
    };
  }

  static double toDouble(BigDecimal exact, String mode) {
    double below = exact.doubleValue();
    if (Double.isInfinite(below)) {
      below = Math.copySign(Double.MAX_VALUE, below);
    }
    while (!Double.isInfinite(below) && new BigDecimal(below).compareTo(exact) > 0) {
      below = Math.nextDown(below);
    }
    double above = below;
    if (Double.isInfinite(below)) {
      above = -Double.MAX_VALUE;
    }
    while (!Double.isInfinite(above) && new BigDecimal(above).compareTo(exact) < 0) {
      above = Math.nextUp(above);
    }
    if (below == above) {
      return above;
    }
    return switch (mode) {
      case "rz" -> exact.signum() > 0 ? below : above;
      case "rm" -> below;
      case "rp" -> above;
      default -> exact.doubleValue();
    };
  }

  /** A format of at most 16 bits as the table of its numbers. */
  static final class Table {
    private final TreeMap<Double, Integer> codes = new TreeMap<>();
    private final int sign;
    private final int infinity;

    /**
     * A table.
     *
     * @param bits of a code
     * @param decode a code's number
     */
    Table(int bits, IntToDoubleFunction decode) {
      sign = 1 << (bits - 1);
      int found = -1;
      for (int code = 0; code < sign; code++) {
        double value = decode.applyAsDouble(code);
        if (Double.isInfinite(value)) {
          found = code;
        } else if (!Double.isNaN(value)) {
          codes.put(value, code);
        }
      }
      infinity = found;
    }

    /** The code of an exact number that isn't zero. */
    int round(BigDecimal exact, String mode, boolean saturate) {
      boolean minus = exact.signum() < 0;
      BigDecimal magnitude = exact.abs();
      double largest = codes.lastKey();
      int largestCode = codes.get(largest);
      double key = magnitude.doubleValue();
      // A double near enough; the neighbours are then found exactly.
      Map.Entry<Double, Integer> below = codes.floorEntry(Math.min(key, largest));
      while (new BigDecimal(below.getKey()).compareTo(magnitude) > 0) {
        below = codes.lowerEntry(below.getKey());
      }
      Map.Entry<Double, Integer> above = codes.higherEntry(below.getKey());
      while (above != null && new BigDecimal(above.getKey()).compareTo(magnitude) <= 0) {
        below = above;
        above = codes.higherEntry(below.getKey());
      }
      BigDecimal low = new BigDecimal(below.getKey());
      if (low.compareTo(magnitude) == 0) {
        return code(minus, below.getValue());
      }
      // Beyond the largest, the next number would be as far as the one before.
      BigDecimal high =
          above != null
              ? new BigDecimal(above.getKey())
              : low.multiply(BigDecimal.TWO).subtract(new BigDecimal(codes.lowerKey(largest)));
      int highCode =
          above != null ? above.getValue() : saturate || infinity < 0 ? largestCode : infinity;
      int compare = magnitude.subtract(low).compareTo(high.subtract(magnitude));
      boolean up =
          switch (mode) {
            case "rz" -> false;
            case "rm" -> minus;
            case "rp" -> !minus;
            case "rna" -> compare >= 0;
            default -> compare > 0 || (compare == 0 && (below.getValue() & 1) != 0);
          };
      return code(minus, up ? highCode : below.getValue());
    }

    private int code(boolean minus, int magnitude) {
      return minus ? magnitude | sign : magnitude;
    }
  }

  static Table half() {
    return new Table(16, code -> Float.float16ToFloat((short) code));
  }

  static Table bfloat() {
    return new Table(16, code -> Float.intBitsToFloat(code << 16));
  }
}
