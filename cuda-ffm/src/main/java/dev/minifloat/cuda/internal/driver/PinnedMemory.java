package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;

/** Page-locked memory of the host: what the device copies from and to while the host goes on. */
public final class PinnedMemory implements AutoCloseable {
  private final Handle handle;
  private final MemorySegment segment;
  private final Cleaner.Cleanable cleanable;

  private PinnedMemory(Handle handle, MemorySegment segment) {
    this.handle = handle;
    this.segment = segment;
    this.cleanable = handle.watch(this);
  }

  /**
   * Allocates.
   *
   * @param bytes 1 or more
   */
  public static PinnedMemory allocate(PrimaryContext context, long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes: " + bytes);
    }
    // Accesses end with the memory, so not Arena.global(), and any thread may make the last one.
    @SuppressWarnings("MustBeClosedChecker") // closed with the memory
    Arena arena = Arena.ofShared();
    try {
      Handle handle =
          Handle.create(
              context,
              "page-locked memory",
              Handle.Made.FIRST,
              (with, made) -> {
                arena.close();
                with.giveBack(DriverFunction.cuMemFreeHost, made.address());
              },
              DriverFunction.cuMemHostAlloc,
              bytes,
              0);
      return new PinnedMemory(handle, handle.pointer().reinterpret(bytes, arena, null));
    } catch (RuntimeException e) {
      if (arena.scope().isAlive()) {
        arena.close();
      }
      throw e;
    }
  }

  /** The memory; an access after {@link #close} is an {@link IllegalStateException}. */
  public MemorySegment segment() {
    return segment;
  }

  /** Frees it, after waiting for the device's work. */
  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }
}
