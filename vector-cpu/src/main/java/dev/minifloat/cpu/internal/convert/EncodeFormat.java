package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Lazy;
import java.lang.invoke.MethodHandles;
import java.util.EnumMap;
import java.util.Map;

/**
 * The constants of a {@link FusedEncoder}: a type, any but F32, a rounding, and what is rounded.
 *
 * <p>Floats with a smaller exponent range than F32, and integers. With e the exponent of a
 * magnitude, held at that of the format's least normal value, the magnitude is added to a float c
 * whose ulp is that of the format at e, so that the addition rounds it to nearest even and leaves
 * the number k of ulps, hidden bit included, in its low bits:
 *
 * <pre>
 *   c                    0 | e + shift + 127 | 0 … 0 bias       shift = 23 − mantissa bits m
 *   sum                  0 | e + shift + 127 | 0 … 0 bias + k   k ≤ 2^(m+1)
 *   sum + (sum >>> shift)      low bits: bias + k + ((e + shift + 127) << m)
 * </pre>
 *
 * The code is k + ((e − lowest) &lt;&lt; m), as in {@link Codec}; bias makes the low bits of the
 * last line just that. It is even, so that a tie still goes to the even code. −0 and underflow give
 * k = 0 under the sign. No F32 subnormal is multiplied, and adding one costs nothing. For integers
 * c is 2^23 and k the result; an I32 of 2^23 or more needs no rounding. The other roundings look at
 * what the addition did: sum − c, which is exact, tells whether it went up or down.
 *
 * <p>Floats that are an F32 cut off after some bits (BF16; E8M0, which has no sign): the code is
 * the upper bits of the magnitude, after an addition to it that carries where the rounding goes up.
 *
 * <p>A ratio, q = x / s rounded to F32, is taken with y = 1 / s, itself rounded. In a form that
 * needs no subtraction, and so gives −q:
 *
 * <pre>
 *   near = x · −y              within 1½ ulp of −x / s
 *   rest = x + near · s
 *   −q   = near + rest · −y
 * </pre>
 *
 * That is x / s but where x / s comes closer than 2^-23 ulp to the middle between two F32s. What
 * counts is on which side of a code's bound, or on the bound itself, q is; bounds have a fraction
 * of at most 7 bits, and for all of those, with every fraction of s and all x next to the bound,
 * the answer was seen to be that of the quotient.
 *
 * <p>Overflow: magnitudes are first held to the largest value, or, where an overflow gives an
 * infinity or a NaN, to what lies above it and has that code. A NaN is held there too until it is
 * replaced.
 *
 * @param kind how it is done
 * @param mode the rounding
 * @param step what is rounded
 * @param bits width of a code
 * @param shift see above; of integers 0
 * @param lowest the least normal value: its F32 exponent, in place
 * @param aligner what makes c of an exponent in place; for integers c itself
 * @param largest the bits of the largest value; for integers of the one that is 1 more, since
 *     negatives reach it
 * @param beyond the bits of the value whose code is that of {@link Overflow#IEEE}
 * @param saturated the code of {@link Overflow#SATURATE}
 * @param over the code of {@link Overflow#IEEE}
 * @param nanCode what a NaN gives, but for the sign
 * @param nanSigns all ones if a NaN's code takes the sign, else 0
 */
