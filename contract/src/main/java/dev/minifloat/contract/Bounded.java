package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;

/** Exact values, and for each the bound within which a backend must come before it rounds. */
final class Bounded {
  private final double[] exact;
  private final double[] error;

  /** Keeps both arrays, of the same length. */
  Bounded(double[] exact, double[] error) {
    this.exact = exact;
    this.error = error;
  }

  /** The exact values, before they are rounded to the output; row-major. */
  double[] exact() {
    return exact;
  }

  /** The bound of each element. */
  double[] error() {
    return error;
  }

  /** Throws unless every element lies within its bound, after rounding to the result's type. */
  void requireAdmits(String what, HostTensor actual) {
    for (int i = 0; i < exact.length; i++) {
      double got = Codec.decodeDouble(actual.dtype(), actual.code(i));
      if (!ErrorBounds.admits(actual.dtype(), exact[i], error[i], got)) {
        throw new ContractViolation(
            "%s: element %d of %s is %s, expected %s within %s (off by %s)"
                .formatted(what, i, actual, got, exact[i], error[i], Math.abs(got - exact[i])));
      }
    }
  }

  /** Throws unless a scalar lies within the bound of the one element. */
  void requireAdmits(String what, float actual) {
    if (!ErrorBounds.admits(DType.F32, exact[0], error[0], actual)) {
      throw new ContractViolation(
          "%s: is %s, expected %s within %s (off by %s)"
              .formatted(what, actual, exact[0], error[0], Math.abs(actual - exact[0])));
    }
  }

  /**
   * Throws unless a quantized D could come from values within the bounds: scale rules and rounding
   * are monotonic, so scales lie between those of the least and the largest amax, and elements, by
   * the scale that was chosen, between those of the least and the largest value.
   */
  void requireAdmitsQuantized(String what, HostTensor actual, QuantSpec spec) {
    double[] least = scales(actual, spec, -1);
    double[] most = scales(actual, spec, 1);
    for (int i = 0; i < exact.length; i++) {
      int block = (int) actual.grid().indexOf(i);
      int code = PackedElements.get(actual.scaling().scaleDType(), actual.scales(), block);
      double scale = Codec.decodeDouble(actual.scaling().scaleDType(), code);
      if (scale < least[block] || scale > most[block]) {
        throw new ContractViolation(
            "%s: scale %d is %s, expected %s to %s"
                .formatted(what, block, scale, least[block], most[block]));
      }
      double element = Codec.decodeDouble(actual.dtype(), actual.code(i));
      float divisor = actual.scale(i);
      double low = element(spec, (float) (exact[i] - error[i]), divisor);
      double high = element(spec, (float) (exact[i] + error[i]), divisor);
      if (element < low || element > high) {
        throw new ContractViolation(
            "%s: element %d is %s by a scale of %s, expected %s to %s (D is %s within %s)"
                .formatted(what, i, element, divisor, low, high, exact[i], error[i]));
      }
    }
  }

  private static double element(QuantSpec spec, float value, float scale) {
    int code =
        Codec.encode(spec.dtype(), value / scale, Rounding.NEAREST_EVEN, Overflow.SATURATE, 0);
    return Codec.decodeDouble(spec.dtype(), code);
  }

  /**
   * The scale of each block if its amax is as small ({@code sign} −1) or as large (+1) as the
   * bounds allow; one ulp of F32 covers the rounding of the amax itself.
   */
  private double[] scales(HostTensor actual, QuantSpec spec, int sign) {
    double[] amax = new double[(int) actual.grid().scales()];
    for (int i = 0; i < exact.length; i++) {
      int block = (int) actual.grid().indexOf(i);
      amax[block] = Math.max(amax[block], Math.abs(exact[i]) + sign * error[i]);
    }
    DType scales = spec.scaling().scaleDType();
    for (int i = 0; i < amax.length; i++) {
      float beside = sign < 0 ? Math.nextDown((float) amax[i]) : Math.nextUp((float) amax[i]);
      int code = BlockQuantizer.scaleCode(spec, Math.max(beside, 0), actual.globalScale());
      amax[i] = Codec.decodeDouble(scales, code);
    }
    return amax;
  }
}
