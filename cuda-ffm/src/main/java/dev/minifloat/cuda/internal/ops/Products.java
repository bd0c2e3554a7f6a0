package dev.minifloat.cuda.internal.ops;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.driver.TensorBoxes;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.Epilogue;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.ProductChoice;
import dev.minifloat.cuda.internal.plan.ProductChoice.Extents;
import dev.minifloat.cuda.internal.plan.ProductPlan;
import dev.minifloat.cuda.internal.plan.RowParts;
import dev.minifloat.cuda.internal.plan.TensorCopies;
import dev.minifloat.cuda.internal.plan.Verdicts;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Dot products, matrix times vector, matrix times matrix. */
final class Products {
  private static final Logger LOG = LoggerFactory.getLogger(Products.class);

  private static final int THREADS = 256;
  private static final int WARPS = THREADS / 32;

  private final CommandQueue queue;
  private final KernelSet kernels;
  private final Copies copies;

  Products(CommandQueue queue, KernelSet kernels, Copies copies) {
    this.queue = queue;
    this.kernels = kernels;
    this.copies = copies;
  }

  /** Dot product of two vectors. Waits for it. */
  float dot(TensorView a, TensorView b) {
    long count = a.shape().elements();
    KernelEntry partial = kernels.named("dot_partial");
    long shares = Math.ceilDiv(count, (long) partial.tile().getFirst());
    MemorySegment result = MemorySegment.ofArray(new float[1]);
    // The sum, then the shares.
    try (DeviceMemory memory = queue.temporary((1 + shares) * Float.BYTES)) {
      long sharesAt = memory.address() + Float.BYTES;
      if (shares > 0) {
        queue.launch(
            partial,
            LaunchGrid.of(shares),
            with ->
                with.view(DeviceView.of(a, 0))
                    .view(DeviceView.of(b, 0))
                    .i64(count)
                    .pointer(sharesAt));
      }
      queue.launch(
          kernels.named("dot_sum"),
          LaunchGrid.of(1),
          with -> with.pointer(sharesAt).i64(shares).pointer(memory.address()));
      queue.read(memory, 0, result);
    }
    return result.get(JAVA_FLOAT, 0);
  }

  /** out[M] = a[M, K] · x[K]. */
  void gemv(TensorView a, TensorView x, TensorView out) {
    long m = a.shape().rows();
    if (m == 0) {
      return;
    }
    DeviceView weights = DeviceView.of(a, 2);
    DeviceView row = DeviceView.of(x, 2);
    Extents extents = new Extents(1, 1, m, a.shape().columns());
    Optional<ProductChoice> skinny =
        ProductChoice.skinny(kernels, row, weights, extents, Verdicts.unheard());
    if (skinny.isPresent()) {
      launch(skinny.get(), row, weights, Epilogue.none(out), extents);
      return;
    }
    boolean turned = a.stride(0) == 1 && a.stride(1) != 1;
    KernelEntry kernel = kernels.named(turned ? "gemv_any_transposed" : "gemv_any");
    LaunchGrid grid =
        turned
            ? LaunchGrid.of(Math.ceilDiv(m, (long) kernel.tile().getFirst()))
            : LaunchGrid.of(m, WARPS, queue.traits());
    queue.launch(
        kernel,
        grid,
        with ->
            with.view(weights)
                .view(DeviceView.of(x, 1))
                .pointer(((DeviceStorage) out.storage()).data()));
  }

  /** See {@link GemmCall}. */
  void gemm(GemmCall call) {
    if (call.amax() != null) {
      queue.zero(((DeviceStorage) call.amax().storage()).memory());
    }
    if (call.out().shape().elements() == 0) {
      return;
    }
    for (GemmCall part : RowParts.of(call, RowParts.MOST)) {
      multiply(part);
    }
  }

  /** A product that a grid has CTAs for; its amax is that of what it was and of the result. */
  private void multiply(GemmCall call) {
    DeviceView a = DeviceView.of(call.a(), 2);
    DeviceView b = DeviceView.of(call.b().transposed(), 2);
    Epilogue to = Epilogue.of(call);
    Extents extents =
        new Extents(
            call.out().shape().batch(),
            call.out().shape().rows(),
            call.out().shape().columns(),
            call.a().shape().columns());
    ProductPlan plan =
        ProductPlan.of(kernels, a, b, to.outType(), to.alpha(), extents, Verdicts.unheard());
    try (TurnedCopy left = new TurnedCopy(queue, a, plan.turnA());
        TurnedCopy right = new TurnedCopy(queue, b, plan.turnB())) {
      launch(plan.choice(), left.view(copies), right.view(copies), to, extents);
    }
  }

  private void launch(
      ProductChoice choice, DeviceView a, DeviceView b, Epilogue to, Extents extents) {
    switch (choice) {
      case ProductChoice.Skinny skinny -> launch(skinny, a, b, to, extents);
      case ProductChoice.Tiled(KernelEntry kernel, LaunchGrid grid) -> {
        LOG.debug("{} multiplies {} and {}", kernel.entry(), a, b);
        if (kernel.usesTensorMaps()) {
          int ctas = Math.min(grid.x(), queue.traits().multiprocessors());
          TensorBoxes left = TensorCopies.boxes(a, kernel.tile().getFirst());
          TensorBoxes right = TensorCopies.boxes(b, kernel.tile().get(1));
          queue.launch(
              kernel,
              LaunchGrid.of(ctas),
              List.of(left, right),
              with -> with.view(a).view(b).epilogue(to).i64(extents.batch()));
          return;
        }
        queue.launch(kernel, grid, with -> with.view(a).view(b).epilogue(to).i64(extents.batch()));
      }
    }
  }

  private void launch(
      ProductChoice.Skinny skinny, DeviceView a, DeviceView b, Epilogue to, Extents extents) {
    LOG.debug(
        "{} multiplies {} and {} in {} shares", skinny.kernel().entry(), a, b, skinny.splits());
    long results = extents.batch() * extents.m() * extents.n();
    try (DeviceMemory partial = queue.temporary(skinny.splits() * results * Float.BYTES)) {
      queue.launch(
          skinny.kernel(),
          skinny.grid(),
          with -> with.view(a).view(b).pointer(partial.address()).i64(extents.batch()));
      queue.launch(
          kernels.named("skinny_sum"),
          LaunchGrid.of(results, THREADS, queue.traits()),
          with ->
              with.pointer(partial.address())
                  .i64(skinny.splits())
                  .epilogue(to)
                  .i64(extents.m())
                  .i64(extents.n())
                  .i64(extents.batch()));
    }
  }
}
