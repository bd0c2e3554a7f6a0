package dev.minifloat.cuda.internal.ops;

import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.Parameters;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.spi.TensorView;
import java.util.function.Consumer;

/** Softmax, norms and means. */
final class Rows {
  /** Columns from which on a row is a CTA's, and not a warp's. */
  static final long LONG = 1024;

  private static final int ROWS_OF_SHORT = 4;
  private static final int THREADS = 256;

  private final CommandQueue queue;
  private final KernelSet kernels;

  Rows(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Runs an operation's kernel for rows of this length, unless there is no element. */
  private void launch(
      String operation, TensorView x, TensorView out, Consumer<Parameters> arguments) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    long columns = x.shape().columns();
    long rows = to.count() / columns;
    boolean isLong = columns >= LONG;
    KernelEntry kernel = kernels.of(operation + (isLong ? "_long" : "_short"), x.dtype());
    queue.launch(
        kernel,
        LaunchGrid.of(rows, isLong ? 1 : ROWS_OF_SHORT, queue.traits()),
        with -> {
          arguments.accept(with);
          with.pointer(to.address()).i64(rows).i64(columns);
        });
  }

  /** Softmax; {@code lengths} is null or I32 [first extent of x]. */
  void softmax(TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    launch(
        "softmax",
        x,
        out,
        with ->
            with.view(DeviceView.of(x, 2))
                .f32(scale)
                .view(DeviceView.ofNullable(lengths))
                .i64(rowsOfLength(x, lengths))
                .flag(causal));
  }

  private static long rowsOfLength(TensorView x, TensorView lengths) {
    return lengths == null
        ? 1
        : x.shape().elements() / x.shape().columns() / lengths.shape().elements();
  }

  /** Layer norm over the last dimension. */
  void layerNorm(TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    launch(
        "layer_norm",
        x,
        out,
        with ->
            with.view(DeviceView.of(x, 1))
                .view(DeviceView.of(gamma, 1))
                .view(DeviceView.of(beta, 1))
                .f32(epsilon));
  }

  /** RMS norm over the last dimension. */
  void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    launch(
        "rms_norm",
        x,
        out,
        with -> with.view(DeviceView.of(x, 1)).view(DeviceView.of(gamma, 1)).f32(epsilon));
  }

  /** x / max(‖x‖₂, 1e-12) over the last dimension. */
  void l2Normalize(TensorView x, TensorView out) {
    launch("l2_normalize", x, out, with -> with.view(DeviceView.of(x, 1)));
  }

  /** Mean over each sequence of x [batch, sequence, width]; {@code lengths} is null or [batch]. */
  void meanPool(TensorView x, TensorView lengths, TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("mean_pool", x.dtype()),
        LaunchGrid.of(to.count(), THREADS, queue.traits()),
        with -> with.view(DeviceView.of(x, 3)).view(DeviceView.ofNullable(lengths)).whole(to));
  }
}
