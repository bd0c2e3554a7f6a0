package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The scales of blocks, from their amax. */
final class BlockScales {
  private static final int INFINITY = 0x7F800000;

  private BlockScales() {}

  /**
   * Writes scales {@code first … first + count − 1} of {@code target}, whose amax bits are in
   * {@code blocks}, and leaves there what elements are divided by: NaN for blocks of zeros and for
   * those with a NaN scale, all of whose elements are 0.
   */
  static void derive(
      MemorySegment blocks, int count, HostStorage target, long first, QuantSpec spec) {
    float global = target.globalScale();
    for (int i = 0; i < count; i++) {
      int bits = blocks.get(PackedElements.INT, 4L * i);
      float amax = Amax.value(bits);
      float divisor;
      switch (spec.scaling()) {
        case Scaling.NvFp4 _ -> {
          int code = nvfp4(amax, global);
          target.scales().set(ValueLayout.JAVA_BYTE, first + i, (byte) code);
          divisor = Tables.e4m3(code) * global;
        }
        case Scaling.Mx _ -> {
          int code = BlockQuantizer.scaleCode(spec, amax, global);
          target.scales().set(ValueLayout.JAVA_BYTE, first + i, (byte) code);
          divisor = Tables.e8m0(code);
        }
        case Scaling.None _,
            Scaling.PerTensor _,
            Scaling.Rows _,
            Scaling.Columns _,
            Scaling.Block _ -> {
          int code = BlockQuantizer.scaleCode(spec, amax, global);
          target.scales().set(PackedElements.INT, 4 * (first + i), code);
          divisor = Codec.decode(DType.F32, code);
        }
      }
      boolean zeros = bits == 0 || bits >= INFINITY;
      blocks.set(PackedElements.FLOAT, 4L * i, zeros ? Float.NaN : divisor);
    }
  }

  /** As {@link dev.minifloat.codec.Scales#nvfp4Block}, at the pace of a scale every 16 elements. */
  private static int nvfp4(float amax, float global) {
    if (!Float.isFinite(amax) || Float.isNaN(global)) {
      return FloatFormat.F8_E4M3.nanCode();
    }
    if (amax == 0) {
      return 0;
    }
    int code = encodeE4m3(amax / 6f / global);
    int largest = FloatFormat.F8_E4M3.maxCode();
    while (code < largest && !Float.isFinite(amax / (Tables.e4m3(code) * global))) {
      code++;
    }
    return code;
  }

  /** {@link FloatRounding#nearest} of one float that is not negative. */
  private static int encodeE4m3(float x) {
    FloatFormat f = FloatFormat.F8_E4M3;
    int bits = Float.floatToRawIntBits(x);
    if (bits < f.lowest() << 23) {
      return Float.floatToRawIntBits(x + Float.intBitsToFloat(f.aligner())) - f.aligner();
    }
    int odd = (bits >>> f.shift()) & 1;
    int rounded = bits + odd + (1 << (f.shift() - 1)) - 1 - f.rebias();
    return Math.min(rounded >>> f.shift(), f.maxCode());
  }
}
