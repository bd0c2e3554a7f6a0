package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.PowerOfTwo;

/** Formats of scales, a byte each, none negative (PTX ISA, "Alternate Floating-Point Formats"). */
public enum ScaleFormat {
  /** A power of two: 2^(code − 127); FF is NaN. */
  UE8M0,
  /** E4M3 without its sign, whose bit is not looked at; 7F is NaN. */
  UE4M3;

  private static final int MAGNITUDE = 0x7F;

  /** A code's number. */
  double decode(int code) {
    return switch (this) {
      case UE8M0 -> PowerOfTwo.decode(code);
      case UE4M3 -> FloatFormat.E4M3.decode(code & MAGNITUDE);
    };
  }

  /** The exponent of a finite code's one. */
  int exponent(int code) {
    return switch (this) {
      case UE8M0 -> Math.getExponent(PowerOfTwo.decode(code));
      case UE4M3 -> FloatFormat.E4M3.exponent(code & MAGNITUDE);
    };
  }

  /** The significand of a finite code, {@link #fractionBits} bits after the point. */
  int significand(int code) {
    return switch (this) {
      case UE8M0 -> 1;
      case UE4M3 -> FloatFormat.E4M3.significand(code & MAGNITUDE);
    };
  }

  int fractionBits() {
    return switch (this) {
      case UE8M0 -> 0;
      case UE4M3 -> FloatFormat.E4M3.fractionBits();
    };
  }
}
