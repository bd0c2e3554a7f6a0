package dev.minifloat.cuda.mutation;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** Numbers that show what a kernel does with them. */
final class Operands {
  private Operands() {}

  /** An operand's type and scaling. */
  record Kind(DType dtype, Scaling scaling) {
    @Override
    public String toString() {
      return dtype + " " + scaling;
    }
  }

  /** Numbers in another type. */
  static HostTensor converted(HostTensor x, DType dtype) {
    try (ReferenceBackend reference = new ReferenceBackend();
        Scope scope = reference.scope()) {
      return scope.download(scope.convert(scope.upload(x), dtype));
    }
  }

  /** Normally distributed. */
  static HostTensor normal(long seed, long... dims) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[(int) Shape.of(dims).elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return HostTensor.of(values, dims);
  }

  /** All kinds of F32: any bits, magnitudes from 2^-20 to 2^20, zeros, NaNs, infinities. */
  static HostTensor anything(long seed, long... dims) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[(int) Shape.of(dims).elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (i % 8) {
            case 0 -> Float.intBitsToFloat(random.nextInt());
            case 1 -> random.nextInt(-40, 41) / 4f;
            default -> (float) (random.nextGaussian() * Math.scalb(1f, random.nextInt(-20, 21)));
          };
    }
    return HostTensor.of(values, dims);
  }

  /** Runs of 16 numbers of one kind each: zeros, subnormals, the largest, infinities, NaNs. */
  static HostTensor extremes(long seed, long... dims) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[(int) Shape.of(dims).elements()];
    for (int i = 0; i < values.length; i++) {
      float x = (float) random.nextDouble(-1, 1);
      values[i] =
          switch (i / 16 % 8) {
            case 0 -> 0f;
            case 1 -> x * Float.MIN_NORMAL;
            case 2 -> x * Float.MAX_VALUE;
            case 3 -> i % 16 == 5 ? Float.NEGATIVE_INFINITY : x;
            case 4 -> i % 16 == 9 ? Float.NaN : x;
            case 5 -> Math.scalb(x, -120);
            case 6 -> Math.scalb(1f, random.nextInt(-140, 120));
            default -> x;
          };
    }
    return HostTensor.of(values, dims);
  }

  /** Any codes of a type. */
  static HostTensor codes(DType dtype, long seed, long... dims) {
    byte[] bytes = new byte[(int) dtype.byteSize(Shape.of(dims).elements())];
    new SplittableRandom(seed).nextBytes(bytes);
    long bits = Shape.of(dims).elements() * dtype.bits();
    if (bits % 8 != 0) {
      // What follows the last element in its byte is 0.
      bytes[bytes.length - 1] &= (byte) ((1 << bits % 8) - 1);
    }
    return HostTensor.wrap(dtype, Shape.of(dims), MemorySegment.ofArray(bytes));
  }

  /**
   * Small integers, and scales that are powers of two: F32 holds their products and sums, so that a
   * product has only one right result.
   */
  static HostTensor exact(DType dtype, Scaling scaling, long seed, long... dims) {
    return exact(dtype, scaling, seed, false, dims);
  }

  /**
   * As {@link #exact}, but for a few elements, where the type has such, that are a NaN, of bits
   * that results don't have, or infinite, and a few scales that are NaNs.
   */
  static HostTensor poisoned(DType dtype, Scaling scaling, long seed, long... dims) {
    return exact(dtype, scaling, seed, true, dims);
  }

  /** Zeros, with the scales of {@link #exact}. */
  static HostTensor zeros(DType dtype, Scaling scaling, long seed, long... dims) {
    HostTensor x = exact(dtype, scaling, seed, dims);
    MemorySegment data = MemorySegment.ofArray(new byte[(int) x.data().byteSize()]);
    return scaling instanceof Scaling.NvFp4
        ? HostTensor.wrapNvfp4(x.shape(), data, x.scales(), x.globalScale())
        : scaling instanceof Scaling.None
            ? HostTensor.wrap(dtype, x.shape(), data)
            : HostTensor.wrap(dtype, x.shape(), scaling, data, x.scales());
  }

  private static HostTensor exact(
      DType dtype, Scaling scaling, long seed, boolean poisoned, long... dims) {
    SplittableRandom random = new SplittableRandom(seed);
    Shape shape = Shape.of(dims);
    int most = largestInteger(dtype);
    float[] values = new float[(int) shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextInt(-most, most + 1);
    }
    if (poisoned && dtype.bits() >= 8 && dtype != DType.I8) {
      values[values.length / 3] = Float.intBitsToFloat(0xFFC1_2345);
      values[values.length / 2] = Float.NEGATIVE_INFINITY;
    }
    HostTensor plain = unscaled(dtype, values, dims);
    int scales = (int) scaling.grid(shape).scales();
    return switch (scaling) {
      case Scaling.None _ -> plain;
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ -> {
        float[] factors = new float[scales];
        for (int i = 0; i < scales; i++) {
          factors[i] = Math.scalb(1f, random.nextInt(-1, 3));
        }
        for (int i = 0; poisoned && i < scales; i++) {
          factors[i] = isPoisoned(i, scales) ? Float.intBitsToFloat(0xFFC1_2345) : factors[i];
        }
        yield HostTensor.wrap(dtype, shape, scaling, plain.data(), MemorySegment.ofArray(factors));
      }
      case Scaling.Mx _ -> {
        byte[] factors = new byte[scales];
        for (int i = 0; i < scales; i++) {
          factors[i] = (byte) random.nextInt(126, 130);
        }
        for (int i = 0; poisoned && i < scales; i++) {
          factors[i] = isPoisoned(i, scales) ? (byte) 0xFF : factors[i];
        }
        yield HostTensor.wrap(dtype, shape, scaling, plain.data(), MemorySegment.ofArray(factors));
      }
      case Scaling.NvFp4 _ -> {
        byte[] factors = new byte[scales];
        for (int i = 0; i < scales; i++) {
          factors[i] = (byte) Codec.encode(DType.F8_E4M3, random.nextInt(1, 8) / 2.0);
        }
        for (int i = 0; poisoned && i < scales; i++) {
          factors[i] = isPoisoned(i, scales) ? 0x7F : factors[i];
        }
        yield HostTensor.wrapNvfp4(shape, plain.data(), MemorySegment.ofArray(factors), 0.25f);
      }
    };
  }

  /** Few enough that not every row has one, and in rows of any remainder by 4. */
  private static boolean isPoisoned(int scale, int scales) {
    return scale == scales / 2 || scale % 31 == 15;
  }

  private static int largestInteger(DType dtype) {
    return switch (dtype) {
      case F32, F16, BF16 -> 63;
      case F8_E4M3 -> 15;
      case F8_E5M2, F6_E2M3, F6_E3M2, I4 -> 7;
      case F4_E2M1 -> 4;
      case I8 -> 100;
      case I32 -> 1000;
      case F8_E8M0 -> throw new IllegalArgumentException(dtype + " has no integers");
    };
  }

  private static HostTensor unscaled(DType dtype, float[] values, long... dims) {
    if (dtype == DType.I32) {
      int[] integers = new int[values.length];
      for (int i = 0; i < values.length; i++) {
        integers[i] = (int) values[i];
      }
      return HostTensor.of(integers, dims);
    }
    // F32 keeps the bits of its NaNs.
    return dtype == DType.F32
        ? HostTensor.of(values, dims)
        : converted(HostTensor.of(values, dims), dtype);
  }

  /** An F32 of its own. */
  static HostTensor number(float value) {
    float[] one = {value};
    return HostTensor.wrap(DType.F32, Shape.of(1), MemorySegment.ofArray(one));
  }
}
