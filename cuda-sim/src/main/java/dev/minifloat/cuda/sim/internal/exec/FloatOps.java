package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.Approximate;
import dev.minifloat.cuda.sim.internal.numeric.F32;
import dev.minifloat.cuda.sim.internal.numeric.F64;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** F32 and F64 arithmetic (PTX ISA, "Floating Point Instructions"). */
final class FloatOps {
  private static final long SIGN_32 = 0x8000_0000L;
  private static final long SIGN_64 = Long.MIN_VALUE;

  private FloatOps() {}

  static Rounding rounding(Instruction i) {
    return Rounding.of(i.oneOf(".rn", ".rz", ".rm", ".rp"));
  }

  static Op unary(Operands o, Instruction i) {
    PtxType type = i.type();
    LaneOps.Unary function = type == PtxType.F64 ? unary64(i) : flushed(i, unary32(i));
    return LaneOps.unary(o.destination(0), o.source(1, type), function);
  }

  private static LaneOps.Unary unary32(Instruction i) {
    Rounding rounding = rounding(i);
    boolean approximate = i.has(".approx");
    return switch (i.opcode()) {
      case "abs" -> a -> a & ~SIGN_32;
      case "neg" -> a -> a ^ SIGN_32;
      case "rcp" ->
          approximate
              ? a -> F32.bits(Approximate.reciprocal(F32.of(a)))
              : a -> F32.divide(0x3F80_0000L, a, rounding);
      case "sqrt" ->
          approximate ? a -> F32.sqrt(a, Rounding.NEAREST_EVEN) : a -> F32.sqrt(a, rounding);
      case "rsqrt" -> a -> F32.bits(Approximate.reciprocalRoot(F32.of(a)));
      case "sin" -> a -> F32.bits(Approximate.sine(F32.of(a)));
      case "cos" -> a -> F32.bits(Approximate.cosine(F32.of(a)));
      case "lg2" -> a -> F32.bits(Approximate.log2(F32.of(a)));
      case "ex2" -> a -> F32.bits(Approximate.power2(F32.of(a)));
      case "tanh" -> a -> F32.bits(Approximate.tanh(F32.of(a)));
      default -> throw Operands.unsupported(i);
    };
  }

  private static LaneOps.Unary unary64(Instruction i) {
    Rounding rounding = rounding(i);
    boolean upperHalf = i.has(".ftz");
    long one = F64.bits(1);
    return switch (i.opcode()) {
      case "abs" -> a -> a & ~SIGN_64;
      case "neg" -> a -> a ^ SIGN_64;
      case "rcp" ->
          upperHalf
              ? a -> F64.bits(Approximate.reciprocalUpperHalf(F64.of(a)))
              : a -> F64.divide(one, a, rounding);
      case "sqrt" -> a -> F64.sqrt(a, rounding);
      case "rsqrt" ->
          upperHalf
              ? a -> F64.bits(Approximate.reciprocalRootUpperHalf(F64.of(a)))
              : a -> F64.bits(1 / Math.sqrt(F64.of(a)));
      default -> throw Operands.unsupported(i);
    };
  }

  private static LaneOps.Unary flushed(Instruction i, LaneOps.Unary function) {
    return i.has(".ftz") ? a -> F32.flush(function.apply(F32.flush(a))) : function;
  }

  static Op binary(Operands o, Instruction i) {
    PtxType type = i.type();
    LaneOps.Binary function = type == PtxType.F64 ? binary64(i) : finished(i, binary32(i));
    return LaneOps.binary(o.destination(0), o.source(1, type), o.source(2, type), function);
  }

  private static LaneOps.Binary binary32(Instruction i) {
    Rounding rounding = rounding(i);
    boolean nearest = rounding == Rounding.NEAREST_EVEN;
    return switch (i.opcode()) {
      case "add" ->
          nearest ? (a, b) -> F32.bits(F32.of(a) + F32.of(b)) : (a, b) -> F32.add(a, b, rounding);
      case "sub" ->
          nearest
              ? (a, b) -> F32.bits(F32.of(a) - F32.of(b))
              : (a, b) -> F32.add(a, b ^ SIGN_32, rounding);
      case "mul" ->
          nearest
              ? (a, b) -> F32.bits(F32.of(a) * F32.of(b))
              : (a, b) -> F32.multiply(a, b, rounding);
      case "div" -> divide(i, rounding);
      case "min", "max" -> extreme32(i);
      case "copysign" -> (a, b) -> (b & ~SIGN_32) | (a & SIGN_32);
      default -> throw Operands.unsupported(i);
    };
  }

