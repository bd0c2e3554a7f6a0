package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Op;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import java.lang.foreign.Arena;
import java.util.List;

/** Quantization and dequantization: the codec's bits for every format, scaling, rule and shape. */
final class QuantizeChecks {
  private static final String QUANTIZE = "quantize";
  private static final String DEQUANTIZE = "dequantize";

  static final List<Scaling> SCALINGS =
      List.of(
          Scaling.tensor(),
          Scaling.rows(),
          Scaling.columns(),
          Scaling.block(128, 128),
          Scaling.block(1, 128),
          Scaling.block(3, 5),
          Scaling.mx(),
          Scaling.nvfp4());

  private static final List<Rounding> ROUNDINGS =
      List.of(
          Rounding.NEAREST_EVEN,
          Rounding.stochastic(0x0123456789ABCDEFL),
          Rounding.TOWARD_ZERO,
          Rounding.TOWARD_POSITIVE);

  /** Short blocks at either edge, batches, rank 0 and 1, and extents of 0. */
  private static final List<Shape> SHAPES =
      List.of(
          Shape.SCALAR,
          Shape.of(1),
          Shape.of(33),
          Shape.of(0),
          Shape.of(5, 0),
          Shape.of(0, 7),
          Shape.of(2, 0, 3),
          Shape.of(1, 1),
          Shape.of(3, 70),
          Shape.of(2, 3, 65));

  /** Large enough for blocks of 128 × 128 with short ones at both edges. */
  private static final Shape LARGE = Shape.of(130, 131);

  private QuantizeChecks() {}

  static void addTo(Collector to) {
    for (DType dtype : DType.values()) {
      for (Scaling scaling : SCALINGS) {
        if (!scaling.isValidFor(dtype)) {
          continue;
        }
        boolean mx = scaling instanceof Scaling.Mx;
        for (MxScaleRule rule : mx ? MxScaleRule.values() : new MxScaleRule[] {MxScaleRule.FLOOR}) {
          QuantSpec spec = QuantSpec.of(dtype).scaling(scaling).mxRule(rule);
          String name = dtype + " " + scaling + (mx ? " " + rule : "");
          Backend backend = to.backend();
          boolean supported = to.supports(Op.QUANTIZE, dtype, scaling);
          to.addIf(supported, QUANTIZE, name, () -> quantize(backend, spec));
          to.addIf(supported, QUANTIZE, name + " of views", () -> views(backend, spec));
        }
        dequantizeCheck(to, dtype, scaling);
      }
      dequantizeCheck(to, dtype, Scaling.none());
      quantizeUnscaled(to, dtype);
    }
  }

  private static void quantizeUnscaled(Collector to, DType dtype) {
    QuantSpec spec = QuantSpec.of(dtype).scaling(Scaling.none());
    to.addIf(
        to.supports(Op.QUANTIZE, dtype, Scaling.none()) && to.supports(Op.CONVERT, dtype),
        QUANTIZE,
        dtype + " none",
        () -> quantize(to.backend(), spec));
  }

  private static void quantize(Backend backend, QuantSpec spec) {
    long seed = 1;
    for (Shape shape : SHAPES) {
      for (BlockData kind : BlockData.values()) {
        for (DType source : Data.FLOATS) {
          int turn = (int) seed % ROUNDINGS.size();
          // The default rounding for every kind of data, the others in turn.
          one(backend, spec, shape, kind, source, seed);
          QuantSpec other =
              spec.rounding(ROUNDINGS.get(turn))
                  .overflow(seed / 4 % 2 == 0 ? Overflow.SATURATE : Overflow.IEEE);
          one(backend, other, shape, kind, source, seed);
          seed++;
        }
      }
    }
    one(backend, spec, LARGE, BlockData.TIES, DType.F32, seed);
    one(backend, spec, LARGE, BlockData.MIXED, DType.BF16, seed);
    one(backend, spec.rounding(ROUNDINGS.get(1)), LARGE, BlockData.NUMBERS, DType.F16, seed);
  }

  private static void one(
      Backend backend, QuantSpec spec, Shape shape, BlockData kind, DType source, long seed) {
    HostTensor host = Data.floats(source, kind.values(seed, shape, spec.dtype()), shape.dims());
    try (Scope scope = backend.scope()) {
      compare(scope, scope.upload(host), host, spec, kind + ", seed " + seed);
    }
  }

