package dev.minifloat.cuda.internal.driver;

import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelParameter;
import dev.minifloat.kernels.ParameterType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/**
 * The arguments of a launch, given in the order of the kernel's parameters and checked against
 * their types in the catalog. No driver is needed to make them; a launch copies them. Not for
 * several threads at once.
 *
 * <pre>
 *   one block of memory:  values, each at its parameter's offset | a pointer to each value
 * </pre>
 */
public final class Arguments {
  /** Of tensor maps, the most that a parameter wants. */
  private static final long ALIGNMENT = 128;

  private final KernelEntry kernel;
  private final MemorySegment values;
  private final MemorySegment pointers;
  private int next;

  /**
   * Begins a list of arguments.
   *
   * @param memory of the host, which has to live until the launch was made
   */
  public Arguments(KernelEntry kernel, SegmentAllocator memory) {
    this.kernel = kernel;
    long bytes = Math.ceilDiv(kernel.parameterBytes(), ALIGNMENT) * ALIGNMENT;
    int count = kernel.parameters().size();
    MemorySegment all =
        memory.allocate(bytes + count * ValueLayout.ADDRESS.byteSize(), ALIGNMENT).fill((byte) 0);
    this.values = all.asSlice(0, bytes);
    this.pointers = all.asSlice(bytes);
    for (int i = 0; i < count; i++) {
      pointers.setAtIndex(
          ValueLayout.JAVA_LONG, i, values.address() + kernel.parameters().get(i).offset());
    }
  }

  /** A device address; 0 where the kernel takes none. */
  public Arguments pointer(long address) {
    values.set(ValueLayout.JAVA_LONG, offset(ParameterType.POINTER), address);
    return this;
  }

  /** A 32-bit integer. */
  public Arguments i32(int value) {
    values.set(ValueLayout.JAVA_INT, offset(ParameterType.I32), value);
    return this;
  }

  /** A 64-bit integer. */
  public Arguments i64(long value) {
    values.set(ValueLayout.JAVA_LONG, offset(ParameterType.I64), value);
    return this;
  }

  /** An F32. */
  public Arguments f32(float value) {
    values.set(ValueLayout.JAVA_FLOAT, offset(ParameterType.F32), value);
    return this;
  }

  /**
   * A struct, all bytes 0, for the caller to fill in.
   *
   * @param type GRID, VIEW, ROPE, EPILOGUE or TENSOR_MAP
   */
  public MemorySegment struct(ParameterType type) {
    return values.asSlice(offset(type), type.byteSize());
  }

  private long offset(ParameterType type) {
    if (next == kernel.parameters().size()) {
      throw new IllegalArgumentException(
          "%s has %d parameters, and one more was given".formatted(kernel.entry(), next));
    }
    KernelParameter parameter = kernel.parameters().get(next);
    if (parameter.type() != type) {
      throw new IllegalArgumentException(
          "%s: parameter %d of %s is %s, and %s was given"
              .formatted(parameter.name(), next, kernel.entry(), parameter.type(), type));
    }
    next++;
    return parameter.offset();
  }

  /** The kernel. */
  public KernelEntry kernel() {
    return kernel;
  }

  /** Throws unless every parameter has its argument. */
  void requireComplete() {
    if (next != kernel.parameters().size()) {
      throw new IllegalArgumentException(
          "%s of %s was not given".formatted(kernel.parameters().get(next).name(), kernel.entry()));
    }
  }

  /** What {@code cuLaunchKernel} calls {@code kernelParams}. */
  MemorySegment pointers() {
    return pointers;
  }
}
