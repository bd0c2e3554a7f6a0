package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** Decoding of single elements: tails of runs, scales, elements of views with strides. */
public final class Tables {
  private static final Map<DType, float[]> NARROW = new EnumMap<>(DType.class);

  private static final float[] E4M3 = table(DType.F8_E4M3);
  private static final float[] E8M0 = table(DType.F8_E8M0);

  static {
    for (DType dtype : DType.values()) {
      if (dtype.bits() <= 8) {
        NARROW.put(dtype, table(dtype));
      }
    }
  }

  private Tables() {}

  private static float[] table(DType dtype) {
    float[] values = new float[1 << dtype.bits()];
    for (int code = 0; code < values.length; code++) {
      values[code] = Codec.decode(dtype, code);
    }
    return values;
  }

  /** The value of element {@code index}. */
  static float decode(DType dtype, MemorySegment data, long index) {
    int code = PackedElements.get(dtype, data, index);
    return dtype.bits() <= 8 ? NARROW.get(dtype)[code] : Codec.decode(dtype, code);
  }

  /** The values of all codes of a type of at most 8 bits. */
  public static float[] narrow(DType dtype) {
    return NARROW.get(dtype);
  }

  /** The value of an E4M3 code. */
  public static float e4m3(int code) {
    return E4M3[code & 0xFF];
  }

  /** The value of an E8M0 code. */
  public static float e8m0(int code) {
    return E8M0[code & 0xFF];
  }
}
