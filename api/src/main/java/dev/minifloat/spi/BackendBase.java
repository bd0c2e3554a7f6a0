package dev.minifloat.spi;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A backend but for its memory and its {@link Kernels}: argument checks, ownership, views and the
 * support table come with it.
 */
public abstract class BackendBase extends CheckedOperations implements Backend {
  private static final int CLOSED = 1 << 30;

  private final String name;
  private final Set<Storage> live = ConcurrentHashMap.newKeySet();

  /** Number of running operations, plus {@link #CLOSED} once closed. */
  private final AtomicInteger state = new AtomicInteger();

  /** A backend called {@code name}, as its provider is. */
  protected BackendBase(String name) {
    this.name = Objects.requireNonNull(name, "name");
  }

  /** What it computes. */
  protected abstract Kernels kernels();

  /** Uninitialised memory for a tensor. */
  protected abstract Storage allocate(DType dtype, Shape shape, Scaling scaling);

  /** Copies a host tensor to a storage of the same layout. */
  protected abstract void upload(HostTensor source, Storage target);

  /** As {@link #upload(HostTensor, Storage)}, naming what a fault in mapped memory means. */
  final void copyIn(HostTensor source, Storage target) {
    try {
      upload(source, target);
    } catch (InternalError e) {
      // The virtual machine's answer to a page that can't be read.
      throw new MinifloatException(
          ("Can't upload %s to backend %s: the host tensor's memory can't be read (%s);"
                  + " was its file truncated while mapped?")
              .formatted(source, name, e.getMessage()),
          e);
    }
  }

  /** Copies a storage to host memory of {@code arena}. */
  protected abstract HostTensor download(Storage source, Arena arena);

  /**
   * Gives back what the backend itself holds; called once, after every tensor was freed and every
   * operation has ended.
   */
  protected abstract void shutDown();

  @Override
  public final String name() {
    return name;
  }

  /** The standard table; a backend that does less overrides this, and passes on what it does. */
  @Override
  public boolean supports(Op op, DType dtype, Scaling scaling) {
    return SupportTable.standard(op, dtype, scaling);
  }

  @Override
  public final Scope scope() {
    requireOpen();
    return new OwningScope(this);
  }

  @Override
  public void synchronize() {
    requireOpen();
  }

  @Override
  public final void close() {
    int seen;
    do {
      seen = state.get();
      if (seen >= CLOSED) {
        return;
      }
      // The 1 stands for this method, so that nothing is shut down before the tensors are closed.
    } while (!state.compareAndSet(seen, seen + CLOSED + 1));
    Stream<Runnable> tensors = live.stream().map(storage -> storage::close);
    Closing.all(Stream.concat(tensors, Stream.of(live::clear, this::exit)));
  }

  /**
   * Begins an operation: {@link #shutDown} waits for its {@link #exit}.
   *
   * @throws IllegalStateException if the backend is closed
   */
  final void enter() {
    int seen;
    do {
      seen = state.get();
      if (seen >= CLOSED) {
        throw closed();
      }
    } while (!state.compareAndSet(seen, seen + 1));
  }

  /** Ends an operation. */
  final void exit() {
    if (state.decrementAndGet() == CLOSED) {
      shutDown();
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException("backend " + name + " is closed");
  }

  @Override
  final BackendBase base() {
    return this;
  }

  @Override
  final TensorView adopt(TensorView result) {
    return result;
  }

  @Override
  final void requireOpen() {
    if (state.get() >= CLOSED) {
      throw closed();
    }
  }

  /** A new tensor filled by {@code kernel}; freed if that throws. */
  final TensorView filled(DType dtype, Shape shape, Scaling scaling, Consumer<TensorView> kernel) {
    requireOpen();
    Storage storage = allocate(dtype, shape, scaling);
    live.add(storage);
    try {
      // Should the backend have been closed since, its closing may have missed this storage.
      requireOpen();
      // Held for the kernel's sake, should the backend be closed meanwhile.
      storage.acquire();
      try {
        TensorView out = TensorView.owning(this, storage);
        kernel.accept(out);
        return out;
      } finally {
        storage.release();
      }
    } catch (RuntimeException | Error e) {
      forget(storage);
      Closing.because(e, storage::close);
      throw e;
    }
  }

  final void forget(Storage storage) {
    live.remove(storage);
  }

  @Override
  public final String toString() {
    return "backend " + name + (state.get() >= CLOSED ? " (closed)" : "");
  }

  /** Number of tensors not closed yet; for tests of leaks. */
  public final int liveTensors() {
    return live.size();
  }
}
