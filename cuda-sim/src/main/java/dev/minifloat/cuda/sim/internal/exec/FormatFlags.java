package dev.minifloat.cuda.sim.internal.exec;

/** Flags, width and precision of one specification of a format, and what they make of numbers. */
final class FormatFlags {
  int width;

  /** Negative if none is given. */
  int precision = -1;

  private boolean left;
  private boolean plus;
  private boolean space;
  private boolean alternate;
  private boolean zero;

  /** Takes a flag; false if the character is none. */
  boolean take(char flag) {
    switch (flag) {
      case '-' -> left = true;
      case '+' -> plus = true;
      case ' ' -> space = true;
      case '#' -> alternate = true;
      case '0' -> zero = true;
      default -> {
        return false;
      }
    }
    return true;
  }

  boolean alternate() {
    return alternate;
  }

  /** %d and %i. */
  String signed(long value) {
    String digits = value < 0 ? Long.toString(value).substring(1) : Long.toString(value);
    return number(sign(value < 0), minimum(digits), precision < 0);
  }

  /** %u, %o, %x and %X. */
  String unsigned(long value, char conversion) {
    String digits =
        switch (conversion) {
          case 'u' -> Long.toUnsignedString(value);
          case 'o' -> Long.toOctalString(value);
          case 'x' -> Long.toHexString(value);
          default -> Long.toHexString(value).toUpperCase(java.util.Locale.ROOT);
        };
    digits = minimum(digits);
    boolean prefixed = alternate && value != 0;
    if (conversion == 'o' && alternate && !digits.startsWith("0")) {
      digits = "0" + digits;
    }
    boolean hexadecimal = conversion == 'x' || conversion == 'X';
    String prefix = prefixed && hexadecimal ? "0" + conversion : "";
    return number(prefix, digits, precision < 0);
  }

  /** %p. */
  String pointer(long address) {
    return padded(address == 0 ? "(nil)" : "0x" + Long.toHexString(address));
  }

  /** As many digits as the precision asks for; none for a zero with precision 0. */
  private String minimum(String digits) {
    if (precision == 0 && digits.equals("0")) {
      return "";
    }
    return "0".repeat(Math.max(0, precision - digits.length())) + digits;
  }

  /** What stands before a number that is negative, or isn't. */
  String sign(boolean negative) {
    return negative ? "-" : plus ? "+" : space ? " " : "";
  }

  /** A number's text: zeros go between its prefix and its digits, where they may. */
  String number(String prefix, String digits, boolean mayFill) {
    int missing = width - prefix.length() - digits.length();
    if (zero && !left && mayFill && missing > 0) {
      return prefix + "0".repeat(missing) + digits;
    }
    return padded(prefix + digits);
  }

  /** A text, with blanks to the width. */
  String padded(String text) {
    String blanks = " ".repeat(Math.max(0, width - text.length()));
    return left ? text + blanks : blanks + text;
  }
}
