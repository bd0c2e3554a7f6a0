package dev.minifloat.cpu.internal;

import static org.junit.jupiter.api.Assertions.fail;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Random;

/**
 * What products must give: sums of scale · element products, in F64, and the contract's bound.
 *
 * <p>A product of two F32 values is exact in F64; sums, and products of scaled values, are off by
 * less than (K + 4) · 2^-53 of Σ|a·b|, which is allowed for on top of the bound.
 */
public final class ProductsOracle {
  /** Every type that products take. */
  public static final List<DType> TYPES =
      List.of(
          DType.F32,
          DType.F16,
          DType.BF16,
          DType.F8_E4M3,
          DType.F8_E5M2,
          DType.F6_E2M3,
          DType.F6_E3M2,
          DType.F4_E2M1,
          DType.I8,
          DType.I4);

  /** Scalings of every kind; small blocks, so that many edges lie within small shapes. */
  public static final List<Scaling> SCALINGS =
      List.of(
          Scaling.none(),
          Scaling.tensor(),
          Scaling.rows(),
          Scaling.columns(),
          Scaling.block(3, 7),
          Scaling.block(64, 64),
          Scaling.mx(),
          Scaling.nvfp4());

  private ProductsOracle() {}

  /** Normally distributed values of a type and scaling. */
  public static HostTensor random(
      Arena arena, Random random, DType dtype, Scaling scaling, long... dims) {
    float[] values = new float[(int) Shape.of(dims).elements()];
    float spread = dtype.isInteger() && scaling instanceof Scaling.None ? 3 : 1;
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian() * spread;
    }
    HostTensor floats = HostTensor.of(values, dims);
    if (scaling instanceof Scaling.None) {
      return dtype == DType.F32
          ? floats
          : BlockQuantizer.convert(
              arena, floats, dtype, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype));
    }
    return BlockQuantizer.quantize(
        arena,
        floats,
        new QuantSpec(dtype, scaling, Rounding.NEAREST_EVEN, Overflow.SATURATE, MxScaleRule.FLOOR));
  }

  /** A type with a scaling it can have. */
  public record Format(DType dtype, Scaling scaling) {
    public static Format draw(Random random) {
      while (true) {
        Format format =
            new Format(
                TYPES.get(random.nextInt(TYPES.size())),
                SCALINGS.get(random.nextInt(SCALINGS.size())));
        if (format.scaling.isValidFor(format.dtype)) {
          return format;
        }
      }
    }
  }

  /** Values in row-major order, scale · element without rounding to F32. */
  public static double[] values(HostTensor x) {
    double[] values = new double[(int) x.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = Codec.decodeDouble(x.dtype(), x.code(i)) * scale(x, i);
    }
    return values;
  }

  private static double scale(HostTensor x, long index) {
    if (x.grid().scales() == 0) {
      return 1;
    }
    DType dtype = x.scaling().scaleDType();
    int code = PackedElements.get(dtype, x.scales(), x.grid().indexOf(index));
    return Codec.decodeDouble(dtype, code) * x.globalScale();
  }

  /**
   * A sum of products with what it may be off by.
   *
   * @param sum Σ a·b
   * @param magnitude Σ|a·b|
   * @param terms K
   */
  public record Sum(double sum, double magnitude, long terms) {
    /** The dot product of two strided runs. */
    public static Sum of(
        double[] a, int aFrom, int aStep, double[] b, int bFrom, int bStep, int terms) {
      double sum = 0;
      double magnitude = 0;
      for (int k = 0; k < terms; k++) {
        double product = a[aFrom + k * aStep] * b[bFrom + k * bStep];
        sum += product;
        magnitude += Math.abs(product);
      }
      return new Sum(sum, magnitude, terms);
    }

    /** γ·Σ|a·b| + K·2^-149, and the oracle's own error. */
    public double bound() {
      double u = (terms + 4) * 0x1p-24;
      return u / (1 - u) * magnitude + terms * 0x1p-149 + (terms + 4) * 0x1p-53 * magnitude;
    }

    /** Fails unless {@code actual} is within the bound. */
    public void check(float actual, String what) {
      if (!(Math.abs(actual - sum) <= bound())) {
        fail(
            "%s: %s is %s from %s; %s is allowed"
                .formatted(what, actual, Math.abs(actual - sum), sum, bound()));
      }
    }
  }
}
