package dev.minifloat.cpu.internal.runtime;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/**
 * Objects that hold the arguments of a call while threads work on it, used again by later calls, so
 * that a call allocates nothing. Any thread may take and give.
 */
public final class Pool<T> {
  /** Objects kept; calls in progress beyond these make their own. */
  private static final int KEPT = 16;

  private final AtomicReferenceArray<T> free = new AtomicReferenceArray<>(KEPT);
  private final Supplier<T> fresh;

  public Pool(Supplier<T> fresh) {
    this.fresh = fresh;
  }

  /** An object that nobody else has. */
  public T take() {
    for (int i = 0; i < KEPT; i++) {
      T object = free.getPlain(i) == null ? null : free.getAndSet(i, null);
      if (object != null) {
        return object;
      }
    }
    return fresh.get();
  }

  /** Gives an object back. */
  public void give(T object) {
    for (int i = 0; i < KEPT; i++) {
      if (free.getPlain(i) == null && free.compareAndSet(i, null, object)) {
        return;
      }
    }
  }
}
