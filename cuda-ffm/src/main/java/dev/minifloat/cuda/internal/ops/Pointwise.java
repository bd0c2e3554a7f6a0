package dev.minifloat.cuda.internal.ops;

import dev.minifloat.Activation;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.spi.TensorView;

/** Sums, activations and rotary embeddings: an element from one or two. */
final class Pointwise {
  private final CommandQueue queue;
  private final KernelSet kernels;

  Pointwise(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Sum; b has a's shape or is [columns]. */
  void add(TensorView a, TensorView b, TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    DeviceView right =
        b.shape().equals(a.shape())
            ? DeviceView.of(b, 0)
            : DeviceView.of(b, 1).repeated(to.count() / b.shape().columns());
    queue.launch(
        kernels.of("add", out.dtype()),
        to.grid(queue.traits()),
        with -> with.view(DeviceView.of(a, 0)).view(right).whole(to));
  }

  /** A function of each element. */
  void activation(TensorView x, Activation activation, TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("activation", out.dtype()),
        to.grid(queue.traits()),
        with -> with.view(DeviceView.of(x, 0)).code(activation).whole(to));
  }

  /** Rotary embedding; {@code positions} is null or I32 [sequence]. */
  void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("rope", out.dtype()),
        to.grid(queue.traits()),
        with ->
            with.view(DeviceView.of(x, 0))
                .view(DeviceView.ofNullable(positions))
                .rope(x.shape().columns(), x.shape().rows(), dims, base, interleaved)
                .whole(to));
  }
}
