package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/** Test data, the same for the same seed. */
final class Data {
  /** Every format that products take. */
  static final List<DType> PRODUCT_TYPES =
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

  /** What element-wise operations take. */
  static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16);

  /** The longest vector of any machine, in elements of its narrowest type, is 64 bytes. */
  static final int[] AWKWARD = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 19, 31, 32, 33, 35, 61, 63, 64, 65, 67, 127, 131
  };

  private Data() {}

  /** Numbers of one magnitude, signs mixed: uniform in ±[0.25, 2), a few zeros. */
  static float[] numbers(long seed, long count) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[Math.toIntExact(count)];
    for (int i = 0; i < values.length; i++) {
      float magnitude = 0.25f + 1.75f * (random.nextInt(1 << 24) * 0x1p-24f);
      values[i] = random.nextInt(32) == 0 ? 0 : random.nextBoolean() ? magnitude : -magnitude;
    }
    return values;
  }

  /** Numbers whose magnitudes spread over many binades: some 2^-spread … 2^spread. */
  static float[] spread(long seed, long count, int spread) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[Math.toIntExact(count)];
    for (int i = 0; i < values.length; i++) {
      float fraction = 1 + random.nextInt(1 << 23) * 0x1p-23f;
      float magnitude = Math.scalb(fraction, random.nextInt(2 * spread + 1) - spread);
      values[i] = random.nextBoolean() ? magnitude : -magnitude;
    }
    return values;
  }

  /** A tensor of finite numbers in any format and scaling, as the codec makes it. */
  static HostTensor tensor(long seed, DType dtype, Scaling scaling, long... dims) {
    Shape shape = Shape.of(dims);
    float[] values = numbers(seed, shape.elements());
    if (scaling instanceof Scaling.None && dtype.isInteger()) {
      for (int i = 0; i < values.length; i++) {
        values[i] *= (float) Math.min(dtype.max(), 1000) / 2;
      }
    }
    QuantSpec spec = QuantSpec.of(dtype).scaling(scaling);
    if (dtype.isInteger() && scaling instanceof Scaling.None) {
      return BlockQuantizer.convert(
          Arena.ofAuto(),
          HostTensor.of(values, dims),
          dtype,
          Rounding.NEAREST_EVEN,
          Overflow.SATURATE);
    }
    return BlockQuantizer.quantize(Arena.ofAuto(), floats(DType.F32, values, dims), spec);
  }

  /** Floats rounded to F32, F16 or BF16. */
  static HostTensor floats(DType dtype, float[] values, long... dims) {
    HostTensor wide = HostTensor.wrap(DType.F32, Shape.of(dims), MemorySegment.ofArray(values));
    return BlockQuantizer.convert(
        Arena.ofAuto(), wide, dtype, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype));
  }

  /** An I32 tensor. */
  static HostTensor ints(int[] values, long... dims) {
    return HostTensor.of(values, dims);
  }

  /** An unscaled tensor of given codes. */
  static HostTensor codes(DType dtype, int[] codes, long... dims) {
    HostTensor tensor = HostTensor.allocate(Arena.ofAuto(), dtype, Shape.of(dims), Scaling.none());
    for (int i = 0; i < codes.length; i++) {
      PackedElements.set(dtype, tensor.data(), i, codes[i]);
    }
    return tensor;
  }

  /** Every code of a type of up to 16 bits. */
  static int[] allCodes(DType dtype) {
    int[] codes = new int[1 << dtype.bits()];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = i;
    }
    return codes;
  }

  /**
   * F32 bit patterns that a rounding to {@code to} can get wrong: values of the format, the
   * midpoints between them, what lies beside either, zeros, subnormals, infinities, NaNs, and a
   * random sample.
   */
  static int[] hardBits(long seed, DType to) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] special = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00400000, 0x007FFFFF, 0x00800000,
      0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001, 0x7FC00000,
      0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x33000000, 0x33000001, 0x387FE000, 0x477FEFFF,
      0x477FF000, 0x3FA88000, 0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x3F000000, 0x3FC00000,
      0x43E00001, 0x43E80000, 0x43E80001
    };
    int samples = 2048;
    int steps = Math.min(1 << Math.min(to.bits(), 16), 512);
    int[] bits = new int[special.length + samples + steps * 6];
    System.arraycopy(special, 0, bits, 0, special.length);
    int at = special.length;
    for (int i = 0; i < samples; i++) {
      bits[at++] = random.nextInt();
    }
    for (int i = 0; i < steps; i++) {
      int code = to.bits() <= 8 ? i : random.nextInt() & to.codeMask();
      double value = Codec.decodeDouble(to, code);
      double next = Codec.decodeDouble(to, (code + 1) & to.codeMask());
      int exact = Float.floatToRawIntBits((float) value);
      int middle = Float.floatToRawIntBits((float) ((value + next) / 2));
      for (int beside = -1; beside <= 1; beside++) {
        bits[at++] = exact + beside;
        bits[at++] = middle + beside;
      }
    }
    return bits;
  }
}
