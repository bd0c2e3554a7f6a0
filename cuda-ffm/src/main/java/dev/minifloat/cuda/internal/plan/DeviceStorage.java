package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.spi.Storage;

/**
 * A storage in device memory: one allocation.
 *
 * <pre>
 *   | elements | gap | scales | gap | F32 factor of NVFP4 |
 *   ^ 0              ^ a multiple of 256, as is this ^
 * </pre>
 *
 * A part that a scaling doesn't have takes no room.
 */
public final class DeviceStorage extends Storage {
  private static final long ALIGNMENT = 256;

  private final DeviceMemory memory;
  private final Layout layout;

  /**
   * Where the parts lie.
   *
   * @param dataBytes bytes of the packed elements, from 0 on
   * @param scalesOffset where the scales begin
   * @param scaleBytes their size
   * @param globalOffset where NVFP4's factor lies
   * @param size bytes of all
   */
  private record Layout(
      long dataBytes, long scalesOffset, long scaleBytes, long globalOffset, long size) {
    static Layout of(DType dtype, Shape shape, Scaling scaling) {
      long dataBytes = dtype.byteSize(shape.elements());
      long scaleBytes = scaling.scaleDType().byteSize(scaling.grid(shape).scales());
      long scalesOffset = scaleBytes == 0 ? dataBytes : aligned(dataBytes);
      long scalesEnd = sum(scalesOffset, scaleBytes);
      boolean hasGlobal = scaling instanceof Scaling.NvFp4;
      long globalOffset = hasGlobal ? aligned(scalesEnd) : scalesEnd;
      long size = hasGlobal ? sum(globalOffset, Float.BYTES) : scalesEnd;
      return new Layout(dataBytes, scalesOffset, scaleBytes, globalOffset, size);
    }

    private static long aligned(long size) {
      return sum(size, ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** Or the largest long: more than a device has, which is what it will say. */
    private static long sum(long a, long b) {
      return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }
  }

  /**
   * Takes over device memory.
   *
   * @param memory of {@link #allocationSize} bytes
   */
  public DeviceStorage(DType dtype, Shape shape, Scaling scaling, DeviceMemory memory) {
    super(dtype, shape, scaling);
    this.memory = memory;
    this.layout = Layout.of(dtype, shape, scaling);
  }

  /** Bytes to allocate for a tensor. */
  public static long allocationSize(DType dtype, Shape shape, Scaling scaling) {
    return Layout.of(dtype, shape, scaling).size();
  }

  /** All of it. */
  public DeviceMemory memory() {
    return memory;
  }

  /** Address of the packed elements. */
  public long data() {
    return memory.address();
  }

  /** Bytes of the packed elements. */
  public long dataBytes() {
    return layout.dataBytes();
  }

  /** Address of the scales; 0 if there can't be any. */
  public long scales() {
    return scaling() instanceof Scaling.None ? 0 : memory.address() + layout.scalesOffset();
  }

  /** Where the scales begin in {@link #memory}. */
  public long scalesOffset() {
    return layout.scalesOffset();
  }

  /** Bytes of the scales. */
  public long scaleBytes() {
    return layout.scaleBytes();
  }

  /** Whether there is a factor of the whole tensor, as with NVFP4. */
  public boolean hasGlobal() {
    return scaling() instanceof Scaling.NvFp4;
  }

  /** Address of the factor of the whole tensor; 0 for none. */
  public long global() {
    return hasGlobal() ? memory.address() + layout.globalOffset() : 0;
  }

  /** Where the factor of the whole tensor lies in {@link #memory}. */
  public long globalOffset() {
    return layout.globalOffset();
  }

  @Override
  public long byteSize() {
    return layout.dataBytes() + layout.scaleBytes() + (hasGlobal() ? Float.BYTES : 0);
  }

  @Override
  protected void free() {
    memory.close();
  }
}
