package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** F16 and BF16 arithmetic, single and packed (PTX ISA, "Half Precision …", "Mixed Precision"). */
final class HalfOps {
  private static final int SIGN = 0x8000;

  /** A function of one 16-bit code. */
  private interface One {
    int apply(int a);
  }

  /** A function of two 16-bit codes. */
  private interface Two {
    int apply(int a, int b);
  }

  /** A function of three 16-bit codes. */
  private interface Three {
    int apply(int a, int b, int c);
  }

  private HalfOps() {}

  static boolean isHalf(PtxType type) {
    return type == PtxType.F16
        || type == PtxType.BF16
        || type == PtxType.F16X2
        || type == PtxType.BF16X2;
  }

  static FloatFormat format(PtxType type) {
    return type == PtxType.F16 || type == PtxType.F16X2 ? FloatFormat.F16 : FloatFormat.BF16;
  }

  static boolean isPacked(PtxType type) {
    return type == PtxType.F16X2 || type == PtxType.BF16X2;
  }

  /** The number of a 16-bit code. */
  static float decode(int code, FloatFormat format) {
    return format == FloatFormat.F16
        ? Float.float16ToFloat((short) code)
        : Float.intBitsToFloat(code << 16);
  }

  static int encode(double value, FloatFormat format) {
    return format.encode(value, Rounding.NEAREST_EVEN, false);
  }

  private static int flush(int code, FloatFormat format) {
    return format.isSubnormal(code) ? code & SIGN : code;
  }

  static Op unary(Operands o, Instruction i) {
    PtxType type = i.type();
    FloatFormat format = format(type);
    One plain =
        switch (i.opcode()) {
          case "abs" -> a -> a & ~SIGN;
          case "neg" -> a -> a ^ SIGN;
          case "ex2" -> a -> encode(Math.pow(2, decode(a, format)), format);
          case "tanh" -> a -> encode(Math.tanh(decode(a, format)), format);
          default -> throw Operands.unsupported(i);
        };
    One one = i.has(".ftz") ? a -> flush(plain.apply(flush(a, format)), format) : plain;
    LaneOps.Unary function =
        isPacked(type)
            ? a -> pack(one.apply(low(a)), one.apply(high(a)))
            : a -> one.apply((int) a) & Bits.M16;
    return LaneOps.unary(o.destination(0), o.source(1, type), function);
  }

  static Op binary(Operands o, Instruction i) {
    PtxType type = i.type();
    FloatFormat format = format(type);
    Two plain =
        switch (i.opcode()) {
          case "add" -> (a, b) -> encode(Exact.add(decode(a, format), decode(b, format)), format);
          case "sub" -> (a, b) -> encode(Exact.add(decode(a, format), -decode(b, format)), format);
          case "mul" -> (a, b) -> encode((double) decode(a, format) * decode(b, format), format);
          case "min" -> (a, b) -> extreme(a, b, format, true, i.has(".NaN"));
          case "max" -> (a, b) -> extreme(a, b, format, false, i.has(".NaN"));
          default -> throw Operands.unsupported(i);
        };
    Two flushed =
        i.has(".ftz")
            ? (a, b) -> flush(plain.apply(flush(a, format), flush(b, format)), format)
            : plain;
    Two two = i.has(".sat") ? (a, b) -> saturate(flushed.apply(a, b), format) : flushed;
    LaneOps.Binary function =
        isPacked(type)
            ? (a, b) -> pack(two.apply(low(a), low(b)), two.apply(high(a), high(b)))
            : (a, b) -> two.apply((int) a, (int) b) & Bits.M16;
    return LaneOps.binary(o.destination(0), o.source(1, type), o.source(2, type), function);
  }

  static Op multiplyAdd(Operands o, Instruction i) {
    PtxType type = i.type();
    FloatFormat format = format(type);
    Three plain =
        (a, b, c) ->
            encode(
                Exact.multiplyAdd(decode(a, format), decode(b, format), decode(c, format)), format);
    Three flushed =
        i.has(".ftz")
            ? (a, b, c) ->
                flush(plain.apply(flush(a, format), flush(b, format), flush(c, format)), format)
            : plain;
    Three three =
        i.has(".sat")
            ? (a, b, c) -> saturate(flushed.apply(a, b, c), format)
            : i.has(".relu") ? (a, b, c) -> relu(flushed.apply(a, b, c), format) : flushed;
    LaneOps.Ternary function =
        isPacked(type)
            ? (a, b, c) ->
                pack(three.apply(low(a), low(b), low(c)), three.apply(high(a), high(b), high(c)))
            : (a, b, c) -> three.apply((int) a, (int) b, (int) c) & Bits.M16;
    return o.ternary(type, type, type, function);
  }

  /** The sum of two codes, for atomics. */
  static int add(int a, int b, FloatFormat format) {
    return encode(Exact.add(decode(a, format), decode(b, format)), format);
  }

  private static int extreme(int a, int b, FloatFormat format, boolean min, boolean keepNan) {
    boolean aNan = format.isNan(a);
    boolean bNan = format.isNan(b);
    if (aNan || bNan) {
      return keepNan || (aNan && bNan) ? format.nan() : aNan ? b : a;
    }
    float x = decode(a, format);
    float y = decode(b, format);
    float chosen = min ? Math.min(x, y) : Math.max(x, y);
    return Float.compare(chosen, x) == 0 ? a : b;
  }

  private static int saturate(int code, FloatFormat format) {
    float value = decode(code, format);
    return value > 0 ? value >= 1 ? encode(1, format) : code : 0;
  }

  /** Negative numbers and −0 become +0. */
  static int relu(int code, FloatFormat format) {
    return format.isNan(code) ? format.nan() : (code & SIGN) != 0 ? 0 : code;
  }

  static int low(long pair) {
    return (int) pair & 0xFFFF;
  }

  static int high(long pair) {
    return (int) (pair >>> 16) & 0xFFFF;
  }

  static long pack(int low, int high) {
    return (low & Bits.M16) | (high & Bits.M16) << 16;
  }
}
