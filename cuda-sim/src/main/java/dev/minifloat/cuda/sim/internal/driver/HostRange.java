package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.Arena;

/** Page-locked memory of the host: the driver's own, or the client's that it registered. */
final class HostRange extends Resource {
  private final Context context;
  private final long address;
  private final long bytes;
  private final int flags;
  private final Arena arena;

  /**
   * A range.
   *
   * @param arena what it was allocated from; null if it is the client's
   */
  HostRange(Context context, long address, long bytes, int flags, Arena arena) {
    this.context = context;
    this.address = address;
    this.bytes = bytes;
    this.flags = flags;
    this.arena = arena;
  }

  @Override
  String kind() {
    return isRegistered() ? "registered host memory" : "pinned host memory";
  }

  @Override
  String details() {
    return "%d bytes at 0x%x".formatted(bytes, address);
  }

  @Override
  Context context() {
    return context;
  }

  boolean isRegistered() {
    return arena == null;
  }

  long address() {
    return address;
  }

  long bytes() {
    return bytes;
  }

  int flags() {
    return flags;
  }

  void release() {
    if (arena != null) {
      arena.close();
    }
  }
}
