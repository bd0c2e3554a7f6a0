package dev.minifloat.cpu.internal.dot;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Cpu;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.EnumMap;
import java.util.Map;

/**
 * Dot products of any two formats and scalings.
 *
 * <p>Pairs that have a kernel of their own ({@link DotFused}) are multiplied straight from memory,
 * if they are unscaled and without gaps. Of others chunks are decoded to the first-level cache,
 * those operands at least that the kernels don't read themselves.
 */
public final class DotKernels {
  /** By both types; a pair that is missing has no kernel. */
  private static final Map<DType, Map<DType, DotFused>> FUSED = kernels();

  private static final DotFused FLOATS = kernel(DType.F32, DType.F32);

  private DotKernels() {}

  private static Map<DType, Map<DType, DotFused>> kernels() {
    Map<DType, Map<DType, DotFused>> kernels = new EnumMap<>(DType.class);
    for (DType dtype : DType.values()) {
      kernels.put(dtype, new EnumMap<>(DType.class));
    }
    put(kernels, DType.F32, DType.F32, new DotF32());
    put(kernels, DType.BF16, DType.BF16, new DotBf16());
    put(kernels, DType.F32, DType.BF16, new DotF32Bf16());
    put(kernels, DType.F16, DType.F16, new DotF16());
    put(kernels, DType.F16, DType.F32, new DotF16F32());
    put(kernels, DType.I8, DType.I8, new DotI8());
    if (Species.BITS == 512 && Cpu.permutesBytes()) {
      put(kernels, DType.F8_E4M3, DType.F8_E4M3, bytes(DType.F8_E4M3, DType.F8_E4M3));
      put(kernels, DType.F8_E5M2, DType.F8_E5M2, bytes(DType.F8_E5M2, DType.F8_E5M2));
      put(kernels, DType.F8_E4M3, DType.F8_E5M2, bytes(DType.F8_E4M3, DType.F8_E5M2));
    }
    return kernels;
  }

  private static DotFused bytes(DType a, DType b) {
    return ClassCopies.instantiate(
        MethodHandles.lookup(), DotFused.class, DotBytes.class, new DotBytes.Pair(a, b));
  }

  private static void put(
      Map<DType, Map<DType, DotFused>> kernels, DType a, DType b, DotFused kernel) {
    kernels.get(a).put(b, kernel);
    if (a != b) {
      kernels.get(b).put(a, kernel.turned());
    }
  }

  /** Null if there is none. */
  private static DotFused kernel(DType a, DType b) {
    return FUSED.get(a).get(b);
  }

  /** The dot product of two vectors. */
  public static float dot(TensorView a, TensorView b, DotScratch.Pool pool) {
    boolean plainA = isPlain(a);
    boolean plainB = isPlain(b);
    if (plainA && plainB) {
      DotFused kernel = kernel(a.dtype(), b.dtype());
      if (kernel != null) {
        return fused(kernel, a, b, pool);
      }
    }
    return decoded(a, plainA, b, plainB, pool);
  }

  private static boolean isPlain(TensorView x) {
    return x.isUnscaled() && (x.stride(0) == 1 || x.shape().elements() <= 1);
  }

  private static MemorySegment data(TensorView x) {
    return ((HostStorage) x.storage()).data();
  }

  private static float fused(DotFused kernel, TensorView a, TensorView b, DotScratch.Pool pool) {
    MemorySegment left = data(a);
    MemorySegment right = data(b);
    long bytesA = a.dtype().bits() / Byte.SIZE;
    long bytesB = b.dtype().bits() / Byte.SIZE;
    long fromA = a.offset() * bytesA;
    long fromB = b.offset() * bytesB;
    long n = a.shape().elements();
    if (n <= DotFused.MOST) {
      return kernel.dot(left, fromA, right, fromB, (int) n, pool);
    }
    float sum = 0;
    for (long k = 0; k < n; k += DotFused.MOST) {
      int count = (int) Math.min(DotFused.MOST, n - k);
      sum += kernel.dot(left, fromA + k * bytesA, right, fromB + k * bytesB, count, pool);
    }
    return sum;
  }

  /**
   * The product by chunks, of which one operand at least is decoded. The other is read where it
   * lies if it is plain and has a kernel with F32.
   */
  private static float decoded(
      TensorView a, boolean plainA, TensorView b, boolean plainB, DotScratch.Pool pool) {
    boolean asIsA = plainA && kernel(a.dtype(), DType.F32) != null;
    boolean asIsB = plainB && kernel(b.dtype(), DType.F32) != null;
    if (asIsA && asIsB) {
      // F16 · BF16: halves are decoded faster.
      asIsA = a.dtype() != DType.F16;
      asIsB = !asIsA;
    }
    DotFused kernel =
        asIsA ? kernel(a.dtype(), DType.F32) : asIsB ? kernel(DType.F32, b.dtype()) : FLOATS;
    DotScratch scratch = pool.take();
    MemorySegment floats = scratch.floats();
    long n = a.shape().elements();
    float sum = 0;
    for (long k = 0; k < n; k += DotScratch.CHUNK) {
      int count = (int) Math.min(DotScratch.CHUNK, n - k);
      MemorySegment left = floats;
      MemorySegment right = floats;
      long fromA = 0;
      long fromB = DotScratch.SECOND;
      if (asIsA) {
        left = data(a);
        fromA = (a.offset() + k) * (a.dtype().bits() / Byte.SIZE);
      } else {
        decode(a, plainA, k, count, scratch, 0);
      }
      if (asIsB) {
        right = data(b);
        fromB = (b.offset() + k) * (b.dtype().bits() / Byte.SIZE);
      } else {
        decode(b, plainB, k, count, scratch, DotScratch.SECOND);
      }
      sum += kernel.dot(left, fromA, right, fromB, count, pool);
    }
    pool.give(scratch);
    return sum;
  }

  /** Decodes elements {@code from …} of a vector, scales applied. */
  private static void decode(
      TensorView x, boolean plain, long from, int count, DotScratch scratch, long to) {
    HostStorage storage = (HostStorage) x.storage();
    MemorySegment dst = scratch.floats();
    long stride = x.stride(0);
    long first = x.offset() + from * stride;
    if (plain && x.dtype() == DType.F16) {
      DotF16.decode(storage.data(), first * Short.BYTES, count, scratch.sums());
      MemorySegment.copy(scratch.sums(), 0, dst, PackedElements.FLOAT, to, count);
      return;
    }
    if (stride == 1 || count == 1) {
      Decoders.decodeScaled(storage, first, count, dst, to);
      return;
    }
    for (int i = 0; i < count; i++) {
      dst.set(PackedElements.FLOAT, to + 4L * i, Views.value(storage, first + i * stride));
    }
  }
}
