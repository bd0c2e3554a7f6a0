package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Pooling;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.contract.Formats.Format;
import java.util.Arrays;
import java.util.List;

/** Embedding, pooling, addition and amax. */
final class GatherChecks {
  private GatherChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (Format format : Formats.all()) {
      to.addIf(
          to.supports(Op.EMBEDDING, format.dtype(), format.scaling()),
          "embedding",
          format.toString(),
          () -> embedding(backend, format));
    }
    for (DType dtype : DType.values()) {
      for (Scaling scaling : QuantizeChecks.SCALINGS) {
        if (scaling.isValidFor(dtype)) {
          amaxCheck(to, dtype, scaling);
        }
      }
      amaxCheck(to, dtype, Scaling.none());
    }
    for (DType dtype : Data.FLOATS) {
      to.addIf(to.supports(Op.ADD, dtype), "add", dtype.name(), () -> add(backend, dtype));
      to.addIf(to.supports(Op.POOL, dtype), "pool", dtype.name(), () -> pool(backend, dtype));
    }
  }

  private static void amaxCheck(Collector to, DType dtype, Scaling scaling) {
    to.addIf(
        to.supports(Op.AMAX, dtype, scaling),
        "amax",
        new Format(dtype, scaling).toString(),
        () -> amax(to.backend(), dtype, scaling));
  }

  /** Scale × element of the rows, rounded: what dequantize gives. */
  private static void embedding(Backend backend, Format format) {
    for (int width : new int[] {1, 15, 33, 131}) {
      HostTensor table =
          BlockData.anything(
              1, format.dtype(), format.scaling(), Shape.of(23, width), BlockData.NUMBERS);
      int[] ids = {0, 22, 7, 7, 13, 1};
      for (DType dtype : Data.FLOATS) {
        try (Scope scope = backend.scope()) {
          Tensor rows = scope.upload(table);
          Tensor which = scope.upload(Data.ints(ids, 2, 3));
          HostTensor got = scope.download(scope.embedding(rows, which, dtype));
          int[] codes = new int[6 * width];
          for (int i = 0; i < codes.length; i++) {
            float value = table.get((long) ids[i / width] * width + i % width);
            codes[i] = Codec.encode(dtype, value);
          }
          HostTensor expected = Data.codes(dtype, codes, 2, 3, width);
          Compare.sameBits("embedding of " + table + " to " + dtype, expected, got);
          // Every third column of a table, from inside a byte.
          Tensor part = rows.slice(1, width / 2, width).slice(0, 1, 22);
          Tensor inside = scope.upload(Data.ints(new int[] {20, 0, 3}, 3));
          HostTensor cut = scope.download(scope.embedding(part, inside, dtype));
          Compare.sameBits(
              "embedding of a part of " + table + " to " + dtype,
              rows(table, dtype, new int[] {21, 1, 4}, width / 2),
              cut);
        }
      }
    }
  }

  private static HostTensor rows(HostTensor table, DType dtype, int[] rows, int from) {
    int width = (int) table.shape().columns();
    int kept = width - from;
    int[] codes = new int[rows.length * kept];
    for (int i = 0; i < codes.length; i++) {
      float value = table.get((long) rows[i / kept] * width + from + i % kept);
      codes[i] = Codec.encode(dtype, value);
    }
    return Data.codes(dtype, codes, rows.length, kept);
  }

  private static void amax(Backend backend, DType dtype, Scaling scaling) {
    for (Shape shape :
        List.of(Shape.of(0), Shape.of(1), Shape.of(37), Shape.of(5, 131), Shape.of(2, 3, 65))) {
      for (BlockData kind : List.of(BlockData.NUMBERS, BlockData.MIXED, BlockData.TINY)) {
        for (long seed = 1; seed <= 3; seed++) {
          HostTensor host = BlockData.anything(seed, dtype, scaling, shape, kind);
          try (Scope scope = backend.scope()) {
            Tensor x = scope.upload(host);
            String what = "amax of %s, %s, seed %d".formatted(host, kind, seed);
            float expected = BlockQuantizer.amax(host);
            Compare.sameValue(what, expected, scope.amax(x));
            if (shape.rank() > 1) {
              Compare.sameValue(what + " transposed", expected, scope.amax(x.transposed()));
            }
          }
        }
      }
    }
  }

  /** One F32 sum, rounded once more to the type: no freedom. */
  private static void add(Backend backend, DType dtype) {
    for (Shape shape :
        List.of(Shape.of(0), Shape.of(1), Shape.of(67), Shape.of(5, 33), Shape.of(2, 3, 131))) {
      HostTensor a = Data.floats(dtype, Data.spread(1, shape.elements(), 9), shape.dims());
      HostTensor b = Data.floats(dtype, Data.spread(2, shape.elements(), 9), shape.dims());
      HostTensor row = Data.floats(dtype, Data.spread(3, shape.columns(), 9), shape.columns());
      try (Scope scope = backend.scope()) {
        Tensor x = scope.upload(a);
        Tensor y = scope.upload(b);
        Compare.sameBits("add of " + a, sum(a, b), scope.download(scope.add(x, y)));
        Compare.sameBits(
            "add of a row to " + a, sum(a, row), scope.download(scope.add(x, scope.upload(row))));
        if (shape.rank() == 2) {
          HostTensor turned = scope.download(x.transposed());
          HostTensor other = scope.download(y.transposed());
          Compare.sameBits(
              "add of transposed " + a,
              sum(turned, other),
              scope.download(scope.add(x.transposed(), y.transposed())));
        }
      }
    }
    float inf = Float.POSITIVE_INFINITY;
    HostTensor a = Data.floats(dtype, new float[] {inf, inf, -inf, Float.NaN, -0f, 65504}, 6);
    HostTensor b = Data.floats(dtype, new float[] {1, -inf, -inf, 1, -0f, 65504}, 6);
    try (Scope scope = backend.scope()) {
      HostTensor got = scope.download(scope.add(scope.upload(a), scope.upload(b)));
      Compare.sameBits("add of specials in " + dtype, sum(a, b), got);
    }
  }

  private static HostTensor sum(HostTensor a, HostTensor b) {
    int[] codes = new int[(int) a.shape().elements()];
    for (int i = 0; i < codes.length; i++) {
      float sum = a.get(i) + b.get(i % b.shape().elements());
      codes[i] = Codec.encode(a.dtype(), Float.isNaN(sum) ? Float.NaN : sum);
    }
    return Data.codes(a.dtype(), codes, a.shape().dims());
  }

  private static void pool(Backend backend, DType dtype) {
    for (Shape shape : List.of(Shape.of(1, 1, 1), Shape.of(3, 9, 35), Shape.of(2, 130, 17))) {
      HostTensor host = Data.floats(dtype, Data.spread(4, shape.elements(), 2), shape.dims());
      int batch = (int) shape.dim(0);
      int sequence = (int) shape.dim(1);
      int[] lengths = new int[batch];
      for (int i = 0; i < batch; i++) {
        lengths[i] = i == 0 ? 1 : Math.max(1, sequence - i);
      }
      try (Scope scope = backend.scope()) {
        Tensor x = scope.upload(host);
        Tensor counted = scope.upload(Data.ints(lengths, batch));
        means(scope, host, scope.pool(x, Pooling.MEAN, counted), lengths);
        int[] all = new int[batch];
        Arrays.fill(all, sequence);
        means(scope, host, scope.pool(x, Pooling.MEAN, null), all);
        HostTensor first = scope.download(scope.pool(x, Pooling.FIRST, null));
        HostTensor expected = scope.download(scope.copy(x.slice(1, 0, 1)));
        Compare.sameBits(
            "first vectors of " + host,
            HostTensor.wrap(dtype, Shape.of(batch, shape.dim(2)), expected.data()),
            first);
      }
    }
  }

  /** A mean is off by γₙ₊₁ · mean|x|. */
  private static void means(Scope scope, HostTensor host, Tensor pooled, int[] lengths) {
    int sequence = (int) host.shape().dim(1);
    int width = (int) host.shape().dim(2);
    double[] exact = new double[lengths.length * width];
    double[] error = new double[exact.length];
    for (int i = 0; i < exact.length; i++) {
      int n = lengths[i / width];
      double magnitude = 0;
      for (int s = 0; s < n; s++) {
        double value = host.get((long) (i / width * sequence + s) * width + i % width);
        exact[i] += value / n;
        magnitude += Math.abs(value) / n;
      }
      error[i] = ErrorBounds.gamma(n + 2) * magnitude + ErrorBounds.ETA;
    }
    new Bounded(exact, error).requireAdmits("mean pool of " + host, scope.download(pooled));
  }
}
