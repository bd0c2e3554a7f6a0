package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.F32;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.PowerOfTwo;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * cvt to and from two numbers in one register (PTX ISA, "cvt"): of two F32 operands the first goes
 * into the upper half.
 *
 * <pre>
 *   f16x2, bf16x2   31 | first | 16 | second | 0
 *   e4m3x2 …        15 | first |  8 | second | 0     e2m3x2, e3m2x2: each in the low 6 bits of a byte
 *   e2m1x2           7 | first |  4 | second | 0
 * </pre>
 */
final class PackedConvertOps {
  private PackedConvertOps() {}

  /** A code of one number; a half's code in the cases from packed halves. */
  private interface Encoder {
    int encode(double value);
  }

  static Op convert(Operands o, Instruction i) {
    PtxType to = i.types().get(0);
    PtxType from = i.types().get(1);
    int bits = elementBits(to);
    if (from == PtxType.F32) {
      Encoder encoder = encoder(i, to);
      return LaneOps.binary(
          o.destination(0),
          o.source(1, from),
          o.source(2, from),
          (a, b) -> (long) encoder.encode(F32.of(a)) << bits | encoder.encode(F32.of(b)));
    }
    int fromBits = elementBits(from);
    long mask = Bits.mask(fromBits);
    Encoder encoder = encoder(i, to);
    PtxType read = fromBits == 4 ? PtxType.B8 : fromBits == 8 ? PtxType.B16 : PtxType.B32;
    return LaneOps.unary(
        o.destination(0),
        o.source(1, read),
        a ->
            (long) encoder.encode(decode((int) (a >>> fromBits & mask), from)) << bits
                | encoder.encode(decode((int) (a & mask), from)));
  }

  private static int elementBits(PtxType type) {
    return switch (type) {
      case F16X2, BF16X2 -> 16;
      case E2M1X2 -> 4;
      default -> 8;
    };
  }

  private static FloatFormat format(PtxType type) {
    return switch (type) {
      case F16X2 -> FloatFormat.F16;
      case BF16X2 -> FloatFormat.BF16;
      case E4M3X2 -> FloatFormat.E4M3;
      case E5M2X2 -> FloatFormat.E5M2;
      case E2M1X2 -> FloatFormat.E2M1;
      case E2M3X2 -> FloatFormat.E2M3;
      case E3M2X2 -> FloatFormat.E3M2;
      default -> throw new IllegalStateException("no packed numbers of type " + type);
    };
  }

  private static double decode(int code, PtxType type) {
    return type == PtxType.UE8M0X2 ? PowerOfTwo.decode(code) : format(type).decode(code);
  }

  private static Encoder encoder(Instruction i, PtxType to) {
    Rounding rounding = Rounding.of(i.oneOf(".rn", ".rz", ".rp"));
    boolean saturate = i.has(".satfinite");
    if (to == PtxType.UE8M0X2) {
      return value -> PowerOfTwo.encode(value, rounding == Rounding.UP, saturate);
    }
    FloatFormat format = format(to);
    if (!i.has(".relu")) {
      return value -> format.encode(value, rounding, saturate);
    }
    return value ->
        format.encode(!Double.isNaN(value) && !(value > 0) ? 0.0 : value, rounding, saturate);
  }
}
