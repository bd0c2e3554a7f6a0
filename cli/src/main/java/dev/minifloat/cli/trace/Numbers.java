package dev.minifloat.cli.trace;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.Locale;
import java.util.StringJoiner;

/** Registers and elements as text. */
final class Numbers {
  private Numbers() {}

  /** An element of a matrix, in at most nine characters. */
  static String element(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 100_000) {
      return Long.toString((long) value);
    }
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return Double.toString(value).replace("Infinity", "Inf");
    }
    String text = String.format(Locale.ROOT, "%.4g", value);
    return text.contains("e") || !text.contains(".")
        ? String.format(Locale.ROOT, "%.1e", value)
        : text.replaceAll("0+$", "");
  }

  /** A register's bits in hexadecimal, and the number that its type says they are. */
  static String register(TracedRegister register, long bits) {
    if (register.isPredicate()) {
      return bits == 0 ? "false" : "true";
    }
    String hex = hex(bits, register.bits());
    return switch (register.type()) {
      case ".f32" -> hex + "  " + Float.intBitsToFloat((int) bits);
      case ".f64" -> hex + "  " + Double.longBitsToDouble(bits);
      case ".f16" -> hex + "  " + Float.float16ToFloat((short) bits);
      case ".s16" -> hex + "  " + (short) bits;
      case ".s32" -> hex + "  " + (int) bits;
      case ".s64" -> hex + "  " + bits;
      default -> hex + "  " + Long.toUnsignedString(bits);
    };
  }

  static String hex(long bits, int width) {
    return "0x" + String.format("%0" + Math.max(1, width / 4) + "x", bits);
  }

  /** A register's bits as elements of a type, the lowest first. */
  static String elements(TracedRegister register, long bits, DType dtype) {
    int width = dtype.bits();
    StringJoiner joined = new StringJoiner(" ");
    for (int at = 0; at + width <= register.bits(); at += width) {
      int code = (int) (bits >>> at & (width == 32 ? 0xFFFF_FFFFL : (1L << width) - 1));
      joined.add(element(Codec.decode(dtype, code)));
    }
    return hex(bits, register.bits()) + "  " + joined;
  }
}
