package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;

/** Comparisons to the bit. */
final class Compare {
  private Compare() {}

  /** Throws unless two tensors agree in type, shape, scaling and every code and scale. */
  static void sameBits(String what, HostTensor expected, HostTensor actual) {
    sameLayout(what, expected, actual);
    sameCodes(
        what + ": element", expected.dtype(), expected.data(), actual.data(), elements(expected));
    sameCodes(
        what + ": scale",
        expected.scaling().scaleDType(),
        expected.scales(),
        actual.scales(),
        expected.grid().scales());
    equal(
        what + ": scale of the tensor",
        Integer.toHexString(Float.floatToRawIntBits(expected.globalScale())),
        Integer.toHexString(Float.floatToRawIntBits(actual.globalScale())));
  }

  /** Throws unless two floats have the same bits; where NaN is expected, the canonical one's. */
  static void sameValue(String what, float expected, float actual) {
    // floatToIntBits makes a NaN canonical.
    if (Float.floatToIntBits(expected) != Float.floatToRawIntBits(actual)) {
      throw new ContractViolation(
          "%s: is %s (%08x), expected %s (%08x)"
              .formatted(
                  what,
                  actual,
                  Float.floatToRawIntBits(actual),
                  expected,
                  Float.floatToRawIntBits(expected)));
    }
  }

  static void equal(String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new ContractViolation(what + ": is " + actual + ", expected " + expected);
    }
  }

  private static void sameLayout(String what, HostTensor expected, HostTensor actual) {
    equal(what + ": dtype", expected.dtype(), actual.dtype());
    equal(what + ": shape", expected.shape(), actual.shape());
    equal(what + ": scaling", expected.scaling(), actual.scaling());
  }

  private static long elements(HostTensor tensor) {
    return tensor.shape().elements();
  }

  /** Compares whole bytes first; the unused bits of a last byte count for nothing. */
  private static void sameCodes(
      String what, DType dtype, MemorySegment expected, MemorySegment actual, long count) {
    if (expected.mismatch(actual) < 0) {
      return;
    }
    for (long i = 0; i < count; i++) {
      int want = PackedElements.get(dtype, expected, i);
      int got = PackedElements.get(dtype, actual, i);
      if (want != got) {
        throw new ContractViolation(differs(what, i, dtype, want, got));
      }
    }
  }

  private static String differs(String what, long index, DType dtype, int want, int got) {
    return "%s %d: is %x (%s), expected %x (%s)"
        .formatted(what, index, got, Codec.decode(dtype, got), want, Codec.decode(dtype, want));
  }
}
