package dev.minifloat.cuda.internal.driver;

import java.lang.ref.Cleaner;

/** Memory of a device, its address a multiple of 256. */
public final class DeviceMemory implements AutoCloseable {
  private final Handle handle;
  private final long byteSize;
  private final Cleaner.Cleanable cleanable;

  DeviceMemory(Handle handle, long byteSize) {
    this.handle = handle;
    this.byteSize = byteSize;
    this.cleanable = handle.watch(this);
  }

  /**
   * Its address on the device; never 0.
   *
   * @throws IllegalStateException if it is closed
   */
  public long address() {
    if (handle.isClosed()) {
      throw new IllegalStateException("the " + handle + " is closed");
    }
    return handle.address();
  }

  /** Its size, which may be 0. */
  public long byteSize() {
    return byteSize;
  }

  /** Throws unless a range lies within it. */
  void requireRange(long offset, long bytes) {
    if (offset < 0 || bytes < 0 || offset > byteSize - bytes) {
      throw new IllegalArgumentException(
          "offset: %d bytes from byte %d on don't lie within %d bytes"
              .formatted(bytes, offset, byteSize));
    }
  }

  /** Frees it, when the work that its stream has so far is done. */
  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }

  @Override
  public String toString() {
    return "%s, %d bytes".formatted(handle, byteSize);
  }
}
