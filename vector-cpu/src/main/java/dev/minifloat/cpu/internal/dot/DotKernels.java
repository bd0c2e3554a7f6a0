package dev.minifloat.cpu.internal.dot;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.convert.ScaledRuns;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Cpu;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * Dot products of any two formats and scalings.
 *
 * <p>Pairs that have a kernel of their own ({@link DotFused}) are multiplied straight from memory,
 * if they are without gaps and have one scale at most; of blocks {@link DotBlocks} takes some. Of
 * others chunks are decoded to the first-level cache, those operands at least that the kernels
 * don't read themselves.
 */
public final class DotKernels {
  private static final int TYPES = DType.values().length;

  /** At {@link #index}; null for a pair without a kernel. */
  private static final DotFused[] FUSED = kernels();

  /** For more than {@link DotFused#BRIEF} elements, likewise. */
  private static final DotFused[] LONG = FUSED.clone();

  static {
    put(LONG, DType.BF16, DType.BF16, copy(DotBf16.class, false));
  }

  private static final DotFused FLOATS = kernel(DType.F32, DType.F32);

  private DotKernels() {}

  private static DotFused[] kernels() {
    DotFused[] kernels = new DotFused[TYPES * TYPES];
    put(kernels, DType.F32, DType.F32, new DotF32());
    put(kernels, DType.BF16, DType.BF16, copy(DotBf16.class, true));
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
    return copy(DotBytes.class, new DotBytes.Pair(a, b));
  }

  private static DotFused copy(Class<? extends DotFused> template, Object constants) {
    return ClassCopies.instantiate(MethodHandles.lookup(), DotFused.class, template, constants);
  }

  private static void put(DotFused[] kernels, DType a, DType b, DotFused kernel) {
    kernels[index(a, b)] = kernel;
    if (a != b) {
      kernels[index(b, a)] = kernel.turned();
    }
  }

  /** An array, as a product of short vectors takes less time than to look into maps. */
  @SuppressWarnings("EnumOrdinal")
  private static int index(DType a, DType b) {
    return a.ordinal() * TYPES + b.ordinal();
  }

  /** Null if there is none. */
  private static DotFused kernel(DType a, DType b) {
    return FUSED[index(a, b)];
  }

  /** The dot product of two vectors. */
  public static float dot(TensorView a, TensorView b, DotScratch.Pool pool) {
    long n = a.shape().elements();
    DotFused kernel = kernel(a.dtype(), b.dtype());
    if (kernel != null && isDense(a) && isDense(b)) {
      if (a.isUnscaled() && b.isUnscaled()) {
        return fused(kernel, a, b, pool);
      }
      double scale = scale(a) * scale(b);
      // What is not finite may meet zeros, or infinities of both signs.
      if (Double.isFinite(scale) && n > 0) {
        return (float) (fused(kernel, a, b, pool) * scale);
      }
    }
    int block = DotBlocks.block(a, b);
    return block != 0 ? DotBlocks.dot(a, b, block, pool) : decoded(a, b, 0, n, pool);
  }

  /** Whether its elements lie one behind the other. */
  private static boolean isDense(TensorView x) {
    return x.stride(0) == 1 || x.shape().elements() <= 1;
  }

  private static boolean isPlain(TensorView x) {
    return x.isUnscaled() && isDense(x);
  }

  /**
   * What a sum of elements is multiplied with: the only scale, 1 without one. NaN if there are
   * more, or if the sums might be too large without theirs, as of formats of more than 8 bits.
   */
  private static double scale(TensorView x) {
    if (x.isUnscaled()) {
      return 1;
    }
    return x.storage().grid().scales() == 1 && x.dtype().bits() <= 8
        ? ScaledRuns.scale((HostStorage) x.storage(), 0)
        : Double.NaN;
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
    if (n <= DotFused.BRIEF) {
      return kernel.dot(left, fromA, right, fromB, (int) n, pool);
    }
    DotFused longer = LONG[index(a.dtype(), b.dtype())];
    int most = longer.most();
    float sum = 0;
    for (long k = 0; k < n; k += most) {
      int count = (int) Math.min(most, n - k);
      sum += longer.dot(left, fromA + k * bytesA, right, fromB + k * bytesB, count, pool);
    }
    return sum;
  }

  /**
   * The product of elements {@code from … to} by chunks, of which one operand at least is decoded.
   * The other is read where it lies if it is plain and has a kernel with F32.
   */
  static float decoded(TensorView a, TensorView b, long from, long to, DotScratch.Pool pool) {
    boolean plainA = isPlain(a);
    boolean plainB = isPlain(b);
    boolean asIsA = plainA && isWide(a.dtype());
    boolean asIsB = !asIsA && plainB && isWide(b.dtype());
    DotFused kernel =
        asIsA ? kernel(a.dtype(), DType.F32) : asIsB ? kernel(DType.F32, b.dtype()) : FLOATS;
    DotScratch scratch = pool.take();
    MemorySegment floats = scratch.floats();
    float sum = 0;
    int most = Math.min(DotScratch.CHUNK, kernel.most());
    for (long k = from; k < to; k += most) {
      int count = (int) Math.min(most, to - k);
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

  /**
   * Whether the other operand of a decoded one is best read where it lies. F16 is not: its kernel
   * with F32 decodes it too, and would take a second scratch from a slot that holds one.
   */
  private static boolean isWide(DType dtype) {
    return dtype == DType.F32 || dtype == DType.BF16;
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
