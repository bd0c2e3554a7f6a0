package dev.minifloat.cpu.internal.runtime;

import java.util.function.Supplier;

/** A value that is made when it is first asked for, once, by any thread. */
public final class Lazy<T> implements Supplier<T> {
  private final Supplier<T> maker;
  private volatile T value;

  public Lazy(Supplier<T> maker) {
    this.maker = maker;
  }

  @Override
  public T get() {
    T made = value;
    return made != null ? made : make();
  }

  private synchronized T make() {
    if (value == null) {
      value = maker.get();
    }
    return value;
  }
}
