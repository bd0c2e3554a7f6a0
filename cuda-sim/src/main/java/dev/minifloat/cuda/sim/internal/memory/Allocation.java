package dev.minifloat.cuda.sim.internal.memory;

/** A piece of global memory: an allocation of the host, or a module's variable. */
public final class Allocation {
  private final long base;
  private final int size;
  private final String label;
  private final boolean readOnly;
  private final byte[] data;
  private final InitializedBits initialized;
  private volatile boolean freed;

  Allocation(long base, int size, String label, boolean readOnly) {
    this.base = base;
    this.size = size;
    this.label = label;
    this.readOnly = readOnly;
    this.data = new byte[size];
    this.initialized = new InitializedBits(size);
  }

  private Allocation(Allocation live) {
    base = live.base;
    size = live.size;
    label = live.label;
    readOnly = live.readOnly;
    data = null;
    initialized = null;
    freed = true;
  }

  /** What stands in its place after it is freed, without its bytes. */
  Allocation tombstone() {
    freed = true;
    return new Allocation(this);
  }

  /** The address of its first byte. */
  public long base() {
    return base;
  }

  /** Its size in bytes. */
  public int size() {
    return size;
  }

  /** What it is, for messages. */
  public String label() {
    return label;
  }

  /** Whether kernels may only read it: constants. */
  public boolean isReadOnly() {
    return readOnly;
  }

  byte[] data() {
    return data;
  }

  InitializedBits initialized() {
    return initialized;
  }

  /** The offset of an access that lies within it; a fault if it doesn't. */
  public int offset(long address, int bytes) {
    long offset = address - base;
    if (freed) {
      throw new DeviceFault(
          DeviceFault.Kind.USE_AFTER_FREE,
          "address 0x%x lies %s, which was freed".formatted(address, describe(offset)));
    }
    if (offset < 0 || offset + bytes > size) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at address 0x%x don't lie within an allocation; the nearest is %s"
              .formatted(bytes, address, describe(offset)));
    }
    return (int) offset;
  }

  private String describe(long offset) {
    String where =
        offset < 0
            ? -offset + " bytes before"
            : offset >= size ? offset - size + " bytes after the end of" : offset + " bytes into";
    return where + " " + label + " (0x%x, %d bytes)".formatted(base, size);
  }

  /** Loads a number that lies within and was written. */
  public long load(int offset, int bytes, boolean checkInitialized) {
    if (checkInitialized && !initialized.allSet(offset, bytes)) {
      throw uninitialized(offset, bytes);
    }
    return Bytes.get(data, offset, bytes);
  }

  /** Stores a number that lies within. */
  public void store(int offset, int bytes, long value) {
    if (readOnly) {
      throw new DeviceFault(
          DeviceFault.Kind.READ_ONLY, "a kernel can't write to " + describe(offset));
    }
    initialized.set(offset, bytes);
    Bytes.put(data, offset, bytes, value);
  }

  /** Copies a range out that lies within and was written. */
  public void copyOut(int offset, byte[] target, int to, int length, boolean checkInitialized) {
    if (checkInitialized && initialized.firstUnset(offset, length) >= 0) {
      throw uninitialized(offset, length);
    }
    System.arraycopy(data, offset, target, to, length);
  }

  /** Copies a range in that lies within. */
  public void copyIn(int offset, byte[] source, int from, int length) {
    if (readOnly) {
      throw new DeviceFault(
          DeviceFault.Kind.READ_ONLY, "a kernel can't write to " + describe(offset));
    }
    initialized.setRange(offset, length);
    System.arraycopy(source, from, data, offset, length);
  }

  DeviceFault uninitialized(int offset, int bytes) {
    int first = initialized.firstUnset(offset, bytes);
    return new DeviceFault(
        DeviceFault.Kind.UNINITIALIZED_READ,
        "byte %s was never written".formatted(describe(first)));
  }
}
