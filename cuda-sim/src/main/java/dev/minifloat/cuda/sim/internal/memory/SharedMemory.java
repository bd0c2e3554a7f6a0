package dev.minifloat.cuda.sim.internal.memory;

import java.util.Arrays;

/**
 * The shared memory of one block: static variables first, the dynamic part after them, and behind a
 * gap the part that is the system's (PTX ISA, "%reserved_smem_offset"), where cooperative groups
 * meet. That is zero when a block begins, for no code of theirs makes it so.
 */
public final class SharedMemory {
  /** Bytes of the system's part (CUDA C++ Programming Guide, "Compute Capability 8.x"). */
  public static final int RESERVED = 1 << 10;

  /** Where the system's part begins in a block without one. */
  public static final int NONE = -1;

  private final int size;
  private final int reservedStart;
  private final byte[] data;
  private final InitializedBits initialized;
  private final boolean checkInitialized;
  private final RaceDetector races;

  /**
   * Memory that nobody wrote yet.
   *
   * @param bytes its size, the system's part apart
   * @param reservedStart where the system's part begins, or {@link #NONE}
   * @param clocks the clocks of its cluster's warps
   * @param checkInitialized whether a read of bytes that nobody wrote is a fault
   * @param places describes instructions in reports of races; null to look for none
   */
  public SharedMemory(
      int bytes,
      int reservedStart,
      Clocks clocks,
      boolean checkInitialized,
      RaceDetector.Places places) {
    int all = reservedStart == NONE ? bytes : reservedStart + RESERVED;
    this.size = bytes;
    this.reservedStart = reservedStart;
    this.data = new byte[all];
    this.initialized = new InitializedBits(all);
    this.checkInitialized = checkInitialized;
    this.races = places == null ? null : new RaceDetector(all, clocks, places);
    if (reservedStart != NONE) {
      initialized.setRange(reservedStart, RESERVED);
    }
  }

  public int size() {
    return size;
  }

  /** The detector of races; null if nobody looks for them. */
  public RaceDetector races() {
    return races;
  }

  /** The offset of an aligned access that lies within; a fault if it doesn't. */
  public int offset(long address, int bytes) {
    boolean inGap = address + bytes > size && address < reservedStart;
    if (address < 0 || address + bytes > data.length || inGap) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at shared address 0x%x don't lie within the block's %d bytes"
              .formatted(bytes, address, size));
    }
    if ((address & (bytes - 1)) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "shared address 0x%x is no multiple of the access's %d bytes".formatted(address, bytes));
    }
    return (int) address;
  }

  /** Loads a number of 1 to 8 bytes at an offset that was checked. */
  public long load(int offset, int bytes, int thread, int pc, boolean atomic) {
    if (races != null) {
      races.read(offset, bytes, thread, pc, atomic);
    }
    if (checkInitialized && !initialized.allSet(offset, bytes)) {
      throw new DeviceFault(
          DeviceFault.Kind.UNINITIALIZED_READ,
          ("byte %d of shared memory was never written, or not yet: if another warp writes it, a"
                  + " barrier must stand between")
              .formatted(initialized.firstUnset(offset, bytes)));
    }
    return Bytes.get(data, offset, bytes);
  }

  /** Stores a number of 1 to 8 bytes at an offset that was checked. */
  public void store(int offset, int bytes, long value, int thread, int pc, boolean atomic) {
    if (races != null) {
      int same = initialized.allSet(offset, bytes) ? same(offset, bytes, value) : 0;
      races.write(offset, bytes, thread, pc, atomic, same);
    }
    initialized.set(offset, bytes);
    Bytes.put(data, offset, bytes, value);
  }

  /**
   * A thread of a warp of the cluster hands on what it has done, by what it writes at an offset.
   */
  public void release(int offset, int warp) {
    if (races != null) {
      races.release(offset, warp);
    }
  }

  /** A thread of a warp has read at an offset what others may have handed on by. */
  public void acquire(int offset, int warp) {
    if (races != null) {
      races.acquire(offset, warp);
    }
  }

  private int same(int offset, int bytes, long value) {
    int same = 0;
    for (int i = 0; i < bytes; i++) {
      if (data[offset + i] == (byte) (value >>> (8 * i))) {
        same |= 1 << i;
      }
    }
    return same;
  }

  /** Bytes from an offset on, fewer where the memory ends; to look is no access. */
  public byte[] look(int offset, int length) {
    int from = Math.clamp(offset, 0, data.length);
    return Arrays.copyOfRange(data, from, Math.clamp((long) from + length, from, data.length));
  }

  /** Whether somebody wrote a byte. */
  public boolean isWritten(int offset) {
    return offset >= 0 && offset < data.length && initialized.get(offset);
  }

  /** Stores what an asynchronous copy has brought, whose race was checked when it landed. */
  public void land(int offset, int bytes, long value) {
    initialized.set(offset, bytes);
    Bytes.put(data, offset, bytes, value);
  }

  /** The offset of a range of any length; a fault if it doesn't lie within, or isn't aligned. */
  public int range(long address, long bytes, int align) {
    if (address < 0 || address + bytes > size) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at shared address 0x%x don't lie within the block's %d bytes"
              .formatted(bytes, address, size));
    }
    if (address % align != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "shared address 0x%x is no multiple of %d bytes".formatted(address, align));
    }
    return (int) address;
  }

  /** Stores bytes that a bulk copy has brought, whose race was checked before. */
  public void land(int offset, byte[] bytes, int from, int length) {
    initialized.setRange(offset, length);
    System.arraycopy(bytes, from, data, offset, length);
  }

  /** Copies a range out for the async proxy, whose race was checked before. */
  public void copyOut(int offset, byte[] target, int to, int length) {
    int first = checkInitialized ? initialized.firstUnset(offset, length) : -1;
    if (first >= 0) {
      throw new DeviceFault(
          DeviceFault.Kind.UNINITIALIZED_READ,
          "byte %d of shared memory was never written".formatted(first));
    }
    System.arraycopy(data, offset, target, to, length);
  }

  /** The bits at an offset, whoever wrote them: for objects that only the simulator reads. */
  public long peek(int offset, int bytes) {
    return Bytes.get(data, offset, bytes);
  }
}
