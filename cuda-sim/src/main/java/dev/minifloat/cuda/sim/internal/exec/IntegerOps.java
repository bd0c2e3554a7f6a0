package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** Integer arithmetic, logic and shifts (PTX ISA, "Integer Arithmetic", "Logic and Shift"). */
final class IntegerOps {
  private IntegerOps() {}

  static Op unary(Operands o, Instruction i) {
    PtxType type = i.type();
    int bits = type.bits();
    long mask = Bits.mask(bits);
    LaneOps.Unary function =
        switch (i.opcode()) {
          case "abs" -> a -> Math.abs(Bits.signed(a, bits)) & mask;
          case "neg" -> a -> -a & mask;
          case "not" -> a -> ~a & mask;
          case "cnot" -> a -> a == 0 ? 1 : 0;
          case "popc" -> Long::bitCount;
          case "clz" -> a -> Long.numberOfLeadingZeros(a) - (64 - bits);
          case "brev" -> a -> Long.reverse(a) >>> (64 - bits);
          case "bfind" -> bitFind(type, i.has(".shiftamt"));
          default -> throw Operands.unsupported(i);
        };
    return LaneOps.unary(o.destination(0), o.source(1, type), function);
  }

  private static LaneOps.Unary bitFind(PtxType type, boolean shiftAmount) {
    int bits = type.bits();
    return a -> {
      long value = type.isSigned() && Bits.signed(a, bits) < 0 ? ~a & Bits.mask(bits) : a;
      if (value == 0) {
        return Bits.M32;
      }
      int at = 63 - Long.numberOfLeadingZeros(value);
      return shiftAmount ? bits - 1 - at : at;
    };
  }

  static Op binary(Operands o, Instruction i) {
    PtxType type = i.type();
    int bits = type.bits();
    boolean shift = i.opcode().equals("shl") || i.opcode().equals("shr");
    LaneOps.Binary function =
        switch (i.opcode()) {
          case "add" -> i.has(".sat") ? (a, b) -> saturate((int) a + (long) (int) b) : add(bits);
          case "sub" -> i.has(".sat") ? (a, b) -> saturate((int) a - (long) (int) b) : sub(bits);
          case "mul" -> multiply(i, type);
          case "mul24" -> multiply24(i, type);
          case "div" -> divide(type);
          case "rem" -> remainder(type);
          case "min", "max" -> extreme(i, type);
          case "and" -> (a, b) -> a & b;
          case "or" -> (a, b) -> a | b;
          case "xor" -> (a, b) -> a ^ b;
          case "shl" -> (a, b) -> b >= bits ? 0 : a << b & Bits.mask(bits);
          case "shr" ->
              type.isSigned()
                  ? (a, b) -> Bits.signed(a, bits) >> Math.min(b, 63) & Bits.mask(bits)
                  : (a, b) -> b >= bits ? 0 : a >>> b;
          case "bmsk" -> (a, b) -> Bits.bitMask(a, b, i.has(".wrap"));
          case "szext" -> (a, b) -> Bits.extend(a, b, type.isSigned(), i.has(".wrap"));
          default -> throw Operands.unsupported(i);
        };
    PtxType second = shift || i.opcode().equals("szext") ? PtxType.U32 : type;
    return LaneOps.binary(o.destination(0), o.source(1, type), o.source(2, second), function);
  }

  private static LaneOps.Binary add(int bits) {
    if (bits == 64) {
      return Long::sum;
    }
    long mask = Bits.mask(bits);
    return (a, b) -> a + b & mask;
  }

  private static LaneOps.Binary sub(int bits) {
    long mask = Bits.mask(bits);
    return (a, b) -> a - b & mask;
  }