  private static LaneOps.Binary divide(Instruction i, Rounding rounding) {
    if (i.has(".approx")) {
      return (a, b) -> F32.bits(Approximate.divide(F32.of(a), F32.of(b)));
    }
    return (a, b) -> F32.divide(a, b, rounding);
  }

  private static LaneOps.Binary binary64(Instruction i) {
    Rounding rounding = rounding(i);
    return switch (i.opcode()) {
      case "add" -> (a, b) -> F64.add(a, b, rounding);
      case "sub" -> (a, b) -> F64.add(a, b ^ SIGN_64, rounding);
      case "mul" -> (a, b) -> F64.multiply(a, b, rounding);
      case "div" -> (a, b) -> F64.divide(a, b, rounding);
      case "min" -> (a, b) -> F64.bits(extreme64(F64.of(a), F64.of(b), true));
      case "max" -> (a, b) -> F64.bits(extreme64(F64.of(a), F64.of(b), false));
      case "copysign" -> (a, b) -> (b & ~SIGN_64) | (a & SIGN_64);
      default -> throw Operands.unsupported(i);
    };
  }

  private static double extreme64(double a, double b, boolean min) {
    if (Double.isNaN(a)) {
      return b;
    }
    if (Double.isNaN(b)) {
      return a;
    }
    return min ? Math.min(a, b) : Math.max(a, b);
  }

  private static LaneOps.Binary extreme32(Instruction i) {
    boolean min = i.opcode().equals("min");
    boolean keepNan = i.has(".NaN");
    boolean xorSign = i.has(".xorsign");
    return (a, b) -> {
      long sign = (a ^ b) & SIGN_32;
      float x = F32.of(xorSign ? a & ~SIGN_32 : a);
      float y = F32.of(xorSign ? b & ~SIGN_32 : b);
      float chosen;
      if (Double.isNaN(x) || Double.isNaN(y)) {
        chosen =
            keepNan || (Double.isNaN(x) && Double.isNaN(y)) ? Float.NaN : Double.isNaN(x) ? y : x;
      } else {
        chosen = min ? Math.min(x, y) : Math.max(x, y);
      }
      return xorSign && !Double.isNaN(chosen) ? F32.bits(chosen) | sign : F32.bits(chosen);
    };
  }

  /** Inputs and result flushed and the result saturated, as the modifiers say. */
  private static LaneOps.Binary finished(Instruction i, LaneOps.Binary function) {
    LaneOps.Binary flushed =
        i.has(".ftz") ? (a, b) -> F32.flush(function.apply(F32.flush(a), F32.flush(b))) : function;
    return i.has(".sat") ? (a, b) -> F32.saturate(flushed.apply(a, b)) : flushed;
  }

  static Op multiplyAdd(Operands o, Instruction i) {
    PtxType type = i.type();
    Rounding rounding = rounding(i);
    if (type == PtxType.F64) {
      return o.ternary(type, type, type, (a, b, c) -> F64.multiplyAdd(a, b, c, rounding));
    }
    LaneOps.Ternary exact =
        rounding == Rounding.NEAREST_EVEN
            ? (a, b, c) -> F32.bits(Math.fma(F32.of(a), F32.of(b), F32.of(c)))
            : (a, b, c) -> F32.multiplyAdd(a, b, c, rounding);
    LaneOps.Ternary flushed =
        i.has(".ftz")
            ? (a, b, c) -> F32.flush(exact.apply(F32.flush(a), F32.flush(b), F32.flush(c)))
            : exact;
    LaneOps.Ternary function =
        i.has(".sat") ? (a, b, c) -> F32.saturate(flushed.apply(a, b, c)) : flushed;
    return o.ternary(type, type, type, function);
  }

  static Op testProperty(Operands o, Instruction i) {
    boolean single = i.type() == PtxType.F32;
    String property =
        i.oneOf(".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal");
    LaneOps.Comparison test =
        (a, _) -> {
          double value = single ? F32.of(a) : F64.of(a);
          double magnitude = Math.abs(value);
          double normal = single ? Float.MIN_NORMAL : Double.MIN_NORMAL;
          return switch (property) {
            case ".finite" -> Double.isFinite(value);
            case ".infinite" -> Double.isInfinite(value);
            case ".number" -> !Double.isNaN(value);
            case ".notanumber" -> Double.isNaN(value);
            case ".normal" -> Double.isFinite(value) && magnitude >= normal;
            default -> magnitude > 0 && magnitude < normal;
          };
        };
    int source = o.source(1, i.type());
    int destination = o.predicateDestination(0);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        int holds = LaneOps.compare(frame.registers, source, source, mask, test);
        Operands.setPredicate(frame, destination, mask, holds);
      }
    };
  }
}
