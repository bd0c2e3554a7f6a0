package dev.minifloat.cuda.internal.driver;

import dev.minifloat.MinifloatException;
import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelParameter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;

/** PTX that the driver compiled for a context's device. */
public final class PtxModule implements AutoCloseable {
  private static final int LOG_BYTES = 1 << 14;

  /**
   * Shared memory that a block gets without asking (CUDA C++ Programming Guide, "Shared Memory").
   */
  private static final int COMMON_SHARED_BYTES = 48 << 10;

  private final PrimaryContext context;
  private final String name;
  private final Handle handle;
  private final Cleaner.Cleanable cleanable;

  private PtxModule(PrimaryContext context, String name, Handle handle) {
    this.context = context;
    this.name = name;
    this.handle = handle;
    this.cleanable = handle.watch(this);
  }

  /**
   * Compiles PTX.
   *
   * @param name what messages call it
   * @param ptx the text, without a zero at its end
   * @throws CudaException if it fails, with what the driver's compiler said; its result is {@code
   *     CUDA_ERROR_UNSUPPORTED_PTX_VERSION} if the driver is too old for the text
   */
  public static PtxModule load(PrimaryContext context, String name, byte[] ptx) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocate(ptx.length + 1L);
      MemorySegment.copy(ptx, 0, image, ValueLayout.JAVA_BYTE, 0, ptx.length);
      MemorySegment log = arena.allocate(LOG_BYTES);
      int[] options = {Cuda.CU_JIT_ERROR_LOG_BUFFER(), Cuda.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES()};
      long[] values = {log.address(), LOG_BYTES};
      try {
        Handle handle =
            Handle.create(
                context,
                "module",
                DriverFunction.cuModuleUnload,
                DriverFunction.cuModuleLoadDataEx,
                image,
                options.length,
                arena.allocateFrom(ValueLayout.JAVA_INT, options),
                arena.allocateFrom(ValueLayout.JAVA_LONG, values));
        return new PtxModule(context, name, handle);
      } catch (CudaException e) {
        String said = log.getString(0, StandardCharsets.ISO_8859_1).strip();
        throw new CudaException(
            "%s can't be compiled for %s: %s%s"
                .formatted(
                    name, context.device(), e.getMessage(), said.isEmpty() ? "" : "\n" + said),
            e);
      }
    }
  }

  /**
   * A kernel, ready to be launched with the shared memory that its entry says.
   *
   * @throws MinifloatException if the module has none of that name or with other parameters, or the
   *     device hasn't enough shared memory
   */
  public Kernel kernel(KernelEntry entry) {
    int shared = entry.staticShared() + entry.dynamicShared();
    if (shared > context.device().sharedBytesPerBlock()) {
      throw new MinifloatException(
          "%s needs %d bytes of shared memory, and a block of %s has at most %d"
              .formatted(
                  entry.entry(), shared, context.device(), context.device().sharedBytesPerBlock()));
    }
    MemorySegment function = find(entry);
    requireParameters(entry, function);
    if (shared > COMMON_SHARED_BYTES) {
      context.call(
          DriverFunction.cuFuncSetAttribute,
          function,
          Cuda.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES(),
          entry.dynamicShared());
    }
    return new Kernel(entry, this, function);
  }

  Handle handle() {
    return handle;
  }

  private MemorySegment find(KernelEntry entry) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      context.call(
          DriverFunction.cuModuleGetFunction, out, handle, arena.allocateFrom(entry.entry()));
      return out.get(ValueLayout.ADDRESS, 0);
    } catch (CudaException e) {
      throw new CudaException(
          "no kernel %s in %s: %s".formatted(entry.entry(), name, e.getMessage()), e);
    }
  }

  /** What the driver read from the PTX against the catalog, where the driver can tell. */
  private void requireParameters(KernelEntry entry, MemorySegment function) {
    if (!context.driver().has(DriverFunction.cuFuncGetParamInfo)) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment offset = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
      long index = 0;
      for (KernelParameter parameter : entry.parameters()) {
        context.call(DriverFunction.cuFuncGetParamInfo, function, index, offset, size);
        long at = offset.get(ValueLayout.JAVA_LONG, 0);
        long bytes = size.get(ValueLayout.JAVA_LONG, 0);
        if (at != parameter.offset() || bytes != parameter.type().byteSize()) {
          throw new MinifloatException(
              "%s of %s: parameter %s has %d bytes at %d in the PTX, and %d at %d in the catalog"
                  .formatted(
                      entry.entry(),
                      name,
                      parameter.name(),
                      bytes,
                      at,
                      parameter.type().byteSize(),
                      parameter.offset()));
        }
        index++;
      }
    }
  }

  /** Unloads it; its kernels must not run any more. */
  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }

  @Override
  public String toString() {
    return name;
  }
}
