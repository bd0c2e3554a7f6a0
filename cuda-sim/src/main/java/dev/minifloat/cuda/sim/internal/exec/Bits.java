package dev.minifloat.cuda.sim.internal.exec;

/** Arithmetic on bits that PTX defines and Java has no operator for. */
final class Bits {
  static final long M16 = 0xFFFFL;
  static final long M32 = 0xFFFF_FFFFL;

  private Bits() {}

  /** The low bits of a width, all set. */
  static long mask(int bits) {
    return bits == 64 ? -1L : (1L << bits) - 1;
  }

  /** A number of a width, its sign extended to 64 bits. */
  static long signed(long value, int bits) {
    return value << (64 - bits) >> (64 - bits);
  }

  /** A number of a width, its upper bits cleared or, if signed, made copies of its sign. */
  static long read(long value, int bits, boolean signed) {
    return signed ? signed(value, bits) : value & mask(bits);
  }

  /** Bits pos … pos+len−1, above them zeros or copies of the field's sign (PTX ISA, bfe). */
  static long extract(long a, long position, long length, int bits, boolean signed) {
    int pos = (int) position & 0xFF;
    int len = (int) length & 0xFF;
    boolean sign = false;
    if (signed && len > 0) {
      int at = Math.min(pos + len - 1, bits - 1);
      sign = (a >>> at & 1) != 0;
    }
    int taken = Math.max(0, Math.min(len, bits - pos));
    long field = pos >= bits ? 0 : a >>> pos & (taken == 64 ? -1L : (1L << taken) - 1);
    long above = taken == 64 ? 0 : mask(bits) & -1L << taken;
    return sign ? field | above : field;
  }

  /** b with its bits pos … pos+len−1 replaced by the low bits of a (PTX ISA, bfi). */
  static long insert(long a, long b, long position, long length, int bits) {
    int pos = (int) position & 0xFF;
    int len = (int) length & 0xFF;
    int taken = Math.max(0, Math.min(len, bits - pos));
    if (taken == 0) {
      return b;
    }
    long field = (taken == 64 ? -1L : (1L << taken) - 1) << pos;
    return (b & ~field) | (a << pos & field);
  }

  /** Each bit of the result is the bit of the table that three bits of the operands choose. */
  static long lop3(long a, long b, long c, int table) {
    long result = 0;
    for (int i = 0; i < 8; i++) {
      if ((table >>> i & 1) != 0) {
        result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
      }
    }
    return result & M32;
  }

  /** Bytes of b:a chosen by four selectors (PTX ISA, prmt); the mode is the modifier's word. */
  static long permute(long a, long b, long c, String mode) {
    long bytes = b << 32 | a;
    long result = 0;
    for (int i = 0; i < 4; i++) {
      long value;
      if (mode.isEmpty()) {
        int selector = (int) (c >>> (4 * i)) & 15;
        value = bytes >>> (8 * (selector & 7)) & 0xFF;
        value = (selector & 8) == 0 ? value : (value & 0x80) == 0 ? 0 : 0xFF;
      } else {
        value = bytes >>> (8 * selector(mode, (int) c & 3, i)) & 0xFF;
      }
      result |= value << (8 * i);
    }
    return result;
  }

  private static int selector(String mode, int c, int i) {
    return switch (mode) {
      case ".f4e" -> c + i;
      case ".b4e" -> c - i & 7;
      case ".rc8" -> c;
      case ".ecl" -> Math.max(i, c);
      case ".ecr" -> Math.min(i, c);
      case ".rc16" -> (c & 1) * 2 + (i & 1);
      default -> throw new IllegalStateException("prmt" + mode);
    };
  }

  /** The place of the n-th set bit from a place on (PTX ISA, fns). */
  static long nthSet(long bits, long base, long offset) {
    int n = (int) offset;
    int at = (int) base;
    if (n == 0) {
      return at >= 0 && at < 32 && (bits >>> at & 1) != 0 ? at : M32;
    }
    int left = Math.abs(n) - 1;
    for (int step = n > 0 ? 1 : -1; at >= 0 && at < 32; at += step) {
      if ((bits >>> at & 1) != 0 && left-- == 0) {
        return at;
      }
    }
    return M32;
  }

  /** The sum of four products of bytes and c (PTX ISA, dp4a). */
  static long dot4(long a, long b, long c, boolean signedA, boolean signedB) {
    long sum = c;
    for (int i = 0; i < 32; i += 8) {
      sum += read(a >>> i, 8, signedA) * read(b >>> i, 8, signedB);
    }
    return sum & M32;
  }

  /** The sum of two products of a half-word and a byte, and c (PTX ISA, dp2a). */
  static long dot2(long a, long b, long c, boolean signedA, boolean signedB, boolean high) {
    long bytes = high ? b >>> 16 : b;
    long sum = c;
    for (int i = 0; i < 2; i++) {
      sum += read(a >>> (16 * i), 16, signedA) * read(bytes >>> (8 * i), 8, signedB);
    }
    return sum & M32;
  }

  /** A run of {@code length} ones from {@code start} on (PTX ISA, bmsk). */
  static long bitMask(long start, long length, boolean wrap) {
    long from = wrap ? start & 31 : Math.min(start, 32);
    long count = wrap ? length & 31 : Math.min(length, 32);
    return ((1L << count) - 1) << from & M32;
  }

  /** The low bits of a value, extended to 32 (PTX ISA, szext). */
  static long extend(long value, long width, boolean signed, boolean wrap) {
    int bits = (int) (wrap ? width & 31 : Math.min(width, 32));
    return bits == 0 ? 0 : read(value, bits, signed) & M32;
  }
}
