package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Gathers the checks of a backend, leaving out those that it need not pass. */
final class Collector {
  private final Backend backend;
  private final Supplier<Backend> fresh;
  private final Size size;
  private final List<Check> checks = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private int leftOut;

  Collector(Backend backend, Supplier<Backend> fresh, Size size) {
    this.backend = backend;
    this.fresh = fresh;
    this.size = size;
  }

  Backend backend() {
    return backend;
  }

  /** Makes another backend of the same kind; null if that isn't known. */
  Supplier<Backend> fresh() {
    return fresh;
  }

  boolean full() {
    return size == Size.FULL;
  }

  boolean supports(Op op, DType dtype, Scaling scaling) {
    return backend.supports(op, dtype, scaling);
  }

  boolean supports(Op op, DType dtype) {
    return backend.supports(op, dtype, Scaling.none());
  }

  void add(String group, String name, Check.Body body) {
    addIf(true, group, name, body);
  }

  /** Adds a check if the backend supports what it needs, else counts it. */
  void addIf(boolean supported, String group, String name, Check.Body body) {
    if (!names.add(group + "/" + name)) {
      throw new IllegalStateException("two checks are called " + group + "/" + name);
    }
    if (supported) {
      checks.add(new Check(group, name, body));
    } else {
      leftOut++;
    }
  }

  Suite suite() {
    return new Suite(checks, leftOut);
  }
}
