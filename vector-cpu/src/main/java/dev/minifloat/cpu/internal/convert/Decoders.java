package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.FusedDecoder.Step;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Lazy;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
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
  /** For each type the kernels of all steps, of codes in whole bytes and of packed ones. */
  private static final Map<DType, Map<Step, Lazy<FusedDecoder>>> KERNELS = kernels(false);

  private static final Map<DType, Map<Step, Lazy<FusedDecoder>>> PACKED = kernels(true);

  private static Map<DType, Map<Step, Lazy<FusedDecoder>>> kernels(boolean packed) {
    Map<DType, Map<Step, Lazy<FusedDecoder>>> all = new EnumMap<>(DType.class);
    for (DType dtype : DType.values()) {
      Map<Step, Lazy<FusedDecoder>> kernels = new EnumMap<>(Step.class);
      for (Step step : Step.values()) {
        DecodeTemplate.Variant variant = new DecodeTemplate.Variant(dtype, step, packed);
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
      all.put(dtype, kernels);
    }
    return all;
  }

  private Decoders() {}

  static FusedDecoder kernel(DType dtype, Step step) {
    return KERNELS.get(dtype).get(step).get();
  }

  /** The kernel of codes that lie as {@link #isPacked} says, two in a byte if that is true. */
  static FusedDecoder kernel(DType dtype, Step step, boolean packed) {
    return (packed ? PACKED : KERNELS).get(dtype).get(step).get();
  }

  /** Whether kernels take a run that begins at element {@code first} as it lies, packed. */
  static boolean isPacked(DType dtype, long first) {
    return LANES == DecodeTemplate.PACKED_LANES && dtype.bits() == 4 && (first & 1) == 0;
  }

  /** A kernel's pass without scales. */
  private static int plain(
      DType dtype,
      boolean packed,
      MemorySegment codes,
      long from,
      int n,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    return kernel(dtype, Step.PLAIN, packed)
        .decode(codes, from, n, 1, null, 0, 0, null, dst, to, ahead);
  }

  /** A kernel's pass without scales over codes in whole bytes. */
  static int plain(DType dtype, MemorySegment codes, long from, int n, MemorySegment dst, long to) {
    return plain(dtype, false, codes, from, n, dst, to, null);
  }

  /** Decodes elements {@code first … first + count − 1}, without scales, to F32 at {@code dst}. */
  public static void decode(
      HostStorage s, long first, int count, MemorySegment dst, long dstOffsetBytes) {
    decode(s.dtype(), s.data(), first, count, dst, dstOffsetBytes, null);
  }

  /**
   * As {@link #decode(HostStorage, long, int, MemorySegment, long)}, of packed elements.
   *
   * @param ahead what to read ahead in {@code dst}, or null
   */
  public static void decode(
      DType dtype,
      MemorySegment data,
      long first,
      int count,
      MemorySegment dst,
      long to,
      ReadAhead ahead) {
    boolean packed = isPacked(dtype, first);
    if (dtype.bits() >= 8 || packed) {
      long from = first * dtype.bits() / 8;
      int done = plain(dtype, packed, data, from, count, dst, to, ahead);
      for (int i = done; i < count; i++) {
        dst.set(PackedElements.FLOAT, to + 4L * i, Tables.decode(dtype, data, first + i));
      }
      return;
    }
    long codes = unpacked(dtype, data, first, count, dst, to);
    int done = plain(dtype, false, dst, codes, count, dst, to, ahead);
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
    decodeScaled(s, first, count, dst, dstOffsetBytes, null);
  }

  /** As above, with what to read ahead in {@code dst}. */
  static void decodeScaled(
      HostStorage s,
      long first,
      int count,
      MemorySegment dst,
      long dstOffsetBytes,
      ReadAhead ahead) {
    if (s.grid().scales() > 0) {
      ScaledRuns.decode(s, first, count, dst, dstOffsetBytes, ahead);
    } else {
      decode(s.dtype(), s.data(), first, count, dst, dstOffsetBytes, ahead);
    }
  }
}
