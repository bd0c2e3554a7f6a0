package dev.minifloat.codec;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Conversion, quantization and dequantization of whole host tensors, element by element: the text
 * that states the numerics, and the oracle of every faster one.
 */
public final class BlockQuantizer {
  private BlockQuantizer() {}

  /**
   * Rounds an unscaled tensor to another type in one step. The same type gives the same bits.
   *
   * @throws IllegalArgumentException if {@code source} is scaled
   */
  public static HostTensor convert(
      Arena arena, HostTensor source, DType to, Rounding rounding, Overflow overflow) {
    requireUnscaled(source);
    HostTensor target = HostTensor.allocate(arena, to, source.shape(), Scaling.none());
    if (to == source.dtype()) {
      target.data().copyFrom(source.data());
      return target;
    }
    for (long i = 0; i < source.shape().elements(); i++) {
      double value = Codec.decodeDouble(source.dtype(), source.code(i));
      PackedElements.set(to, target.data(), i, Codec.encode(to, value, rounding, overflow, i));
    }
    return target;
  }

  /**
   * Quantizes an unscaled tensor of floats: scales from each block's amax, elements encode(x / s).
   *
   * @throws IllegalArgumentException if {@code source} is scaled or of integers
   */
  public static HostTensor quantize(Arena arena, HostTensor source, QuantSpec spec) {
    requireUnscaled(source);
    if (source.dtype().isInteger()) {
      throw new IllegalArgumentException("source: " + source + " is not of floats");
    }
    if (spec.scaling() instanceof Scaling.None) {
      return convert(arena, source, spec.dtype(), spec.rounding(), spec.overflow());
    }
    ScaleGrid grid = spec.scaling().grid(source.shape());
    int[] amax = blockAmaxBits(source, grid);
    float global = 1;
    if (spec.scaling() instanceof Scaling.NvFp4) {
      int tensorAmax = Arrays.stream(amax).max().orElse(0);
      global = Scales.nvfp4Global(Float.intBitsToFloat(tensorAmax));
    }
    HostTensor target =
        HostTensor.allocate(arena, spec.dtype(), source.shape(), spec.scaling(), global);
    DType scaleDType = spec.scaling().scaleDType();
    for (int s = 0; s < amax.length; s++) {
      int code = scaleCode(spec, Float.intBitsToFloat(amax[s]), global);
      PackedElements.set(scaleDType, target.scales(), s, code);
    }
    for (long i = 0; i < source.shape().elements(); i++) {
      int block = Math.toIntExact(grid.indexOf(i));
      int code = 0;
      if (amax[block] != 0 && !Float.isNaN(target.scale(i))) {
        float scaled = source.get(i) / target.scale(i);
        code = Codec.encode(spec.dtype(), scaled, spec.rounding(), spec.overflow(), i);
      }
      PackedElements.set(spec.dtype(), target.data(), i, code);
    }
    return target;
  }

  /** The code of a block's scale; {@code global} is read for NVFP4 only. */
  public static int scaleCode(QuantSpec spec, float amax, float global) {
    return switch (spec.scaling()) {
      case Scaling.NvFp4 _ -> Scales.nvfp4Block(amax, global);
      case Scaling.Mx _ -> Scales.mx(spec.dtype(), amax, spec.mxRule());
      case Scaling.None _,
          Scaling.PerTensor _,
          Scaling.Rows _,
          Scaling.Columns _,
          Scaling.Block _ ->
          Float.floatToRawIntBits(Scales.f32(spec.dtype(), amax));
    };
  }

  /** The values of a tensor, scale × element, rounded to {@code to} with nearest even. */
  public static HostTensor dequantize(Arena arena, HostTensor source, DType to) {
    HostTensor target = HostTensor.allocate(arena, to, source.shape(), Scaling.none());
    for (long i = 0; i < source.shape().elements(); i++) {
      PackedElements.set(to, target.data(), i, Codec.encode(to, source.get(i)));
    }
    return target;
  }

  private static int[] blockAmaxBits(HostTensor source, ScaleGrid grid) {
    if (grid.scales() > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException(
          "spec: %d scales for %s are more than an array holds".formatted(grid.scales(), source));
    }
    int[] amax = new int[(int) grid.scales()];
    for (long i = 0; i < source.shape().elements(); i++) {
      int block = (int) grid.indexOf(i);
      int magnitude = Float.floatToRawIntBits(source.get(i)) & 0x7FFFFFFF;
      amax[block] = Math.max(amax[block], magnitude);
    }
    return amax;
  }

  private static void requireUnscaled(HostTensor source) {
    if (!(source.scaling() instanceof Scaling.None)) {
      throw new IllegalArgumentException(
          "source: " + source + " is scaled already; dequantize it first");
    }
  }

  /** The largest |x| of a tensor by bits: an infinity beats every number, a NaN an infinity. */
  public static float amax(HostTensor source) {
    int largest = 0;
    for (long i = 0; i < source.shape().elements(); i++) {
      largest = Math.max(largest, Float.floatToRawIntBits(source.get(i)) & 0x7FFFFFFF);
    }
    return Float.intBitsToFloat(largest);
  }
}
