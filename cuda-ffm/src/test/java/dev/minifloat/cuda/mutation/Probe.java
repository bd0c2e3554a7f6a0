package dev.minifloat.cuda.mutation;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import java.util.List;

/**
 * An operation whose results on a device must be the reference's.
 *
 * @param name what messages call it
 * @param device that it runs on, as {@code sm_80}
 * @param limit the most CTAs of a launch
 * @param tolerance how far results may be off: parts of an element's magnitude, or of one of 2^-6
 *     where it is less; 0 for the same bits
 * @param use the operation
 */
record Probe(String name, String device, Limit limit, double tolerance, Use use) {
  private static final double SMALL = 0x1p-6;

  /** What is to be done; several results are compared one after the other. */
  interface Use {
    List<Tensor> on(Scope scope);
  }

  /**
   * The most CTAs of a launch.
   *
   * @param x in the first dimension
   * @param z in the last one
   */
  record Limit(int x, int z) {
    /** Kernels for any grid go round. */
    static final Limit ONE_CTA = new Limit(1, 1);

    static final Limit NONE = new Limit(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /** What is wrong with a result; null if nothing is. */
  String difference(HostTensor expected, HostTensor actual) {
    if (tolerance > 0 && expected.dtype() != DType.I32) {
      return farApart(expected, actual);
    }
    if (expected.scales().mismatch(actual.scales()) >= 0) {
      return "scales differ";
    }
    if (Float.compare(expected.globalScale(), actual.globalScale()) != 0) {
      return "the tensor's scale is " + actual.globalScale() + ", not " + expected.globalScale();
    }
    for (long i = 0; i < expected.shape().elements(); i++) {
      if (expected.code(i) != actual.code(i)) {
        return "element %d is %s, not %s".formatted(i, actual.get(i), expected.get(i));
      }
    }
    return null;
  }

  private String farApart(HostTensor expected, HostTensor actual) {
    for (long i = 0; i < expected.shape().elements(); i++) {
      double wanted = expected.get(i);
      double error = Math.abs(wanted - actual.get(i));
      // A NaN has the same bits everywhere.
      if (expected.code(i) != actual.code(i)
          && !(error <= tolerance * Math.max(Math.abs(wanted), SMALL))) {
        return "element %d is %s, not %s".formatted(i, actual.get(i), wanted);
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return name + " on " + device;
  }
}
