package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Lazy;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.util.EnumMap;
import java.util.Map;

/**
 * Runs of elements decoded to F32: exact, with the same bits as {@link
 * dev.minifloat.codec.Codec#decode} (I32 rounds to nearest even; NaN becomes sign | 7FC00000).
 *
 * <p>Sources and targets are native segments that do not overlap. A run may start anywhere, inside
 * a byte too, and have any length; nothing outside of it is written, and nothing outside of the
 * segments read.
 */
public final class Decoders {
  /** For each type the kernels of all steps. */
  private static final Map<DType, Map<FusedDecoder.Step, Lazy<FusedDecoder>>> KERNELS =
      new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      Map<FusedDecoder.Step, Lazy<FusedDecoder>> kernels = new EnumMap<>(FusedDecoder.Step.class);
      for (FusedDecoder.Step step : FusedDecoder.Step.values()) {
        DecodeTemplate.Variant variant = new DecodeTemplate.Variant(dtype, step);
        kernels.put(
            step,
            new Lazy<>(
                () ->
                    ClassCopies.instantiate(
                        MethodHandles.lookup(),
                        FusedDecoder.class,
                        DecodeTemplate.class,
                        variant)));
      }
      KERNELS.put(dtype, kernels);
    }
  }

  private Decoders() {}

  static FusedDecoder kernel(DType dtype, FusedDecoder.Step step) {
    return KERNELS.get(dtype).get(step).get();
  }

  /** A kernel's pass without scales. */
  static int plain(DType dtype, MemorySegment codes, long from, int n, MemorySegment dst, long to) {
    FusedDecoder kernel = kernel(dtype, FusedDecoder.Step.PLAIN);
    return kernel.decode(codes, from, n, 1, null, 0, 0, null, dst, to);
  }

  /** Decodes elements {@code first … first + count − 1}, without scales, to F32 at {@code dst}. */
  public static void decode(
      HostStorage s, long first, int count, MemorySegment dst, long dstOffsetBytes) {
    decode(s.dtype(), s.data(), first, count, dst, dstOffsetBytes);
  }

  /** As {@link #decode(HostStorage, long, int, MemorySegment, long)}, of packed elements. */
  public static void decode(
      DType dtype, MemorySegment data, long first, int count, MemorySegment dst, long to) {
    if (dtype.bits() >= 8) {
      int done = plain(dtype, data, first * (dtype.bits() / 8), count, dst, to);
      for (int i = done; i < count; i++) {
        dst.set(PackedElements.FLOAT, to + 4L * i, Tables.decode(dtype, data, first + i));
      }
      return;
    }
    long codes = unpacked(dtype, data, first, count, dst, to);
    int done = plain(dtype, dst, codes, count, dst, to);
    float[] table = Tables.narrow(dtype);
    for (int i = done; i < count; i++) {
      int code = dst.get(ValueLayout.JAVA_BYTE, codes + i);
      dst.set(PackedElements.FLOAT, to + 4L * i, table[code]);
    }
  }

  /**
   * Leaves codes narrower than a byte, one a byte, in the last quarter of the F32s' place, and
   * returns where: value i is written to bytes 4i …, which never overtake the codes still to be
   * read from 3 · count + i on.
   */
  static long unpacked(
      DType dtype, MemorySegment data, long first, int count, MemorySegment dst, long to) {
    long codes = to + 3L * count;
    PackedCodes.unpack(dtype, data, first, count, dst, codes);
    return codes;
  }

  /** F32 with its NaNs made canonical; returns the number of elements done. */
  static int f32(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    return plain(DType.F32, data, from, count, dst, to);
  }

  /**
   * Decodes elements to their values, scale × element as one F32 product (NVFP4: (s · g) ×
   * element), NaN as the canonical one. The run may cross rows; without scaling it is {@link
   * #decode(HostStorage, long, int, MemorySegment, long)}.
   */
  public static void decodeScaled(
      HostStorage s, long first, int count, MemorySegment dst, long dstOffsetBytes) {
    if (s.grid().scales() > 0) {
      ScaledRuns.decode(s, first, count, dst, dstOffsetBytes);
    } else {
      decode(s, first, count, dst, dstOffsetBytes);
    }
  }
}
