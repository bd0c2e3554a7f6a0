package dev.minifloat.cuda.internal.ops;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.Whole;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/** Quantization: the largest magnitude of each block, the scales, the elements. */
final class Quantizer {
  private static final int THREADS = 256;
  private static final int WARPS = THREADS / 32;

  /** Elements that are worth a warp of their own. */
  private static final long SHARE = 4096;

  private final CommandQueue queue;
  private final KernelSet kernels;

  Quantizer(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
  }

  /** Quantizes floats to {@code out}, whose scaling is the spec's and not none. */
  void quantize(TensorView x, TensorView out, QuantSpec spec) {
    DeviceStorage target = (DeviceStorage) out.storage();
    ScaleGrid grid = target.grid();
    if (grid.scales() == 0) {
      // Without elements; NVFP4's factor is there all the same.
      if (target.hasGlobal()) {
        factor(target, target.global(), 0);
      }
      return;
    }
    DeviceView view = DeviceView.of(x, 0);
    try (DeviceMemory amax = queue.temporary(grid.scales() * Float.BYTES)) {
      amax(view, grid, grid.scales(), amax);
      scales(target, spec, amax.address());
      elements(view, out, spec, amax.address());
    }
  }

  /** The largest magnitudes of a grid's blocks, bits of F32 that a NaN tops. */
  private void amax(DeviceView x, ScaleGrid grid, long blocks, DeviceMemory to) {
    queue.zero(to);
    long elements = x.elements();
    if (elements == 0) {
      return;
    }
    long parts = Math.ceilDiv(Math.ceilDiv(elements, blocks), SHARE);
    queue.launch(
        kernels.named("amax_blocks"),
        LaunchGrid.of(blocks * parts, WARPS, queue.traits()),
        with -> with.view(x).grid(grid).i64(blocks).i64(parts).pointer(to.address()));
  }

  private void scales(DeviceStorage target, QuantSpec spec, long amax) {
    long count = target.grid().scales();
    DType dtype = spec.dtype();
    LaunchGrid grid = LaunchGrid.of(count, THREADS, queue.traits());
    switch (spec.scaling()) {
      case Scaling.None _ ->
          throw new IllegalArgumentException("spec: a quantization without scales is a conversion");
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ ->
          queue.launch(
              kernels.named("scales_f32"),
              grid,
              with ->
                  with.pointer(amax).pointer(target.scales()).i64(count).f32((float) dtype.max()));
      case Scaling.Mx _ ->
          queue.launch(
              kernels.named("scales_mx"),
              grid,
              with ->
                  with.pointer(amax)
                      .pointer(target.scales())
                      .i64(count)
                      .f32((float) dtype.max())
                      .i32(dtype.maxExponent())
                      .i32(dtype.mantissaBits())
                      .code(spec.mxRule()));
      case Scaling.NvFp4 _ -> {
        factor(target, amax, count);
        queue.launch(
            kernels.named("scales_nvfp4"),
            grid,
            with ->
                with.pointer(amax).pointer(target.scales()).i64(count).pointer(target.global()));
      }
    }
  }

  /** NVFP4's factor of the whole tensor. */
  private void factor(DeviceStorage target, long amax, long count) {
    queue.launch(
        kernels.named("scales_nvfp4_global"),
        LaunchGrid.of(1),
        with -> with.pointer(amax).i64(count).pointer(target.global()));
  }

  private void elements(DeviceView x, TensorView out, QuantSpec spec, long amax) {
    Whole to = Whole.of(out);
    if (to.isEmpty()) {
      return;
    }
    queue.launch(
        kernels.of("quantize", spec.dtype()),
        to.grid(queue.traits()),
        with ->
            with.view(x)
                .view(DeviceView.of(out, 0))
                .pointer(amax)
                .i64(to.count())
                .i32(Conversions.mode(spec.rounding()))
                .code(spec.overflow())
                .i64(Conversions.seed(spec.rounding())));
  }

  /** The largest |value| of a view, by bits; any NaN is the canonical one. Waits for it. */
  float amax(TensorView x) {
    DeviceView view = DeviceView.of(x, 0);
    long elements = view.elements();
    if (elements == 0) {
      return 0;
    }
    ScaleGrid row = Scaling.tensor().grid(Shape.of(elements));
    MemorySegment result = MemorySegment.ofArray(new float[1]);
    try (DeviceMemory amax = queue.temporary(Float.BYTES)) {
      amax(view, row, 1, amax);
      queue.read(amax, 0, result);
    }
    float largest = result.get(JAVA_FLOAT, 0);
    return Float.isNaN(largest) ? Float.NaN : largest;
  }
}
