package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.numeric.F32;
import dev.minifloat.cuda.sim.internal.numeric.F64;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** What atom and red make of the old value and their operands (PTX ISA, "atom"). */
final class AtomicFunctions {
  private AtomicFunctions() {}

  static LaneOps.Ternary of(Instruction i) {
    PtxType type = i.type();
    int bits = type.bits();
    long mask = Bits.mask(bits);
    String operation =
        i.oneOf(".and", ".or", ".xor", ".exch", ".cas", ".add", ".inc", ".dec", ".min", ".max");
    return switch (operation) {
      case ".and" -> (old, b, c) -> old & b;
      case ".or" -> (old, b, c) -> old | b;
      case ".xor" -> (old, b, c) -> old ^ b;
      case ".exch" -> (old, b, c) -> b;
      case ".cas" -> (old, b, c) -> old == b ? c : old;
      case ".inc" -> (old, b, c) -> old >= b ? 0 : old + 1;
      case ".dec" -> (old, b, c) -> old == 0 || old > b ? b : old - 1;
      case ".min" ->
          type.isSigned()
              ? (old, b, c) -> Bits.signed(old, bits) <= Bits.signed(b, bits) ? old : b
              : (old, b, c) -> Long.compareUnsigned(old, b) <= 0 ? old : b;
      case ".max" ->
          type.isSigned()
              ? (old, b, c) -> Bits.signed(old, bits) >= Bits.signed(b, bits) ? old : b
              : (old, b, c) -> Long.compareUnsigned(old, b) >= 0 ? old : b;
      case ".add" ->
          addition(type, mask, i.space() != dev.minifloat.cuda.sim.internal.ptx.StateSpace.SHARED);
      default -> throw Operands.unsupported(i);
    };
  }

  /** On global memory F32 sums flush subnormal numbers, on shared memory they keep them. */
  private static LaneOps.Ternary addition(PtxType type, long mask, boolean flush) {
    return switch (type) {
      case F32 ->
          flush
              ? (old, b, c) ->
                  F32.flush(F32.add(F32.flush(old), F32.flush(b), Rounding.NEAREST_EVEN))
              : (old, b, c) -> F32.add(old, b, Rounding.NEAREST_EVEN);
      case F64 -> (old, b, c) -> F64.add(old, b, Rounding.NEAREST_EVEN);
      case F16, BF16 -> {
        FloatFormat format = HalfOps.format(type);
        yield (old, b, c) -> HalfOps.add((int) old, (int) b, format) & Bits.M16;
      }
      case F16X2, BF16X2 -> {
        FloatFormat format = HalfOps.format(type);
        yield (old, b, c) ->
            HalfOps.pack(
                HalfOps.add(HalfOps.low(old), HalfOps.low(b), format),
                HalfOps.add(HalfOps.high(old), HalfOps.high(b), format));
      }
      default -> (old, b, c) -> old + b & mask;
    };
  }
}
