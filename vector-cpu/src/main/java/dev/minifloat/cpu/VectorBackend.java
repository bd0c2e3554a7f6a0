package dev.minifloat.cpu;

import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cpu.internal.VectorKernels;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The CPU through the Vector API: native, 64-byte-aligned memory, vectors of whatever width the
 * machine prefers (128 to 512 bits), and threads of its own.
 *
 * <p>Work is cut by its size, never by the number of threads, so a result has the same bits for any
 * number of threads. Conversions and quantization have the same bits as {@link
 * dev.minifloat.codec.Codec}; the functions that compute in FP32 state their bounds.
 *
 * <p>Needs the module {@code jdk.incubator.vector}: with {@code --add-modules jdk.incubator.vector}
 * on the class path; on the module path it comes with this module.
 */
public final class VectorBackend extends BackendBase {
  /** Its name among the backends. */
  public static final String NAME = "vector";

  private final Workers workers;
  private final Memory memory = new Memory();
  private final Kernels kernels;

  /**
   * A backend with a thread for each available processor.
   *
   * @throws dev.minifloat.BackendUnavailableException if the JVM runs without the Vector API
   */
  public VectorBackend() {
    this(Runtime.getRuntime().availableProcessors());
  }

  private VectorBackend(int threads) {
    VectorProvider.requireAvailable();
    super(NAME);
    workers = new Workers(threads);
    kernels = new VectorKernels(workers, memory);
  }

  /**
   * A backend with a given number of threads, the caller's included; they start when first needed.
   *
   * @throws IllegalArgumentException if it is not positive
   * @throws dev.minifloat.BackendUnavailableException if the JVM runs without the Vector API
   */
  public static VectorBackend threads(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads: " + threads + " is not positive");
    }
    return new VectorBackend(threads);
  }

  /**
   * Compiles the kernels of some formats, of all if none is named, by running each on small
   * operands until it makes no garbage, as only compiled code does. A program that calls this first
   * does not find its own first calls slow.
   *
   * <p>Takes some seconds of a core for a format, most of them the compiler's, and longer on a core
   * that it has not to itself. It leaves nothing behind; any thread may call it, at any time and
   * again.
   *
   * @param dtypes formats whose kernels will be used
   * @throws dev.minifloat.BackendUnavailableException if the JVM runs without the Vector API
   */
  public static void warmUp(DType... dtypes) {
    VectorProvider.requireAvailable();
    KernelCheck.warmUp(formats(dtypes));
  }

  /**
   * Compiles the kernels of some formats as {@link #warmUp} does, and says how that went; a kernel
   * that the JVM compiled badly is logged at WARN with the flags that help.
   *
   * <p>It measures what the kernels allocate with the optional module {@code jdk.management};
   * without it the only report says so.
   *
   * @param dtypes formats whose kernels are checked, all if none is named
   * @return a report for each kernel
   * @throws dev.minifloat.BackendUnavailableException if the JVM runs without the Vector API
   */
  public static List<KernelReport> selfCheck(DType... dtypes) {
    VectorProvider.requireAvailable();
    return KernelCheck.selfCheck(formats(dtypes));
  }

  private static Set<DType> formats(DType... dtypes) {
    for (DType dtype : dtypes) {
      Objects.requireNonNull(dtype, "dtypes");
    }
    return dtypes.length == 0 ? EnumSet.allOf(DType.class) : EnumSet.copyOf(Arrays.asList(dtypes));
  }

  /** Threads it computes with, the caller's included. */
  public int threads() {
    return workers.threads();
  }

  /** Width of its vectors in bits. */
  public int vectorBits() {
    return Species.BITS;
  }

  static String device() {
    return System.getProperty("os.arch") + ", " + Species.BITS + "-bit vectors";
  }

  @Override
  public BackendInfo info() {
    return new BackendInfo(device(), vectorBits(), threads());
  }

  @Override
  protected Kernels kernels() {
    return kernels;
  }

  @Override
  protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
    return memory.allocate(dtype, shape, scaling);
  }

  @Override
  protected void upload(HostTensor source, Storage target) {
    ((HostStorage) target).copyFrom(source);
  }

  @Override
  protected HostTensor download(Storage source, Arena arena) {
    return ((HostStorage) source).copyTo(arena);
  }

  @Override
  protected void shutDown() {
    workers.close();
    memory.close();
  }
}
