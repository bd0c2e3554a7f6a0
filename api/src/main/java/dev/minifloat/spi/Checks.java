package dev.minifloat.spi;

import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.UnsupportedOpException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The operands of one operation: checks each as it is named, and keeps their storages open while
 * the operation runs.
 */
final class Checks {
  private final CheckedOperations owner;
  private final Op op;
  private final List<TensorView> operands = new ArrayList<>(4);

  Checks(CheckedOperations owner, Op op) {
    this.owner = owner;
    this.op = op;
  }

  /** Throws unless the backend supports the operation for a type and scaling. */
  Checks supported(DType dtype, Scaling scaling) {
    requireSupport(owner.base(), op, dtype, scaling);
    return this;
  }

  private static void requireSupport(BackendBase backend, Op op, DType dtype, Scaling scaling) {
    if (!backend.supports(op, dtype, scaling)) {
      throw new UnsupportedOpException(
          ("%s of %s with scaling %s is not supported by backend %s;"
                  + " its support table says what is, and dequantize makes a plain float tensor")
              .formatted(op, dtype, scaling, backend.name()));
    }
  }

  /** The same for the type and scaling of a storage, which remembers the answer. */
  static void requireSupport(BackendBase backend, Op op, Storage storage) {
    if (!storage.isKnownToSupport(op)) {
      requireSupport(backend, op, storage.dtype(), storage.scaling());
      storage.knownToSupport(op);
    }
  }

  /** An operand of a supported type and scaling. */
  TensorView operand(String name, Tensor tensor) {
    TensorView view = own(name, tensor);
    supported(view.dtype(), view.scaling());
    return view;
  }

  /** An unscaled F32, F16 or BF16 operand. */
  TensorView floats(String name, Tensor tensor) {
    TensorView view = own(name, tensor);
    if (!isFloatType(view.dtype()) || !view.isUnscaled()) {
      throw new UnsupportedOpException(
          "%s: %s of %s; this operand must be F32, F16 or BF16 without scaling"
              .formatted(name, op, view));
    }
    return view;
  }

  /** As {@link #floats}, of a type for which the backend supports the operation. */
  TensorView supportedFloats(String name, Tensor tensor) {
    TensorView view = floats(name, tensor);
    supported(view.dtype(), view.scaling());
    return view;
  }

  /** A float vector as long as a row of {@code x}. */
  TensorView rowOf(String name, Tensor tensor, TensorView x) {
    TensorView view = floats(name, tensor);
    requireShape(name, view, Shape.of(x.shape().columns()));
    return view;
  }

  /** An I32 operand of a given shape. */
  TensorView indices(String name, Tensor tensor, Shape shape) {
    TensorView view = indices(name, tensor);
    requireShape(name, view, shape);
    return view;
  }

  /** An I32 operand. */
  TensorView indices(String name, Tensor tensor) {
    TensorView view = own(name, tensor);
    if (view.dtype() != DType.I32) {
      throw new IllegalArgumentException(name + ": " + view + " is not I32");
    }
    return view;
  }

  private TensorView own(String name, Tensor tensor) {
    TensorView view = view(name, tensor, owner.base());
    operands.add(view);
    return view;
  }

  /** An operand's view, if it lives on the backend. */
  static TensorView view(String name, Tensor tensor, BackendBase backend) {
    Objects.requireNonNull(tensor, name);
    if (!(tensor instanceof TensorView view) || !view.livesOn(backend)) {
      throw new IllegalArgumentException(
          "%s: it lives on another backend (%s); download it there and upload it here"
              .formatted(name, tensor.backend().name()));
    }
    return view;
  }

  /** Throws for memory that was given back, or that another thread keeps to itself. */
  static void requireReadable(String name, HostTensor host) {
    for (MemorySegment memory : List.of(host.data(), host.scales())) {
      requireOpen(name, memory.scope());
      if (!memory.isAccessibleBy(Thread.currentThread())) {
        throw new IllegalArgumentException(
            name
                + ": the memory of "
                + host
                + " is confined to another thread; allocate it in an arena that is shared or automatic");
      }
    }
  }

  /** Throws for memory that was given back. */
  static void requireOpen(String name, MemorySegment.Scope memory) {
    if (!memory.isAlive()) {
      throw new IllegalStateException(name + ": its memory was given back; the arena is closed");
    }
  }

  /** Throws for the first value out of [low, high]. */
  void requireRange(String name, TensorView indices, long low, long high) {
    int[] values = run(() -> owner.base().kernels().readInts(indices));
    for (int i = 0; i < values.length; i++) {
      if (values[i] < low || values[i] > high) {
        throw new IllegalArgumentException(
            "%s: value %d at index %d is not between %d and %d"
                .formatted(name, values[i], i, low, high));
      }
    }
  }

  /** Throws if {@code written}, the last operand named, shares memory with one before it. */
  void requireOtherStorage(String name, TensorView written) {
    for (TensorView read : operands.subList(0, operands.size() - 1)) {
      if (read.storage().equals(written.storage())) {
        throw new IllegalArgumentException(
            "%s: %s is an operand too, and would be written while it is read"
                .formatted(name, written));
      }
    }
  }

  /** Runs something while every operand named so far stays open. */
  <T> T run(Supplier<T> body) {
    BackendBase backend = owner.base();
    backend.enter();
    int held = 0;
    try {
      for (; held < operands.size(); held++) {
        operands.get(held).storage().acquire();
      }
      return body.get();
    } finally {
      try {
        release(held);
      } finally {
        backend.exit();
      }
    }
  }

