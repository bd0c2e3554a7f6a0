package dev.minifloat.spi;

import dev.minifloat.Backend;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import java.util.ArrayDeque;
import java.util.Deque;

/** The scope of every {@link BackendBase}. */
final class OwningScope extends CheckedOperations implements Scope {
  private final BackendBase backend;

  /** Latest first; null once closed. Guarded by this. */
  private Deque<TensorView> owned = new ArrayDeque<>();

  private volatile boolean closed;

  OwningScope(BackendBase backend) {
    this.backend = backend;
  }

  @Override
  public Backend backend() {
    return backend;
  }

  @Override
  BackendBase base() {
    return backend;
  }

  @Override
  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the scope is closed");
    }
    backend.requireOpen();
  }

  @Override
  TensorView adopt(TensorView result) {
    synchronized (this) {
      if (owned != null) {
        owned.push(result);
        return result;
      }
    }
    result.close();
    throw new IllegalStateException("the scope was closed while the operation ran");
  }

  @Override
  public synchronized Tensor detach(Tensor tensor) {
    requireOpen();
    // By identity: two tensors are never equal.
    if (!owned.remove((Object) tensor)) {
      throw new IllegalArgumentException(
          "tensor: " + tensor + " does not belong to this scope (a view belongs to its source)");
    }
    return tensor;
  }

  @Override
  public void close() {
    Deque<TensorView> closing;
    synchronized (this) {
      closing = owned;
      owned = null;
      closed = true;
    }
    if (closing != null) {
      Closing.all(closing.stream().map(tensor -> tensor::close));
    }
  }
}
