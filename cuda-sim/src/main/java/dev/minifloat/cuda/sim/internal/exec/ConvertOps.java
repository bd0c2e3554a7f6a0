package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.F32;
import dev.minifloat.cuda.sim.internal.numeric.F64;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import java.math.BigDecimal;
import java.math.BigInteger;

/** cvt between scalar types (PTX ISA, "cvt"); {@link PackedConvertOps} has the packed ones. */
final class ConvertOps {
  private ConvertOps() {}

  static Op convert(Operands o, Instruction i) {
    PtxType to = i.types().get(0);
    PtxType from = i.types().get(1);
    if (to.kind() == PtxType.Kind.PACKED || from.kind() == PtxType.Kind.PACKED) {
      return PackedConvertOps.convert(o, i);
    }
    LaneOps.Unary function;
    if (to.isFloat()) {
      function = from.isFloat() ? floatToFloat(i, from, to) : integerToFloat(i, from, to);
    } else {
      function = from.isFloat() ? floatToInteger(i, from, to) : integerToInteger(i, from, to);
      LaneOps.Unary narrow = function;
      // A wider register gets the number, not its bits.
      int width = o.destinationBits(0);
      boolean signed = to.isSigned();
      function = a -> Bits.read(narrow.apply(a), to.bits(), signed) & Bits.mask(width);
    }
    PtxType read = from.isFloat() ? from : PtxType.B64;
    return LaneOps.unary(o.destination(0), o.source(1, read), function);
  }

  private static LaneOps.Unary integerToInteger(Instruction i, PtxType from, PtxType to) {
    int fromBits = from.bits();
    boolean fromSigned = from.isSigned();
    if (!i.has(".sat")) {
      return a -> Bits.read(a, fromBits, fromSigned);
    }
    BigInteger least =
        to.isSigned() ? BigInteger.ONE.shiftLeft(to.bits() - 1).negate() : BigInteger.ZERO;
    BigInteger most =
        BigInteger.ONE.shiftLeft(to.bits() - (to.isSigned() ? 1 : 0)).subtract(BigInteger.ONE);
    return a -> {
      long value = Bits.read(a, fromBits, fromSigned);
      BigInteger exact =
          fromSigned ? BigInteger.valueOf(value) : new BigInteger(Long.toUnsignedString(value));
      return exact.max(least).min(most).longValue();
    };
  }

  private static LaneOps.Unary floatToInteger(Instruction i, PtxType from, PtxType to) {
    Rounding rounding = Rounding.of(i.oneOf(".rni", ".rzi", ".rmi", ".rpi"));
    boolean flush = i.has(".ftz");
    int bits = to.bits();
    boolean signed = to.isSigned();
    double least = signed ? -Math.scalb(1.0, bits - 1) : 0;
    double beyond = Math.scalb(1.0, signed ? bits - 1 : bits);
    long largest = signed ? Bits.mask(bits) >>> 1 : Bits.mask(bits);
    return a -> {
      double value = toInteger(decode(a, from, flush), rounding);
      if (Double.isNaN(value)) {
        return 0;
      }
      if (value >= beyond) {
        return largest;
      }
      if (value <= least) {
        return signed ? 1L << (bits - 1) : 0;
      }
      return value < 0x1p63 ? (long) value : (long) (value - 0x1p63) ^ Long.MIN_VALUE;
    };
  }

  /** The number of a register's bits. */
  private static double decode(long bits, PtxType type, boolean flush) {
    return switch (type) {
      case F32 -> F32.of(flush ? F32.flush(bits) : bits);
      case F64 -> F64.of(bits);
      case F16 -> {
        int code = (int) bits & 0xFFFF;
        yield flush && FloatFormat.F16.isSubnormal(code)
            ? Math.copySign(0.0, (short) code)
            : Float.float16ToFloat((short) code);
      }
      case BF16 -> Float.intBitsToFloat((int) bits << 16);
      default -> throw new IllegalStateException("no number of type " + type);
    };
  }

  private static double toInteger(double value, Rounding rounding) {
    return switch (rounding) {
      case NEAREST_EVEN -> Math.rint(value);
      case NEAREST_AWAY -> throw new IllegalStateException("no such rounding to integers");
      case ZERO -> value < 0 ? Math.ceil(value) : Math.floor(value);
      case DOWN -> Math.floor(value);
      case UP -> Math.ceil(value);
    };
  }

  private static LaneOps.Unary integerToFloat(Instruction i, PtxType from, PtxType to) {
    Rounding rounding = FloatOps.rounding(i);
    int bits = from.bits();
    boolean signed = from.isSigned();
    LaneOps.Unary plain =
        to == PtxType.F64
            ? a -> integerToDouble(Bits.read(a, bits, signed), signed, rounding)
            : a -> encode(Exact.ofLong(Bits.read(a, bits, signed), signed), to, rounding, false);
    return i.has(".sat") ? a -> saturate(plain.apply(a), to) : plain;
  }

  private static long integerToDouble(long value, boolean signed, Rounding rounding) {
    if (Math.abs(value) <= 1L << 53 && (signed || value >= 0)) {
      return F64.bits((double) value);
    }
    BigInteger exact =
        signed ? BigInteger.valueOf(value) : new BigInteger(Long.toUnsignedString(value));
    return F64.bits(Exact.round(new BigDecimal(exact), rounding));
  }

  /** A number, exact or rounded to odd, in a type of 32 bits or fewer. */
  private static long encode(double value, PtxType type, Rounding rounding, boolean saturate) {
    return switch (type) {
      case F32 -> F32.round(value, rounding);
      case F16 -> FloatFormat.F16.encode(value, rounding, saturate) & Bits.M16;
      case BF16 -> FloatFormat.BF16.encode(value, rounding, saturate) & Bits.M16;
      // The fraction's missing bits stand below it.
      case TF32 -> ((long) FloatFormat.TF32.encode(value, rounding, saturate) << 13) & Bits.M32;
      default -> throw new IllegalStateException("no number of type " + type);
    };
  }

  private static long saturate(long bits, PtxType type) {
    if (type == PtxType.F32) {
      return F32.saturate(bits);
    }
    if (type == PtxType.F64) {
      double value = F64.of(bits);
      return value > 0 ? F64.bits(Math.min(value, 1)) : 0;
    }
    double value = decode(bits, type, false);
    return value > 0 ? value >= 1 ? encode(1, type, Rounding.ZERO, false) : bits : 0;
  }

  private static LaneOps.Unary floatToFloat(Instruction i, PtxType from, PtxType to) {
    String whole = i.oneOf(".rni", ".rzi", ".rmi", ".rpi");
    Rounding rounding =
        Rounding.of(i.oneOf(".rn", ".rz", ".rm", ".rp", ".rna", ".rni", ".rzi", ".rmi", ".rpi"));
    boolean toWhole = !whole.isEmpty() || (from == to && to == PtxType.BF16);
    boolean flush = i.has(".ftz");
    boolean finite = i.has(".satfinite");
    boolean relu = i.has(".relu");
    LaneOps.Unary plain =
        a -> {
          double value = decode(a, from, flush);
          value = toWhole ? toInteger(value, rounding) : value;
          if (to == PtxType.F64) {
            return F64.bits(value);
          }
          // Negative numbers and −0 become +0; NaN stays.
          value = relu && !(value > 0) && !Double.isNaN(value) ? 0.0 : value;
          long bits = encode(value, to, rounding, finite);
          return flush && to == PtxType.F32 ? F32.flush(bits) : bits;
        };
    return i.has(".sat") ? a -> saturate(plain.apply(a), to) : plain;
  }
}
