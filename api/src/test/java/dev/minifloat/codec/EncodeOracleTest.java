package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import java.util.SplittableRandom;
import java.util.function.DoubleConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@link Codec#encode} against {@link EncodeOracle}, for each format, rounding and overflow. */
class EncodeOracleTest {
  private static final Rounding[] ROUNDINGS = {
    Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.TOWARD_POSITIVE, Rounding.stochastic(1)
  };

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"I8", "I4", "I32"})
  void encodesAsTheSearchDoes(DType dtype) {
    SplittableRandom random = new SplittableRandom(42);
    forEachInput(
        dtype,
        random,
        x -> {
          int bits = random.nextInt();
          check(dtype, x, bits);
          check(dtype, -x, bits);
        });
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"I8", "I4", "I32"})
  void stochasticRoundingGrowsExactlyBelowTheThreshold(DType dtype) {
    SplittableRandom random = new SplittableRandom(43);
    double limit = EncodeOracle.value(dtype, EncodeOracle.maxCode(dtype) + 1);
    forEachInput(
        dtype,
        random,
        x -> {
          if (x < limit) {
            long threshold = EncodeOracle.threshold(dtype, x);
            for (long draw : new long[] {0, threshold - 1, threshold, threshold + 1, 0xFFFFFFFFL}) {
              check(dtype, x, (int) Math.clamp(draw, 0L, 0xFFFFFFFFL));
            }
          }
        });
  }

  private static void check(DType dtype, double x, int random) {
    for (Rounding rounding : ROUNDINGS) {
      for (Overflow overflow : Overflow.values()) {
        int expected = EncodeOracle.encode(dtype, x, rounding, overflow, random);
        int actual = Codec.encodeWithBits(dtype, x, rounding, overflow, random);
        if (expected != actual) {
          assertEquals(
              Integer.toHexString(expected),
              Integer.toHexString(actual),
              "%s of %a, %s, %s, random %08x".formatted(dtype, x, rounding, overflow, random));
        }
      }
    }
  }

  /** Values, ties and their neighbours in double, then random magnitudes, down to subnormals. */
  private static void forEachInput(DType dtype, SplittableRandom random, DoubleConsumer input) {
    long max = EncodeOracle.maxCode(dtype);
    long step = Math.max(1, max / 4001);
    for (long i = 0; i <= max; i += step) {
      long code = step == 1 ? i : Math.min(max, i + random.nextLong(step));
      around(EncodeOracle.value(dtype, code), input);
      around(middle(dtype, code), input);
    }
    for (long code = Math.max(0, max - 3); code <= max + 1; code++) {
      around(EncodeOracle.value(dtype, code), input);
      around(middle(dtype, code), input);
    }
    int lowest = Math.getExponent(dtype.minSubnormal());
    int highest = Math.getExponent(dtype.max());
    for (int i = 0; i < 20_000; i++) {
      int exponent = random.nextInt(lowest - 40, highest + 4);
      input.accept(Math.scalb(1 + random.nextDouble(), exponent));
    }
    for (double x : new double[] {0, Double.MIN_VALUE, Double.MIN_NORMAL, Double.MAX_VALUE}) {
      input.accept(x);
    }
    input.accept(Double.POSITIVE_INFINITY);
  }

  private static double middle(DType dtype, long code) {
    return (EncodeOracle.value(dtype, code) + EncodeOracle.value(dtype, code + 1)) / 2;
  }

  private static void around(double x, DoubleConsumer input) {
    input.accept(x);
    input.accept(Math.nextUp(x));
    input.accept(Math.max(0, Math.nextDown(x)));
  }
}
