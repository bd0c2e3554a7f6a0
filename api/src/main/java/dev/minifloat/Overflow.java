package dev.minifloat;

import java.util.Objects;

/** What an encoder gives for a value beyond a format's largest finite one. */
public enum Overflow {
  /** ±Inf and overflow give the largest finite value of that sign. */
  SATURATE,
  /**
   * Inf where the format has it, NaN in E4M3 and E8M0; formats with neither (F6, F4, the integers)
   * saturate. With {@link Rounding#TOWARD_ZERO} only an infinite input overflows.
   */
  IEEE;

  /** The default of a format: {@link #SATURATE} at 8 bits or fewer, {@link #IEEE} above. */
  public static Overflow defaultFor(DType dtype) {
    return Objects.requireNonNull(dtype, "dtype").bits() <= 8 || dtype.isInteger()
        ? SATURATE
        : IEEE;
  }
}
