package dev.minifloat.spi;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A storage in host memory, for backends that compute there. */
public final class HostStorage extends Storage {
  private final MemorySegment data;
  private final MemorySegment scales;
  private final Runnable free;
  private volatile float globalScale = 1;

  /**
   * Takes over memory.
   *
   * @param data at least as long as the elements need
   * @param scales at least as long as the scales need
   * @param free gives both back
   */
  public HostStorage(
      DType dtype,
      Shape shape,
      Scaling scaling,
      MemorySegment data,
      MemorySegment scales,
      Runnable free) {
    super(dtype, shape, scaling);
    this.data = data.asSlice(0, dtype.byteSize(shape.elements()));
    this.scales = scales.asSlice(0, scaling.scaleDType().byteSize(grid().scales()));
    this.free = free;
  }

  /** Packed elements. */
  public MemorySegment data() {
    return data;
  }

  /** Scales. */
  public MemorySegment scales() {
    return scales;
  }

  /** NVFP4's factor of the whole tensor; 1 otherwise. */
  public float globalScale() {
    return globalScale;
  }

  /** Sets NVFP4's factor; for the kernel that fills this storage. */
  public void globalScale(float scale) {
    globalScale = scale;
  }

  /** The same memory as a host tensor; valid while this storage is. */
  public HostTensor asHostTensor() {
    return scaling() instanceof Scaling.NvFp4
        ? HostTensor.wrapNvfp4(shape(), data, scales, globalScale)
        : HostTensor.wrap(dtype(), shape(), scaling(), data, scales);
  }

  /** Copies elements and scales of a host tensor of the same layout into this. */
  public void copyFrom(HostTensor source) {
    data.copyFrom(source.data());
    scales.copyFrom(source.scales());
    globalScale = source.globalScale();
  }

  /** A copy of this in memory of {@code arena}. */
  public HostTensor copyTo(Arena arena) {
    HostTensor host = HostTensor.allocate(arena, dtype(), shape(), scaling(), globalScale);
    host.data().copyFrom(data);
    host.scales().copyFrom(scales);
    return host;
  }

  @Override
  public long byteSize() {
    return data.byteSize()
        + scales.byteSize()
        + (scaling() instanceof Scaling.NvFp4 ? Float.BYTES : 0);
  }

  @Override
  protected void free() {
    free.run();
  }
}