  /** Releases the first few operands, also when that frees one and its freeing fails. */
  private void release(int held) {
    if (held > 0) {
      try {
        operands.get(held - 1).storage().release();
      } finally {
        release(held - 1);
      }
    }
  }

  /** Makes the result, an owned tensor that {@code kernel} fills. */
  TensorView fill(DType dtype, Shape shape, Scaling scaling, Consumer<TensorView> kernel) {
    TensorView out = run(() -> owner.base().filled(dtype, shape, scaling, kernel));
    return owner.adopt(out);
  }

  /** A result of an operand's type and shape. */
  TensorView fillLike(TensorView x, Consumer<TensorView> kernel) {
    return fill(x.dtype(), x.shape(), Scaling.none(), kernel);
  }

  /** As {@link #fill}, unscaled, owned by the caller. */
  TensorView temporary(DType dtype, Shape shape, Consumer<TensorView> kernel) {
    return run(() -> owner.base().filled(dtype, shape, Scaling.none(), kernel));
  }

  static boolean isFloatType(DType dtype) {
    return switch (dtype) {
      case F32, F16, BF16 -> true;
      case F8_E4M3, F8_E5M2, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 -> false;
    };
  }

  static void requireFloatType(String name, DType dtype) {
    Objects.requireNonNull(dtype, name);
    if (!isFloatType(dtype)) {
      throw new IllegalArgumentException(name + ": " + dtype + " is not one of F32, F16, BF16");
    }
  }

  static void requireType(String name, TensorView x, DType dtype) {
    if (x.dtype() != dtype) {
      throw new IllegalArgumentException(name + ": " + x + " is not " + dtype);
    }
  }

  static void requireRank(String name, TensorView x, int rank) {
    if (x.shape().rank() != rank) {
      throw new IllegalArgumentException(
          "%s: shape %s has rank %d, not %d".formatted(name, x.shape(), x.shape().rank(), rank));
    }
  }

  static void requireRankAtLeast(String name, TensorView x, int rank) {
    if (x.shape().rank() < rank) {
      throw new IllegalArgumentException(
          "%s: shape %s has a rank below %d".formatted(name, x.shape(), rank));
    }
  }

  static void requireShape(String name, TensorView x, Shape shape) {
    if (!x.shape().equals(shape)) {
      throw new IllegalArgumentException(
          "%s: shape %s is not %s".formatted(name, x.shape(), shape));
    }
  }

  /** Throws unless {@code a} and {@code b} are vectors of the same length. */
  static void requireVectors(TensorView a, TensorView b) {
    if (a.shape().rank() != 1
        || b.shape().rank() != 1
        || a.shape().elements() != b.shape().elements()) {
      requireRank("a", a, 1);
      requireShape("b", b, a.shape());
    }
  }

  /** Throws unless Q, K and V are stacks of heads that fit each other. */
  static void requireHeads(TensorView q, TensorView k, TensorView v) {
    int rank = q.shape().rank();
    if (rank != 3 && rank != 4) {
      throw new IllegalArgumentException(
          "q: shape %s is neither [heads, queries, width] nor [batch, heads, queries, width]"
              .formatted(q.shape()));
    }
    long width = q.shape().columns();
    if (width < 1 || width > Attention.MOST_WIDTH) {
      throw new IllegalArgumentException(
          "q: the width of a head is %d in shape %s, not from 1 to %d"
              .formatted(width, q.shape(), Attention.MOST_WIDTH));
    }
    requireRank("k", k, rank);
    if (k.shape().columns() != width || (rank == 4 && k.shape().dim(0) != q.shape().dim(0))) {
      throw new IllegalArgumentException(
          "k: shape %s has another batch or another width than q, %s"
              .formatted(k.shape(), q.shape()));
    }
    long heads = q.shape().dim(rank - 3);
    long keyHeads = k.shape().dim(rank - 3);
    if (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0) {
      throw new IllegalArgumentException(
          "k: its %d heads don't divide the %d of q".formatted(keyHeads, heads));
    }
    requireShape("v", v, k.shape());
  }

  static void requireEpsilon(float epsilon) {
    if (!(epsilon > 0) || Float.isInfinite(epsilon)) {
      throw new IllegalArgumentException("epsilon: " + epsilon + " is not a positive number");
    }
  }

  /** The batch dimensions that two stacks of matrices have in common. */
  static long[] batchDims(Shape a, Shape b) {
    int rank = Math.max(a.rank(), b.rank()) - 2;
    long[] dims = new long[rank];
    for (int i = 0; i < rank; i++) {
      long left = i < rank + 2 - a.rank() ? 1 : a.dim(i - (rank + 2 - a.rank()));
      long right = i < rank + 2 - b.rank() ? 1 : b.dim(i - (rank + 2 - b.rank()));
      if (left != right && left != 1 && right != 1) {
        throw new IllegalArgumentException(
            "b: the batch dimensions of %s and %s neither agree nor are 1".formatted(a, b));
      }
      dims[i] = left == 1 ? right : left;
    }
    return dims;
  }

  static Shape matrices(long[] batch, long rows, long columns) {
    long[] dims = Arrays.copyOf(batch, batch.length + 2);
    dims[batch.length] = rows;
    dims[batch.length + 1] = columns;
    return Shape.of(dims);
  }
}
