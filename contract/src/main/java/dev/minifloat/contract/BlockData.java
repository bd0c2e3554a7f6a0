package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import java.lang.foreign.Arena;
import java.util.SplittableRandom;

/** Kinds of values that a quantizer can get wrong. */
enum BlockData {
  /** Finite, over a dozen binades. */
  NUMBERS,
  /**
   * Products of one scale s with midpoints between two values of the format: x / s is a tie, which
   * x · (1/s) often misses. One in four elements is the largest, so that blocks have scale s.
   */
  TIES,
  /** Runs of zeros, −0, subnormals, huge and tiny numbers, here and there a NaN or an infinity. */
  MIXED,
  /** Zeros of both signs. */
  ZEROS,
  /** Subnormals and what lies just above: scales underflow. */
  TINY,
  /** Up to the largest float: amax plus half an ulp passes infinity. */
  HUGE;

  private static final int RUN = 8;

  float[] values(long seed, Shape shape, DType dtype) {
    SplittableRandom random = new SplittableRandom(seed * 31 + name().hashCode());
    int count = Math.toIntExact(shape.elements());
    return switch (this) {
      case NUMBERS -> Data.spread(seed, count, 6);
      case TIES -> ties(random, count, dtype);
      case MIXED -> mixed(random, count);
      case ZEROS -> {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
          values[i] = random.nextBoolean() ? 0f : -0f;
        }
        yield values;
      }
      case TINY -> {
        float[] values = new float[count];
        int magnitude = 1 + random.nextInt(24);
        for (int i = 0; i < count; i++) {
          values[i] = signed(random, random.nextInt(1 << magnitude));
        }
        yield values;
      }
      case HUGE -> {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
          int below = random.nextInt(1 << (1 + random.nextInt(24)));
          values[i] = signed(random, 0x7F7FFFFF - below);
        }
        yield values;
      }
    };
  }

  private static float signed(SplittableRandom random, int bits) {
    return Float.intBitsToFloat(bits | (random.nextBoolean() ? 0x80000000 : 0));
  }

  private static float[] ties(SplittableRandom random, int count, DType dtype) {
    float scale = 1 + random.nextInt(1 << 23) * 0x1p-23f;
    float max = (float) Math.min(dtype.max(), 0x1p20);
    int magnitudes = dtype.bits() > 8 ? 256 : Math.max(1, Codec.maxCode(dtype));
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      int code = random.nextInt(magnitudes);
      double low = Codec.decodeDouble(dtype, code);
      double high = Codec.decodeDouble(dtype, code + 1);
      float middle = (float) ((low + high) / 2);
      float magnitude = random.nextInt(4) == 0 ? max : middle;
      values[i] = scale * magnitude * (random.nextBoolean() ? 1 : -1);
    }
    return values;
  }

  private static float[] mixed(SplittableRandom random, int count) {
    float[] values = new float[count];
    for (int from = 0; from < count; from += RUN) {
      int kind = random.nextInt(12);
      for (int i = from; i < Math.min(from + RUN, count); i++) {
        values[i] =
            switch (kind) {
              case 0, 1 -> random.nextBoolean() ? 0f : -0f;
              case 2 -> signed(random, random.nextInt(1 << 23));
              case 3 -> signed(random, 0x7F000000 + random.nextInt(1 << 22));
              case 4 -> signed(random, 0x00800000 + random.nextInt(1 << 26));
              default -> (float) (random.nextDouble() - 0.5) * 10;
            };
      }
      if (random.nextInt(200) == 0) {
        int special = random.nextInt(4);
        values[from] =
            Float.intBitsToFloat(
                switch (special) {
                  case 0 -> 0x7F800000;
                  case 1 -> 0xFF800000;
                  case 2 -> 0x7FC00000;
                  default -> 0xFFC12345;
                });
      }
    }
    return values;
  }

  /** A host tensor of any type, scaled or not; unscaled ones take their codes at random. */
  static HostTensor anything(long seed, DType dtype, Scaling scaling, Shape shape, BlockData kind) {
    if (scaling instanceof Scaling.None) {
      SplittableRandom random = new SplittableRandom(seed);
      int[] codes = new int[Math.toIntExact(shape.elements())];
      for (int i = 0; i < codes.length; i++) {
        codes[i] = random.nextInt() & dtype.codeMask();
      }
      return Data.codes(dtype, codes, shape.dims());
    }
    HostTensor values = HostTensor.of(kind.values(seed, shape, dtype), shape.dims());
    if (shape.rank() == 0) {
      values = Data.floats(DType.F32, kind.values(seed, shape, dtype));
    }
    return BlockQuantizer.quantize(Arena.ofAuto(), values, QuantSpec.of(dtype).scaling(scaling));
  }
}
