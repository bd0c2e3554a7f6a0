package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * Arithmetic on two or four integers in a register (PTX ISA, "SIMD Video Instructions"), in the
 * forms without selectors and masks.
 *
 * <pre>
 *   v…2   bits 31–16 | 15–0              v…4   bits 31–24 | 23–16 | 15–8 | 7–0
 *   d[i] = op(a[i], b[i]), wrapped or, with .sat, clamped     .add: d = c + Σ op(a[i], b[i])
 * </pre>
 */
final class VideoOps {
  private VideoOps() {}

  static Op decode(Operands o, Instruction i) {
    PtxType result = i.types().get(0);
    boolean aSigned = i.types().get(1).isSigned();
    boolean bSigned = i.types().get(2).isSigned();
    int count = i.opcode().charAt(i.opcode().length() - 1) - '0';
    int bits = 32 / count;
    String operation = i.opcode().substring(1, i.opcode().length() - 1);
    boolean saturate = i.has(".sat");
    boolean accumulate = i.has(".add");
    return o.ternary(
        PtxType.B32,
        PtxType.B32,
        PtxType.B32,
        (a, b, c) -> {
          long packed = 0;
          long sum = c;
          for (int part = 0; part < count; part++) {
            int shift = part * bits;
            long value =
                apply(
                    operation,
                    Bits.read(a >>> shift & Bits.mask(bits), bits, aSigned),
                    Bits.read(b >>> shift & Bits.mask(bits), bits, bSigned));
            sum += value;
            long kept = saturate ? clamp(value, bits, result.isSigned()) : value;
            packed |= (kept & Bits.mask(bits)) << shift;
          }
          return accumulate ? sum & Bits.M32 : packed;
        });
  }

  private static long apply(String operation, long a, long b) {
    return switch (operation) {
      case "add" -> a + b;
      case "sub" -> a - b;
      case "absdiff" -> Math.abs(a - b);
      case "min" -> Math.min(a, b);
      case "max" -> Math.max(a, b);
      default -> throw new IllegalStateException("v" + operation);
    };
  }

  private static long clamp(long value, int bits, boolean signed) {
    return signed
        ? Math.clamp(value, -(1L << (bits - 1)), (1L << (bits - 1)) - 1)
        : Math.clamp(value, 0, (1L << bits) - 1);
  }
}
