package dev.minifloat.cuda.sim.internal.exec;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Formats as C's {@code printf} does on Linux (CUDA C++ Programming Guide, "Formatted Output").
 * Arguments lie one after the other, each at a multiple of its size: four bytes for {@code int} and
 * what is promoted to it, eight for {@code long}, {@code double} and pointers.
 */
final class PrintFormat {
  /** Where format, arguments and strings lie. */
  interface Memory {
    /** So many bytes at an address, zero-extended. */
    long load(long address, int bytes);

    /** The bytes up to a NUL. */
    byte[] string(long address);
  }

  private static final String LENGTHS = "hlqjzt";

  /** No field of a number is wider: a kernel's error should not fill the heap. */
  private static final int WIDEST = 4096;

  private final byte[] format;
  private final Memory memory;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private long next;
  private int at;
  private int arguments;

  /**
   * A format and its arguments.
   *
   * @param address where the arguments begin
   */
  PrintFormat(byte[] format, Memory memory, long address) {
    this.format = format;
    this.memory = memory;
    this.next = address;
  }

  /** Formats it all; once. */
  PrintFormat run() {
    while (at < format.length) {
      if (format[at] == '%') {
        specification();
      } else {
        out.write(format[at++]);
      }
    }
    return this;
  }

  String text() {
    return out.toString(StandardCharsets.UTF_8);
  }

  /** How many arguments it took. */
  int arguments() {
    return arguments;
  }

  private char current() {
    return at < format.length ? (char) (format[at] & 0xFF) : 0;
  }

  private void specification() {
    int start = at++;
    FormatFlags flags = new FormatFlags();
    while (current() != 0 && flags.take(current())) {
      at++;
    }
    int width = number();
    if (width < 0) {
      flags.take('-');
      width = -width;
    }
    int precision = -1;
    if (current() == '.') {
      at++;
      precision = number();
    }
    int lengthStart = at;
    while (current() != 0 && LENGTHS.indexOf(current()) >= 0) {
      at++;
    }
    String length = new String(format, lengthStart, at - lengthStart, StandardCharsets.ISO_8859_1);
    char conversion = current();
    at++;
    flags.width = Math.min(width, WIDEST);
    flags.precision = Math.min(precision, WIDEST);
    switch (conversion) {
      case '%' -> out.write('%');
      case 'd', 'i' -> write(flags.signed(integer(length, true)));
      case 'u', 'o', 'x', 'X' -> write(flags.unsigned(integer(length, false), conversion));
      case 'c' -> write(flags.padded(String.valueOf((char) (argument(4) & 0xFF))));
      case 's' -> string(flags);
      case 'p' -> write(flags.pointer(argument(8)));
      case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A' ->
          write(FloatText.of(Double.longBitsToDouble(argument(8)), conversion, flags));
      default -> {
        // Not one of C's that a device takes: it stands as it is written.
        at = Math.min(at, format.length);
        out.write(format, start, at - start);
      }
    }
  }

  /** Digits, or an argument for {@code *}; 0 if there are neither. */
  private int number() {
    if (current() == '*') {
      at++;
      return (int) argument(4);
    }
    int value = 0;
    while (current() >= '0' && current() <= '9') {
      value = Math.min(value * 10 + current() - '0', WIDEST);
      at++;
    }
    return value;
  }

  private long argument(int bytes) {
    next = (next + bytes - 1) & -bytes;
    long value = memory.load(next, bytes);
    next += bytes;
    arguments++;
    return value;
  }

  private long integer(String length, boolean signed) {
    return switch (length) {
      case "hh" -> Bits.read(argument(4) & 0xFF, 8, signed);
      case "h" -> Bits.read(argument(4) & Bits.M16, 16, signed);
      case "" -> Bits.read(argument(4), 32, signed);
      default -> argument(8);
    };
  }

  private void write(String text) {
    out.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private void string(FormatFlags flags) {
    long address = argument(8);
    byte[] bytes =
        address == 0 ? "(null)".getBytes(StandardCharsets.ISO_8859_1) : memory.string(address);
    int most = flags.precision < 0 ? bytes.length : Math.min(flags.precision, bytes.length);
    // Byte by byte, as C counts: one Latin-1 character for each byte on the way.
    write(flags.padded(new String(bytes, 0, most, StandardCharsets.ISO_8859_1)));
  }
}
