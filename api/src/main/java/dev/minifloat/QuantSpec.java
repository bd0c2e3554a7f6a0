package dev.minifloat;

import java.util.Objects;

/**
 * What {@code quantize} makes of a tensor: element format, scaling, and how it rounds.
 *
 * @param dtype element format
 * @param scaling which elements share a scale
 * @param rounding how elements are rounded; scales are always rounded as their rule says
 * @param overflow what an element beyond the format's largest value becomes
 * @param mxRule the scale rule, read with {@link Scaling#mx()} only
 */
public record QuantSpec(
    DType dtype, Scaling scaling, Rounding rounding, Overflow overflow, MxScaleRule mxRule) {

  /**
   * Checks that the parts fit.
   *
   * @throws IllegalArgumentException if {@code dtype} can't be scaled this way
   */
  public QuantSpec {
    Objects.requireNonNull(dtype, "dtype");
    Objects.requireNonNull(scaling, "scaling");
    Objects.requireNonNull(rounding, "rounding");
    Objects.requireNonNull(overflow, "overflow");
    Objects.requireNonNull(mxRule, "mxRule");
    if (!scaling.isValidFor(dtype)) {
      throw new IllegalArgumentException(
          "scaling: " + dtype + " has no scaling \"" + scaling + "\"");
    }
  }

  /** Nearest-even and saturating; E2M1 by MX, everything else with one scale for the tensor. */
  public static QuantSpec of(DType dtype) {
    Objects.requireNonNull(dtype, "dtype");
    Scaling scaling =
        dtype == DType.F4_E2M1
            ? Scaling.mx()
            : Scaling.tensor().isValidFor(dtype) ? Scaling.tensor() : Scaling.none();
    return new QuantSpec(
        dtype, scaling, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype), MxScaleRule.FLOOR);
  }

  /** The same with another scaling. */
  public QuantSpec scaling(Scaling scaling) {
    return new QuantSpec(dtype, scaling, rounding, overflow, mxRule);
  }

  /** The same with another rounding of the elements. */
  public QuantSpec rounding(Rounding rounding) {
    return new QuantSpec(dtype, scaling, rounding, overflow, mxRule);
  }

  /** The same with another treatment of overflow. */
  public QuantSpec overflow(Overflow overflow) {
    return new QuantSpec(dtype, scaling, rounding, overflow, mxRule);
  }

  /** The same with another rule for MX scales. */
  public QuantSpec mxRule(MxScaleRule mxRule) {
    return new QuantSpec(dtype, scaling, rounding, overflow, mxRule);
  }
}
