package dev.minifloat.cuda.internal.ops;

import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.cuda.internal.plan.Codes;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.spi.TensorView;

/** From one element type to another, and rows picked while decoding. */
final class Conversions {
  private final CommandQueue queue;
  private final KernelSet kernels;

  Conversions(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Rounds an unscaled view to another type. */
  void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("convert", out.dtype()),
        to.grid(queue.traits()),
        with ->
            with.view(DeviceView.of(x, 0))
                .whole(to)
                .i32(mode(rounding))
                .code(overflow)
                .i64(seed(rounding)));
  }

  /** Scale × element, rounded to a float type. */
  void dequantize(TensorView x, TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("dequantize", out.dtype()),
        to.grid(queue.traits()),
        with -> with.view(DeviceView.of(x, 0)).whole(to));
  }

  /** Dequantized rows by their ids. */
  void embedding(TensorView table, TensorView ids, TensorView out) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("embedding", out.dtype()),
        to.grid(queue.traits()),
        with -> with.view(DeviceView.of(table, 2)).view(DeviceView.of(ids, 0)).whole(to));
  }

  /** What the kernels call a rounding: the modes in their order, then the stochastic one. */
  static int mode(Rounding rounding) {
    return switch (rounding) {
      case Rounding.Mode mode -> Codes.of(mode);
      case Rounding.Stochastic _ -> Rounding.Mode.values().length;
    };
  }

  /** The generator's key; 0 where nothing is drawn. */
  static long seed(Rounding rounding) {
    return switch (rounding) {
      case Rounding.Mode _ -> 0;
      case Rounding.Stochastic(long seed) -> seed;
    };
  }
}