  private static void views(Backend backend, QuantSpec spec) {
    for (BlockData kind : List.of(BlockData.TIES, BlockData.MIXED)) {
      Shape shape = Shape.of(67, 75);
      HostTensor host = Data.floats(DType.F32, kind.values(11, shape, spec.dtype()), shape.dims());
      float[] values = host.toFloats();
      float[] turned = new float[values.length];
      for (int i = 0; i < turned.length; i++) {
        turned[i] = values[i % 67 * 75 + i / 67];
      }
      float[] cut = new float[60 * 50];
      for (int i = 0; i < cut.length; i++) {
        cut[i] = values[(i / 50 + 5) * 75 + 13 + i % 50];
      }
      try (Scope scope = backend.scope()) {
        Tensor x = scope.upload(host);
        compare(scope, x.transposed(), HostTensor.of(turned, 75, 67), spec, kind + " transposed");
        Tensor slice = x.slice(0, 5, 65).slice(1, 13, 63);
        compare(scope, slice, HostTensor.of(cut, 60, 50), spec, kind + " sliced");
        Tensor three = scope.upload(HostTensor.of(cut, 5, 12, 50)).transposed(0, 1);
        float[] swapped = new float[cut.length];
        for (int i = 0; i < swapped.length; i++) {
          swapped[i] = cut[(i / 50 % 5 * 12 + i / 250) * 50 + i % 50];
        }
        compare(scope, three, HostTensor.of(swapped, 12, 5, 50), spec, kind + " batch turned");
      }
    }
  }

  private static void compare(
      Scope scope, Tensor x, HostTensor host, QuantSpec spec, String detail) {
    try (Arena arena = Arena.ofConfined()) {
      HostTensor expected = BlockQuantizer.quantize(arena, host, spec);
      HostTensor actual = scope.download(scope.quantize(x, spec), arena);
      Compare.sameBits(
          "quantize %s %s by %s, %s".formatted(host.dtype(), host.shape(), spec, detail),
          expected,
          actual);
    }
  }

  private static void dequantizeCheck(Collector to, DType dtype, Scaling scaling) {
    to.addIf(
        to.supports(Op.DEQUANTIZE, dtype, scaling) && to.supports(Op.UPLOAD, dtype, scaling),
        DEQUANTIZE,
        dtype + " " + scaling,
        () -> dequantize(to.backend(), dtype, scaling));
  }

  private static void dequantize(Backend backend, DType dtype, Scaling scaling) {
    for (Shape shape : SHAPES) {
      for (BlockData kind : List.of(BlockData.NUMBERS, BlockData.MIXED, BlockData.TINY)) {
        dequantize(backend, BlockData.anything(3, dtype, scaling, shape, kind), kind);
      }
    }
    BlockData kind = BlockData.MIXED;
    dequantize(backend, BlockData.anything(4, dtype, scaling, LARGE, kind), kind);
    dequantizeViews(backend, dtype, scaling);
  }

  private static void dequantize(Backend backend, HostTensor host, BlockData kind) {
    try (Scope scope = backend.scope();
        Arena arena = Arena.ofConfined()) {
      Tensor x = scope.upload(host);
      for (DType to : Data.FLOATS) {
        Compare.sameBits(
            "dequantize %s to %s, %s".formatted(host, to, kind),
            BlockQuantizer.dequantize(arena, host, to),
            scope.download(scope.dequantize(x, to), arena));
      }
    }
  }

  /** A view of a scaled tensor takes each element's scale along, however it is turned or cut. */
  private static void dequantizeViews(Backend backend, DType dtype, Scaling scaling) {
    HostTensor host = BlockData.anything(5, dtype, scaling, Shape.of(37, 71), BlockData.NUMBERS);
    float[] values = host.toFloats();
    float[] turned = new float[values.length];
    for (int i = 0; i < turned.length; i++) {
      turned[i] = values[i % 37 * 71 + i / 37];
    }
    float[] cut = new float[30 * 49];
    for (int i = 0; i < cut.length; i++) {
      cut[i] = values[(i / 49 + 4) * 71 + 19 + i % 49];
    }
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(host);
      Compare.sameBits(
          "dequantize transposed " + host,
          HostTensor.of(turned, 71, 37),
          scope.download(scope.dequantize(x.transposed())));
      Compare.sameBits(
          "dequantize rows 4–33, columns 19–67 of " + host,
          HostTensor.of(cut, 30, 49),
          scope.download(scope.dequantize(x.slice(0, 4, 34).slice(1, 19, 68))));
    }
  }
}