  private static long saturate(long value) {
    return Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE) & Bits.M32;
  }

  private static LaneOps.Binary multiply(Instruction i, PtxType type) {
    int bits = type.bits();
    boolean signed = type.isSigned();
    if (i.has(".lo")) {
      long mask = Bits.mask(bits);
      return (a, b) -> a * b & mask;
    }
    if (i.has(".wide")) {
      long mask = Bits.mask(2 * bits);
      return signed
          ? (a, b) -> Bits.signed(a, bits) * Bits.signed(b, bits) & mask
          : (a, b) -> a * b & mask;
    }
    if (bits == 64) {
      return signed ? Math::multiplyHigh : Math::unsignedMultiplyHigh;
    }
    long mask = Bits.mask(bits);
    return signed
        ? (a, b) -> (Bits.signed(a, bits) * Bits.signed(b, bits)) >> bits & mask
        : (a, b) -> (a * b) >>> bits & mask;
  }

  private static LaneOps.Binary multiply24(Instruction i, PtxType type) {
    int shift = i.has(".hi") ? 16 : 0;
    boolean signed = type.isSigned();
    return (a, b) -> (Bits.read(a, 24, signed) * Bits.read(b, 24, signed)) >> shift & Bits.M32;
  }

  /** Division by zero has no defined result in PTX; here it is all ones. */
  private static LaneOps.Binary divide(PtxType type) {
    int bits = type.bits();
    long mask = Bits.mask(bits);
    return type.isSigned()
        ? (a, b) -> b == 0 ? mask : Bits.signed(a, bits) / Bits.signed(b, bits) & mask
        : (a, b) -> b == 0 ? mask : Long.divideUnsigned(a, b);
  }

  /** Division by zero has no defined result in PTX; here the remainder is the dividend. */
  private static LaneOps.Binary remainder(PtxType type) {
    int bits = type.bits();
    long mask = Bits.mask(bits);
    return type.isSigned()
        ? (a, b) -> b == 0 ? a : Bits.signed(a, bits) % Bits.signed(b, bits) & mask
        : (a, b) -> b == 0 ? a : Long.remainderUnsigned(a, b);
  }

  private static LaneOps.Binary extreme(Instruction i, PtxType type) {
    int bits = type.bits();
    long mask = Bits.mask(bits);
    boolean min = i.opcode().equals("min");
    if (!type.isSigned()) {
      return min
          ? (a, b) -> Long.compareUnsigned(a, b) <= 0 ? a : b
          : (a, b) -> Long.compareUnsigned(a, b) >= 0 ? a : b;
    }
    long floor = i.has(".relu") ? 0 : Long.MIN_VALUE;
    return min
        ? (a, b) -> Math.max(floor, Math.min(Bits.signed(a, bits), Bits.signed(b, bits))) & mask
        : (a, b) -> Math.max(floor, Math.max(Bits.signed(a, bits), Bits.signed(b, bits))) & mask;
  }

  /** min, max and add of two 16-bit numbers in a register. */
  static Op packed(Operands o, Instruction i) {
    boolean signed = i.type() == PtxType.S16X2;
    long floor = i.has(".relu") ? 0 : Long.MIN_VALUE;
    LaneOps.Binary half =
        switch (i.opcode()) {
          case "add" -> (a, b) -> a + b;
          case "min" -> (a, b) -> Math.max(floor, Math.min(a, b));
          case "max" -> (a, b) -> Math.max(floor, Math.max(a, b));
          default -> throw Operands.unsupported(i);
        };
    LaneOps.Binary function =
        (a, b) -> {
          long low = half.apply(Bits.read(a, 16, signed), Bits.read(b, 16, signed));
          long high = half.apply(Bits.read(a >>> 16, 16, signed), Bits.read(b >>> 16, 16, signed));
          return (low & Bits.M16) | (high & Bits.M16) << 16;
        };
    return LaneOps.binary(o.destination(0), o.source(1, i.type()), o.source(2, i.type()), function);
  }

  static Op ternary(Operands o, Instruction i) {
    PtxType type = i.type();
    int bits = type.bits();
    long mask = Bits.mask(bits);
    return switch (i.opcode()) {
      case "mad", "mad24" -> multiplyAdd(o, i);
      case "sad" -> {
        LaneOps.Ternary function =
            type.isSigned()
                ? (a, b, c) -> c + distance(Bits.signed(a, bits), Bits.signed(b, bits)) & mask
                : (a, b, c) -> c + (Long.compareUnsigned(a, b) < 0 ? b - a : a - b) & mask;
        yield o.ternary(type, type, type, function);
      }
      case "bfe" ->
          o.ternary(
              type,
              PtxType.U32,
              PtxType.U32,
              (a, b, c) -> Bits.extract(a, b, c, bits, type.isSigned()));
      case "fns" -> o.ternary(type, type, type, Bits::nthSet);
      case "prmt" -> {
        String mode = i.oneOf(".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16");
        yield o.ternary(type, type, type, (a, b, c) -> Bits.permute(a, b, c, mode));
      }
      case "shf" -> {
        boolean wrap = i.has(".wrap");
        LaneOps.Ternary function =
            i.has(".l")
                ? (a, b, c) -> (b << 32 | a) << funnel(c, wrap) >>> 32
                : (a, b, c) -> funnelRight(b << 32 | a, funnel(c, wrap));
        yield o.ternary(type, type, PtxType.U32, function);
      }
      case "dp4a" -> {
        boolean signedA = i.types().get(0).isSigned();
        boolean signedB = i.types().get(1).isSigned();
        yield o.ternary(
            type, i.types().get(1), PtxType.B32, (a, b, c) -> Bits.dot4(a, b, c, signedA, signedB));
      }
      case "dp2a" -> {
        boolean signedA = i.types().get(0).isSigned();
        boolean signedB = i.types().get(1).isSigned();
        boolean high = i.has(".hi");
        yield o.ternary(
            type,
            i.types().get(1),
            PtxType.B32,
            (a, b, c) -> Bits.dot2(a, b, c, signedA, signedB, high));
      }
      default -> throw Operands.unsupported(i);
    };
  }

  private static long distance(long a, long b) {
    return a < b ? b - a : a - b;
  }

  private static int funnel(long amount, boolean wrap) {
    return (int) (wrap ? amount & 31 : Math.min(amount, 32));
  }

  private static long funnelRight(long pair, int amount) {
    return pair >>> amount & Bits.M32;
  }

  private static Op multiplyAdd(Operands o, Instruction i) {
    PtxType type = i.type();
    LaneOps.Binary product = i.opcode().equals("mad24") ? multiply24(i, type) : multiply(i, type);
    int bits = i.has(".wide") ? 2 * type.bits() : type.bits();
    long mask = Bits.mask(bits);
    PtxType third = i.has(".wide") ? Operands.wide(type) : type;
    LaneOps.Ternary function =
        i.has(".sat")
            ? (a, b, c) -> saturate((int) product.apply(a, b) + (long) (int) c)
            : (a, b, c) -> product.apply(a, b) + c & mask;
    return o.ternary(type, type, third, function);
  }

  /** lop3 without and with a predicate of whether the result has a bit. */
  static Op lop3(Operands o, Instruction i) {
    int table = (int) o.constant(4) & 0xFF;
    Op logic =
        LaneOps.ternary(
            o.destinationOr(0),
            o.source(1, i.type()),
            o.source(2, i.type()),
            o.source(3, i.type()),
            (a, b, c) -> Bits.lop3(a, b, c, table));
    if (i.operands().size() == 5) {
      return logic;
    }
    int result = o.destinationOr(0);
    int predicate = o.predicateOfPair(0);
    PredicateSource other = o.predicateSource(5);
    boolean and = i.has(".and");
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        logic.execute(warp, frame, mask);
        int any = 0;
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          any |= frame.registers[result + lane] != 0 ? 1 << lane : 0;
        }
        int lanes = other.lanes(frame);
        Operands.setPredicate(frame, predicate, mask, and ? any & lanes : any | lanes);
      }
    };
  }

  static Op insert(Operands o, Instruction i) {
    int bits = i.type().bits();
    return LaneOps.quaternary(
        o.destination(0),
        o.source(1, i.type()),
        o.source(2, i.type()),
        o.source(3, PtxType.U32),
        o.source(4, PtxType.U32),
        (a, b, c, d) -> Bits.insert(a, b, c, d, bits));
  }

  /**
   * Arithmetic with the carry flag: add.cc, addc, sub.cc, subc, mad.cc, madc.
   *
   * <p>The ISA calls what subtraction leaves in the flag a borrow. Measured, the flag is what the
   * adder carries out, a − b being a + ~b + 1: it is 1 where nothing was borrowed. Nobody can tell
   * as long as subtractions follow each other, but nvcc's 128-bit division follows {@code subc.cc}
   * by {@code addc}, and {@code add.cc 0, 0; subc 0, 0} is known to give −1 on a GPU.
   */
  static Op carry(Operands o, Instruction i) {
    PtxType type = i.type();
    boolean multiply = i.opcode().startsWith("mad");
    boolean carryIn = i.opcode().endsWith("c");
    boolean carryOut = i.has(".cc");
    boolean subtract = i.opcode().startsWith("sub");
    int destination = o.destination(0);
    int a = o.source(1, type);
    int b = o.source(2, type);
    int c = multiply ? o.source(3, type) : b;
    LaneOps.Binary product = multiply ? multiply(i, type) : null;
    int bits = type.bits();
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long x = multiply ? product.apply(r[a + lane], r[b + lane]) : r[a + lane];
          long y = r[c + lane];
          int flag = warp.carry >>> lane & 1;
          long in = carryIn ? (subtract ? 1 - flag : flag) : 0;
          long full = subtract ? x - y - in : x + y + in;
          long result = full & Bits.mask(bits);
          if (carryOut) {
            boolean out =
                subtract
                    ? Long.compareUnsigned(x, y) > 0 || (x == y && in == 0)
                    : Long.compareUnsigned(result, x) < 0 || (result == x && in != 0 && y != 0);
            warp.carry = (warp.carry & ~(1 << lane)) | (out ? 1 << lane : 0);
          }
          r[destination + lane] = result;
        }
      }
    };
  }
}
