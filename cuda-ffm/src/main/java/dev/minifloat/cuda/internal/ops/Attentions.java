package dev.minifloat.cuda.internal.ops;

import dev.minifloat.Shape;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.spi.AttentionCall;

/** Attention in one pass over the keys. */
final class Attentions {
  private final CommandQueue queue;
  private final KernelSet kernels;

  Attentions(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Runs the kernel, unless there is no element. */
  void attention(AttentionCall call) {
    Whole to = Whole.of(call.out());
    if (to.isEmpty()) {
      return;
    }
    Shape q = call.q().shape();
    KernelEntry kernel = kernels.named("attention_any");
    queue.launch(
        kernel,
        LaunchGrid.of(
            Math.ceilDiv(q.rows(), kernel.tile().getFirst()),
            1,
            Math.min(q.dim(0) * q.dim(1), LaunchGrid.MAX_YZ)),
        with ->
            with.view(DeviceView.of(call.q(), 4))
                .view(DeviceView.of(call.k(), 4))
                .view(DeviceView.of(call.v(), 4))
                .f32(call.scale())
                .view(DeviceView.ofNullable(call.lengths()))
                .flag(call.causal())
                .code(to.dtype())
                .pointer(to.address()));
  }
}
