package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;

/** The kinds of {@code tcgen05.mma} (PTX ISA, "tcgen05.mma"): what their matrices hold. */
public enum TensorKind {
  F16(16, 16),
  TF32(8, 32),
  F8F6F4(32, 8),
  MXF8F6F4(32, 8),
  MXF4(64, 4),
  MXF4NVF4(64, 4);

  private final int depth;
  private final int heldBits;

  TensorKind(int depth, int heldBits) {
    this.depth = depth;
    this.heldBits = heldBits;
  }

  /** The kind of a word such as {@code .kind::f16}; null if it names none. */
  public static TensorKind of(String word) {
    for (TensorKind kind : values()) {
      if (word.equalsIgnoreCase(".kind::" + kind)) {
        return kind;
      }
    }
    return null;
  }

  /** Elements of K. */
  public int depth() {
    return depth;
  }

  /** Bits that an element takes up in shared memory, on average: 16 of 6 bits fill 16 bytes. */
  public int heldBits() {
    return heldBits;
  }

  /** Whether its matrices come with scales of blocks of K. */
  public boolean isScaled() {
    return compareTo(MXF8F6F4) >= 0;
  }

  /** The format of A or B that an instruction descriptor's number names; null if none. */
  FloatFormat format(int number) {
    return switch (this) {
      case F16 -> number == 0 ? FloatFormat.F16 : number == 1 ? FloatFormat.BF16 : null;
      case TF32 -> number == 2 ? FloatFormat.TF32 : null;
      case F8F6F4, MXF8F6F4 ->
          switch (number) {
            case 0 -> FloatFormat.E4M3;
            case 1 -> FloatFormat.E5M2;
            case 3 -> FloatFormat.E2M3;
            case 4 -> FloatFormat.E3M2;
            case 5 -> FloatFormat.E2M1;
            default -> null;
          };
      case MXF4, MXF4NVF4 -> number == 1 ? FloatFormat.E2M1 : null;
    };
  }
}
