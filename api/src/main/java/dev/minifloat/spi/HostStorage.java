package dev.minifloat.spi;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A storage in host memory, for backends that compute there.
 *
 * <p>A backend may attach what it derives from the elements, in {@link Kernels#pack}; it goes with
 * the storage.
 */
public final class HostStorage extends Storage {
  /** What a backend keeps beside the elements of a storage. */
  public interface Attachment {
    /** Bytes of memory it holds. */
    long byteSize();

    /** Gives the memory back; called once, after the last use of the storage. */
    void free();
  }

  private final MemorySegment data;
  private final MemorySegment scales;
  private final Runnable free;
  private volatile float globalScale = 1;
  private volatile Attachment attachment;

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

  /** What {@link #attach} attached; null for nothing. */
  public Attachment attachment() {
    return attachment;
  }

  /**
   * Keeps something until this storage is freed; for the kernel that fills this storage, once.
   *
   * @throws IllegalStateException if there is an attachment already
   */
  public void attach(Attachment derived) {
    Objects.requireNonNull(derived, "derived");
    if (attachment != null) {
      throw new IllegalStateException(this + " has an attachment already");
    }
    attachment = derived;
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
        + (scaling() instanceof Scaling.NvFp4 ? Float.BYTES : 0)
        + (attachment == null ? 0 : attachment.byteSize());
  }

  @Override
  protected void free() {
    if (attachment != null) {
      attachment.free();
    }
    free.run();
  }
}
