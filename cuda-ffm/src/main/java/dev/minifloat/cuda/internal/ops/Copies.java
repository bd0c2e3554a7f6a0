package dev.minifloat.cuda.internal.ops;

import dev.minifloat.DType;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.Turn;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.spi.TensorView;
import java.util.Optional;

/** Copies: of whole storages, of views, of matrices that are turned. */
final class Copies {
  private final CommandQueue queue;
  private final KernelSet kernels;

  Copies(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Copies a view: unscaled, or whole with the scales. */
  void copy(TensorView x, TensorView out) {
    DeviceMemory from = ((DeviceStorage) x.storage()).memory();
    DeviceMemory to = ((DeviceStorage) out.storage()).memory();
    if (x.isWhole()) {
      // Both lie the same way, gaps included.
      queue.copy(from, 0, to, 0, to.byteSize());
      return;
    }
    long count = x.shape().elements();
    if (count == 0) {
      return;
    }
    long firstBit = x.offset() * x.dtype().bits();
    long bits = count * x.dtype().bits();
    if (x.isContiguous() && firstBit % 8 == 0 && bits % 8 == 0) {
      queue.copy(from, firstBit / 8, to, 0, bits / 8);
      return;
    }
    Optional<Turn> turn =
        x.shape().rank() < 2
            ? Optional.empty()
            : Turn.of(DeviceView.of(x, 2)).filter(t -> t.isPlain() && !t.repeated());
    if (turn.isPresent()) {
      turn(turn.get(), to.address(), 0);
    } else {
      elements(x, to.address());
    }
  }

  /** Copies an unscaled view that has elements, one after the other. */
  void elements(TensorView x, long address) {
    elements(DeviceView.of(x, 0), address);
  }

  private void elements(DeviceView x, long address) {
    Whole to = new Whole(address, x.dtype(), x.elements());
    queue.launch(
        kernels.ofBits("copy", x.dtype()), to.grid(queue.traits()), with -> with.view(x).whole(to));
  }

  /**
   * Makes a turned copy of an operand that has elements.
   *
   * @param data address for its elements
   * @param scales address for its scales, where they are turned
   */
  void turn(Turn turn, long data, long scales) {
    DeviceView from = turn.from();
    if (turn.isPlain()) {
      long apart = from.rank() == 2 ? 0 : from.stride(0);
      transpose(
          from.dtype(),
          new Matrices(
              from.address(),
              apart,
              from.stride(-1),
              turn.matrices(),
              /* rows= */ turn.columns(),
              /* columns= */ turn.rows()),
          data);
    } else {
      elements(from, data);
    }
    if (turn.turnsScales()) {
      long rows = turn.scaleGrid().rows();
      long columns = turn.scaleGrid().columns();
      transpose(
          DType.F32,
          new Matrices(
              turn.scalesAddress(), rows * columns, columns, turn.matrices(), rows, columns),
          scales);
    }
  }

  /** Matrices whose rows are dense. */
  private record Matrices(
      long address, long apart, long pitch, long batch, long rows, long columns) {}

  private void transpose(DType dtype, Matrices x, long to) {
    KernelEntry kernel = kernels.ofBits("transpose", dtype);
    long side = kernel.tile().getFirst();
    queue.launch(
        kernel,
        LaunchGrid.of(
            Math.ceilDiv(x.columns(), side),
            Math.ceilDiv(x.rows(), side),
            Math.min(x.batch(), LaunchGrid.MAX_YZ)),
        with ->
            with.pointer(x.address())
                .i64(x.apart())
                .i64(x.pitch())
                .pointer(to)
                .i64(x.batch())
                .i64(x.rows())
                .i64(x.columns()));
  }
}