public record EncodeFormat(
    Kind kind,
    Mode mode,
    FusedEncoder.Step step,
    int bits,
    int shift,
    int lowest,
    int aligner,
    int largest,
    int beyond,
    int saturated,
    int over,
    int nanCode,
    int nanSigns) {

  enum Kind {
    NARROW,
    TRUNCATED,
    POWER_OF_TWO,
    INTEGER
  }

  enum Mode {
    NEAREST,
    ZERO,
    POSITIVE,
    STOCHASTIC
  }

  /** For each type but F32 the kernels of all modes and steps. */
  private static final Map<DType, Map<Mode, Map<FusedEncoder.Step, Lazy<FusedEncoder>>>> KERNELS =
      new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      if (dtype != DType.F32) {
        Map<Mode, Map<FusedEncoder.Step, Lazy<FusedEncoder>>> modes = new EnumMap<>(Mode.class);
        for (Mode mode : Mode.values()) {
          Map<FusedEncoder.Step, Lazy<FusedEncoder>> kernels =
              new EnumMap<>(FusedEncoder.Step.class);
          for (FusedEncoder.Step step : FusedEncoder.Step.values()) {
            kernels.put(step, new Lazy<>(() -> kernel(dtype, mode, step)));
          }
          modes.put(mode, kernels);
        }
        KERNELS.put(dtype, modes);
      }
    }
  }

  /** The kernels that leave two codes of F4_E2M1 in a byte. */
  private static final Map<FusedEncoder.Step, Lazy<FusedEncoder>> PAIRS =
      Map.of(
          FusedEncoder.Step.PRODUCT, pairs(FusedEncoder.Step.PRODUCT),
          FusedEncoder.Step.RATIO, pairs(FusedEncoder.Step.RATIO));

  private static Lazy<FusedEncoder> pairs(FusedEncoder.Step step) {
    return new Lazy<>(
        () ->
            ClassCopies.instantiate(
                MethodHandles.lookup(), FusedEncoder.class, E2m1Template.class, step));
  }

  /** The kernel of F4_E2M1 that rounds products or ratios to nearest even, two to a byte. */
  public static FusedEncoder pairKernel(FusedEncoder.Step step) {
    return PAIRS.get(step).get();
  }

  private static FusedEncoder kernel(DType dtype, Mode mode, FusedEncoder.Step step) {
    EncodeFormat format =
        dtype.isInteger()
            ? integer(dtype, mode, step)
            : of(FloatFormat.of16Bits(dtype), mode, step);
    return ClassCopies.instantiate(
        MethodHandles.lookup(), FusedEncoder.class, EncodeTemplate.class, format);
  }

  /** The kernel of a type; not F32. */
  public static FusedEncoder kernel(DType dtype, Rounding rounding, FusedEncoder.Step step) {
    Mode mode =
        switch (rounding) {
          case Rounding.Mode.NEAREST_EVEN -> Mode.NEAREST;
          case Rounding.Mode.TOWARD_ZERO -> Mode.ZERO;
          case Rounding.Mode.TOWARD_POSITIVE -> Mode.POSITIVE;
          case Rounding.Stochastic _ -> Mode.STOCHASTIC;
        };
    return KERNELS.get(dtype).get(mode).get(step).get();
  }

  private static EncodeFormat integer(DType dtype, Mode mode, FusedEncoder.Step step) {
    int max = (int) dtype.max();
    // From 2^23 on every F32 is an integer.
    int beyond = Float.floatToRawIntBits(Math.min(max + 1f, 0x1p23f));
    int one = Float.floatToRawIntBits(0x1p23f);
    return new EncodeFormat(
        Kind.INTEGER, mode, step, dtype.bits(), 0, 0, one, beyond, beyond, max, max, 0, 0);
  }

  private static EncodeFormat of(FloatFormat f, Mode mode, FusedEncoder.Step step) {
    boolean truncated = f.lowest() == 1;
    int bias = -((f.lowest() + f.shift()) << f.mantissaBits()) & f.magnitudeMask();
    int saturated = f.overflowCode(Overflow.SATURATE);
    int over = f.overflowCode(Overflow.IEEE);
    Kind kind =
        !truncated ? Kind.NARROW : f.mantissaBits() == 0 ? Kind.POWER_OF_TWO : Kind.TRUNCATED;
    int rebias = truncated ? 0 : f.rebias();
    return new EncodeFormat(
        kind,
        mode,
        step,
        f.bits(),
        f.shift(),
        f.lowest() << 23,
        (f.shift() << 23) + bias,
        (saturated << f.shift()) + rebias,
        (over << f.shift()) + rebias,
        saturated,
        over,
        f.nanCode(),
        f.nanSigns());
  }
}
