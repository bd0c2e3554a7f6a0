package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.F32;
import dev.minifloat.cuda.sim.internal.numeric.F64;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** set, setp, selp and slct (PTX ISA, "Comparison and Selection Instructions"). */
final class CompareOps {
  private static final String[] OPERATORS = {
    ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu",
    ".leu", ".gtu", ".geu", ".num", ".nan"
  };

  private CompareOps() {}

  private static LaneOps.Comparison comparison(Instruction i, PtxType type) {
    String operator = i.oneOf(OPERATORS);
    if (HalfOps.isHalf(type)) {
      FloatFormat format = HalfOps.format(type);
      boolean flush = i.has(".ftz");
      return (a, b) -> holds(operator, half((int) a, format, flush), half((int) b, format, flush));
    }
    if (type == PtxType.F32) {
      return i.has(".ftz")
          ? (a, b) -> holds(operator, F32.of(F32.flush(a)), F32.of(F32.flush(b)))
          : (a, b) -> holds(operator, F32.of(a), F32.of(b));
    }
    if (type == PtxType.F64) {
      return (a, b) -> holds(operator, F64.of(a), F64.of(b));
    }
    int bits = type.bits();
    boolean signed = type.isSigned();
    return switch (operator) {
      case ".eq" -> (a, b) -> a == b;
      case ".ne" -> (a, b) -> a != b;
      case ".lt", ".lo" -> (a, b) -> order(a, b, bits, signed) < 0;
      case ".le", ".ls" -> (a, b) -> order(a, b, bits, signed) <= 0;
      case ".gt", ".hi" -> (a, b) -> order(a, b, bits, signed) > 0;
      case ".ge", ".hs" -> (a, b) -> order(a, b, bits, signed) >= 0;
      default -> throw Operands.unsupported(i);
    };
  }

  private static double half(int code, FloatFormat format, boolean flush) {
    return flush && format.isSubnormal(code) ? 0 : HalfOps.decode(code, format);
  }

  private static int order(long a, long b, int bits, boolean signed) {
    return signed
        ? Long.compare(Bits.signed(a, bits), Bits.signed(b, bits))
        : Long.compareUnsigned(a, b);
  }

  private static boolean holds(String operator, double a, double b) {
    boolean unordered = Double.isNaN(a) || Double.isNaN(b);
    return switch (operator) {
      case ".eq" -> a == b;
      case ".ne" -> !unordered && a != b;
      case ".lt" -> a < b;
      case ".le" -> a <= b;
      case ".gt" -> a > b;
      case ".ge" -> a >= b;
      case ".equ" -> unordered || a == b;
      case ".neu" -> unordered || a != b;
      case ".ltu" -> unordered || a < b;
      case ".leu" -> unordered || a <= b;
      case ".gtu" -> unordered || a > b;
      case ".geu" -> unordered || a >= b;
      case ".num" -> !unordered;
      case ".nan" -> unordered;
      default -> throw new IllegalStateException("comparison " + operator);
    };
  }

  private static int combine(String bool, int holds, PredicateSource other, Frame frame) {
    return switch (bool) {
      case ".and" -> holds & other.lanes(frame);
      case ".or" -> holds | other.lanes(frame);
      case ".xor" -> holds ^ other.lanes(frame);
      default -> holds;
    };
  }

  private static PredicateSource other(Operands o, Instruction i) {
    return i.operands().size() == 4 ? o.predicateSource(3) : null;
  }

  /** setp: {@code p|q} get the comparison and its opposite, or a packed type's two halves. */
  static Op setPredicate(Operands o, Instruction i) {
    PtxType type = i.type();
    LaneOps.Comparison comparison = comparison(i, type);
    int first = o.predicateDestination(0);
    int second = o.predicateOfPair(0);
    int a = o.source(1, type);
    int b = o.source(2, type);
    PredicateSource other = other(o, i);
    String bool = i.oneOf(".and", ".or", ".xor");
    boolean packed = HalfOps.isPacked(type);
    LaneOps.Comparison low =
        packed ? (x, y) -> comparison.test(x & Bits.M16, y & Bits.M16) : comparison;
    LaneOps.Comparison high = (x, y) -> comparison.test(x >>> 16, y >>> 16);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        int holds = LaneOps.compare(r, a, b, mask, low);
        int opposite = packed ? LaneOps.compare(r, a, b, mask, high) : ~holds;
        int p = combine(bool, holds, other, frame);
        int q = combine(bool, opposite, other, frame);
        Operands.setPredicate(frame, first, mask, p);
        Operands.setPredicate(frame, second, mask, q);
      }
    };
  }

  /** set: the comparison as a number: all ones or 1.0 where it holds, else 0. */
  static Op setNumber(Operands o, Instruction i) {
    PtxType result = i.type();
    PtxType type = i.types().get(1);
    LaneOps.Comparison comparison = comparison(i, type);
    int destination = o.destination(0);
    int a = o.source(1, type);
    int b = o.source(2, type);
    PredicateSource other = other(o, i);
    String bool = i.oneOf(".and", ".or", ".xor");
    boolean packed = HalfOps.isPacked(type);
    boolean whole = result.isInteger();
    long yes = one(result);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        if (packed) {
          int low =
              LaneOps.compare(r, a, b, mask, (x, y) -> comparison.test(x & Bits.M16, y & Bits.M16));
          int high = LaneOps.compare(r, a, b, mask, (x, y) -> comparison.test(x >>> 16, y >>> 16));
          long half = whole ? Bits.M16 : yes;
          for (int m = mask; m != 0; m &= m - 1) {
            int lane = Integer.numberOfTrailingZeros(m);
            r[destination + lane] =
                ((low >>> lane & 1) != 0 ? half : 0) | ((high >>> lane & 1) != 0 ? half << 16 : 0);
          }
          return;
        }
        int holds = combine(bool, LaneOps.compare(r, a, b, mask, comparison), other, frame);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          r[destination + lane] = (holds >>> lane & 1) != 0 ? yes : 0;
        }
      }
    };
  }

  private static long one(PtxType type) {
    return switch (type) {
      case F32 -> 0x3F80_0000L;
      case F16, F16X2 -> 0x3C00;
      case BF16, BF16X2 -> 0x3F80;
      default -> Bits.mask(type.bits());
    };
  }

  static Op select(Operands o, Instruction i) {
    PtxType type = i.type();
    int destination = o.destination(0);
    int a = o.source(1, type);
    int b = o.source(2, type);
    PredicateSource chooses = o.predicateSource(3);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        int first = chooses.lanes(frame);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          r[destination + lane] = (first >>> lane & 1) != 0 ? r[a + lane] : r[b + lane];
        }
      }
    };
  }

  /** slct: a if c ≥ 0, else b; a NaN chooses b. */
  static Op selectBySign(Operands o, Instruction i) {
    PtxType type = i.type();
    PtxType chooser = i.types().get(1);
    boolean flush = i.has(".ftz");
    LaneOps.Ternary function =
        chooser == PtxType.F32
            ? (a, b, c) -> F32.of(flush ? F32.flush(c) : c) >= 0 ? a : b
            : (a, b, c) -> (int) c >= 0 ? a : b;
    return o.ternary(type, type, chooser, function);
  }
}
