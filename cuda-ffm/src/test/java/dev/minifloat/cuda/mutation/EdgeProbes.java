package dev.minifloat.cuda.mutation;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.mutation.Probe.Limit;
import java.util.ArrayList;
import java.util.List;

/**
 * What operations do at the edges: views of one element, ends of every length, NaNs among elements
 * and scales, blocks of zeros and of the smallest numbers, more blocks than threads, parameters of
 * other types than the operand's.
 */
final class EdgeProbes {
  private static final Scaling NONE = Scaling.none();
  private static final List<DType> FLOAT_TYPES = List.of(DType.F32, DType.F16, DType.BF16);

  private final List<Probe> probes = new ArrayList<>();

  private EdgeProbes() {}

  static List<Probe> all() {
    EdgeProbes edges = new EdgeProbes();
    edges.oneElement();
    edges.ends();
    edges.poisoned();
    edges.manyBlocks();
    edges.typesOfParameters();
    edges.infiniteParameters();
    edges.longRows();
    edges.wholeNumbers();
    edges.functions();
    edges.vectors();
    return edges.probes;
  }

  private void add(String name, Limit limit, double tolerance, Probe.Use use) {
    probes.add(new Probe(name, "sm_80", limit, tolerance, use));
  }

  private void exactly(String name, Probe.Use use) {
    add(name, Limit.ONE_CTA, 0, use);
  }

  /** Views that kernels see as having no dimension, of an element within a byte. */
  private void oneElement() {
    for (DType dtype : DType.values()) {
      HostTensor codes = Operands.codes(dtype, 41, 3, 5);
      exactly(
          "one element of " + dtype,
          on -> {
            Tensor one = on.upload(codes).slice(0, 1, 2).slice(1, 2, 3);
            return List.of(
                on.copy(one),
                on.convert(one, DType.F32),
                on.convert(one, DType.F16),
                on.convert(one, DType.F8_E4M3),
                on.convert(one, DType.F6_E3M2),
                on.convert(one, DType.I8),
                on.dequantize(one, DType.F16),
                on.dequantize(one, DType.BF16));
          });
    }
    for (DType dtype : FLOAT_TYPES) {
      HostTensor x = Operands.converted(Operands.normal(42, 3, 5), dtype);
      add(
          "one float of " + dtype,
          Limit.ONE_CTA,
          Probes.tolerance(dtype),
          on -> {
            Tensor one = on.upload(x).slice(0, 1, 2).slice(1, 2, 3);
            List<Tensor> results = new ArrayList<>();
            results.add(on.add(one, one));
            for (Activation activation : Activation.values()) {
              results.add(on.activation(one, activation));
            }
            results.add(on.l2Normalize(one));
            results.add(on.softmax(Softmax.of(one)));
            results.add(on.upload(Operands.number(on.amax(one))));
            return results;
          });
      exactly(
          "quantize one float of " + dtype,
          on -> {
            Tensor one = on.upload(x).slice(0, 1, 2).slice(1, 2, 3);
            return List.of(
                on.quantize(one, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows())),
                on.quantize(one, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx())),
                on.quantize(one, QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4())),
                on.quantize(one, QuantSpec.of(DType.I4).scaling(Scaling.tensor())));
          });
    }
  }

  /** Tensors that end after each number of elements of a word. */
  private void ends() {
    for (int more = 1; more <= 8; more++) {
      HostTensor x = Operands.normal(43 + more, 3, 8 + more);
      exactly(
          "words and " + more,
          on -> {
            Tensor row = on.upload(x).slice(0, 1, 2);
            List<Tensor> results = new ArrayList<>();
            for (DType dtype : List.of(DType.F4_E2M1, DType.I4, DType.F8_E4M3, DType.F6_E2M3)) {
              results.add(on.quantize(row, QuantSpec.of(dtype).scaling(Scaling.tensor())));
            }
            for (DType dtype : List.of(DType.F8_E4M3, DType.F6_E3M2, DType.F16, DType.I8)) {
              results.add(on.convert(row, dtype));
            }
            return results;
          });
      long columns = 9L + more;
      for (DType dtype : List.of(DType.F4_E2M1, DType.F6_E2M3, DType.F8_E4M3, DType.F16)) {
        HostTensor codes = Operands.codes(dtype, 44, 3, columns);
        exactly(
            "copy %d of %s".formatted(columns - 1, dtype),
            on -> List.of(on.copy(on.upload(codes).slice(0, 1, 2).slice(1, 1, columns))));
      }
    }
  }

  /** NaNs and infinities wherever there can be some. */
  private void poisoned() {
    HostTensor x = Operands.poisoned(DType.F32, NONE, 45, 6, 45);
    HostTensor last = Operands.poisoned(DType.F32, NONE, 46, 45);
    HostTensor calm = Operands.normal(47, 45);
    for (DType dtype : FLOAT_TYPES) {
      HostTensor typed = Operands.converted(x, dtype);
      add(
          "NaNs and infinities, " + dtype,
          Limit.ONE_CTA,
          Probes.tolerance(dtype),
          on -> {
            Tensor all = on.upload(typed);
            List<Tensor> results = new ArrayList<>();
            for (Activation activation : Activation.values()) {
              results.add(on.activation(all, activation));
            }
            results.add(on.add(all, all));
            results.add(on.softmax(Softmax.of(all)));
            results.add(on.l2Normalize(all));
            results.add(on.rmsNorm(all, on.upload(last), 1e-2f));
            results.add(on.layerNorm(all, on.upload(last), on.upload(calm), 1e-2f));
            results.add(on.layerNorm(all, on.upload(calm), on.upload(last), 1e-2f));
            results.add(on.pool(all.reshape(2, 3, 45), Pooling.MEAN, null));
            results.add(on.upload(Operands.number(on.amax(all))));
            return results;
          });
      HostTensor even = Operands.converted(Operands.poisoned(DType.F32, NONE, 45, 6, 46), dtype);
      add(
          "rope of NaNs, " + dtype,
          Limit.ONE_CTA,
          Math.max(0x1p-16, Probes.tolerance(dtype)),
          on -> List.of(on.rope(Rope.of(on.upload(even)).dims(40))));
    }
    for (Scaling scaling :
        List.of(
            Scaling.tensor(),
            Scaling.rows(),
            Scaling.columns(),
            Scaling.block(3, 16),
            Scaling.mx(),
            Scaling.nvfp4())) {
      DType dtype = scaling.equals(Scaling.nvfp4()) ? DType.F4_E2M1 : DType.F8_E4M3;
      HostTensor scaled = Operands.poisoned(dtype, scaling, 48, 9, 67);
      HostTensor ids = HostTensor.of(new int[] {8, 0, 1, 2}, 4);
      exactly(
          "NaNs among the scales, " + scaling,
          on -> {
            Tensor all = on.upload(scaled);
            return List.of(
                on.dequantize(all, DType.F32),
                on.dequantize(all, DType.F16),
                on.dequantize(all, DType.BF16),
                on.embedding(all, on.upload(ids), DType.F32),
                on.embedding(all, on.upload(ids), DType.BF16),
                on.upload(Operands.number(on.amax(all))));
          });
    }
  }

  /** More blocks than a CTA has threads, four times over, of every kind. */
  private void manyBlocks() {
    HostTensor wide = Operands.extremes(49, 33, 1024);
    for (MxScaleRule rule : MxScaleRule.values()) {
      quantize(QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()).mxRule(rule), wide);
    }
    HostTensor low = Operands.extremes(50, 5, 1100);
    quantize(QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(1, 4)), low);
    // One large number, and blocks that are so small beside it that their scales become 0.
    for (int exponent : new int[] {0, -130}) {
      float[] values = Operands.normal(51, 1024).toFloats();
      for (int i = 0; i < values.length; i++) {
        values[i] =
            i < 16 ? Math.scalb(1f, exponent) : Math.scalb(values[i], exponent - 8 - i / 16 % 16);
      }
      quantize(
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()), HostTensor.of(values, 1, 1024));
    }
    HostTensor calm = Operands.normal(52, 3, 45);
    for (DType dtype :
        List.of(
            DType.F8_E4M3,
            DType.F8_E5M2,
            DType.F6_E2M3,
            DType.F6_E3M2,
            DType.F4_E2M1,
            DType.I8,
            DType.I4)) {
      quantize(
          QuantSpec.of(dtype).scaling(Scaling.rows()).rounding(Rounding.stochastic(1L << 40 | 9)),
          calm);
    }
  }

  private void quantize(QuantSpec spec, HostTensor x) {
    exactly("quantize edges " + spec, on -> List.of(on.quantize(on.upload(x), spec)));
  }

  /** Norms whose factors have other types than the rows. */
  private void typesOfParameters() {
    for (long columns : new long[] {45, 1100}) {
      for (DType of : FLOAT_TYPES) {
        HostTensor x = Operands.converted(Operands.poisoned(DType.F32, NONE, 53, 3, columns), of);
        for (DType factors : List.of(DType.F16, DType.BF16)) {
          HostTensor gamma = Operands.exact(factors, NONE, 54, columns);
          DType other = factors == DType.F16 ? DType.BF16 : DType.F16;
          HostTensor beta = Operands.exact(other, NONE, 55, columns);
          HostTensor floats = Operands.exact(DType.F32, NONE, 56, columns);
          add(
              "norms of %s %d with %s".formatted(of, columns, factors),
              Limit.ONE_CTA,
              Probes.tolerance(of),
              on -> {
                Tensor all = on.upload(x);
                return List.of(
                    on.rmsNorm(all, on.upload(gamma), 1e-2f),
                    on.layerNorm(all, on.upload(gamma), on.upload(beta), 1e-2f),
                    on.layerNorm(all, on.upload(floats), on.upload(beta), 1e-2f),
                    on.layerNorm(all, on.upload(gamma), on.upload(gamma), 1e-2f),
                    on.layerNorm(all, on.upload(gamma), on.upload(floats), 1e-2f));
              });
        }
      }
    }
  }

  /** NaNs and infinities in the factors of norms, and in what is quantized from other types. */
  private void infiniteParameters() {
    for (long columns : new long[] {45, 1100}) {
      for (DType of : FLOAT_TYPES) {
        HostTensor x = Operands.converted(Operands.normal(75, 3, columns), of);
        for (DType factors : FLOAT_TYPES) {
          HostTensor calm = Operands.exact(factors, NONE, 76, columns);
          HostTensor poisoned = Operands.poisoned(factors, NONE, 77, columns);
          add(
              "norms of %s %d with infinite %s".formatted(of, columns, factors),
              Limit.ONE_CTA,
              Probes.tolerance(of),
              on -> {
                Tensor all = on.upload(x);
                return List.of(
                    on.rmsNorm(all, on.upload(poisoned), 1e-2f),
                    on.layerNorm(all, on.upload(poisoned), on.upload(calm), 1e-2f),
                    on.layerNorm(all, on.upload(calm), on.upload(poisoned), 1e-2f));
              });
        }
      }
    }
    for (DType of : FLOAT_TYPES) {
      for (float value : new float[] {Float.NEGATIVE_INFINITY, Float.NaN, 3}) {
        HostTensor one = Operands.converted(HostTensor.of(new float[] {value}, 1, 1), of);
        for (DType dtype : List.of(DType.F8_E4M3, DType.F8_E5M2, DType.F4_E2M1, DType.I8)) {
          exactly(
              "quantize " + of + " " + value + " to " + dtype,
              on ->
                  List.of(
                      on.quantize(on.upload(one), QuantSpec.of(dtype).scaling(Scaling.tensor()))));
        }
      }
      HostTensor poisoned = Operands.poisoned(of, NONE, 78, 9, 64);
      HostTensor deep = Operands.poisoned(of, NONE, 79, 3, 3, 3, 45);
      for (DType dtype : List.of(DType.F8_E4M3, DType.F8_E5M2, DType.F6_E2M3, DType.F4_E2M1)) {
        for (Scaling scaling : List.of(Scaling.rows(), Scaling.mx())) {
          QuantSpec spec = QuantSpec.of(dtype).scaling(scaling);
          exactly(
              "quantize infinite " + of + " to " + spec,
              on -> {
                Tensor all = on.upload(poisoned);
                Tensor inner = on.upload(deep).slice(2, 1, 3).slice(1, 1, 3).slice(0, 0, 2);
                return List.of(
                    on.quantize(all, spec),
                    on.quantize(all.transposed(), spec),
                    on.quantize(inner, spec));
              });
        }
      }
    }
  }

  /** Rows for a CTA each, in views of every rank. */
  private void longRows() {
    HostTensor last = Operands.normal(57, 1028);
    for (int rank = 1; rank < 8; rank++) {
      long[] dims = new long[rank];
      for (int i = 0; i < rank; i++) {
        // Two of three: neighbours can't be merged.
        dims[i] = i == rank - 1 ? 1030 : 3;
      }
      HostTensor x = Operands.normal(58, dims);
      int slices = rank - 1;
      for (DType dtype : List.of(DType.F32, DType.F16)) {
        HostTensor typed = Operands.converted(x, dtype);
        add(
            "long rows of rank " + rank + " of " + dtype,
            Limit.ONE_CTA,
            Probes.tolerance(dtype),
            on -> {
              Tensor view = on.upload(typed).slice(slices, 1, 1029);
              for (int i = 0; i < slices; i++) {
                view = view.slice(i, i % 2, i % 2 + 2);
              }
              List<Tensor> results = new ArrayList<>();
              results.add(on.rmsNorm(view, on.upload(last), 1e-2f));
              results.add(on.layerNorm(view, on.upload(last), on.upload(last), 1e-2f));
              if (slices > 0) {
                results.add(on.softmax(Softmax.of(view).causal(true)));
              }
              return results;
            });
      }
    }
  }

  /** Means and norms of integers, whose sums F64 holds: each has one right result. */
  private void wholeNumbers() {
    HostTensor x = Operands.exact(DType.F32, NONE, 59, 2, 6, 45);
    HostTensor lengths = HostTensor.of(new int[] {5, 3}, 2);
    exactly(
        "means and norms of integers",
        on -> {
          Tensor all = on.upload(x);
          return List.of(
              on.pool(all, Pooling.MEAN, null),
              on.pool(all, Pooling.MEAN, on.upload(lengths)),
              on.l2Normalize(all));
        });
    for (long columns : new long[] {64, 1100}) {
      HostTensor rows = Operands.exact(DType.F32, NONE, 70, 5, columns);
      for (DType factors : FLOAT_TYPES) {
        HostTensor gamma = Operands.exact(factors, NONE, 71, columns);
        HostTensor beta = Operands.exact(factors, NONE, 72, columns);
        exactly(
            "norms of %d integers with %s".formatted(columns, factors),
            on -> {
              Tensor all = on.upload(rows);
              return List.of(
                  on.rmsNorm(all, on.upload(gamma), 1e-2f),
                  on.layerNorm(all, on.upload(gamma), on.upload(beta), 1e-2f));
            });
      }
    }
    // A little less than the middle between two numbers of 8 bits, which F32 holds: rounded to F32,
    // then to BF16, as the contract has it.
    float[] signs = new float[64];
    float[] little = new float[64];
    float[] middle = new float[64];
    for (int i = 0; i < 64; i++) {
      signs[i] = i % 2 == 0 ? 1 : -1;
      little[i] = 0x1p-40f;
      middle[i] = 1 + 3 * 0x1p-8f;
    }
    HostTensor ones = Operands.converted(HostTensor.of(signs, 1, 64), DType.BF16);
    exactly(
        "norms between two numbers",
        on ->
            List.of(
                on.layerNorm(
                    on.upload(ones),
                    on.upload(HostTensor.of(little, 64)),
                    on.upload(HostTensor.of(middle, 64)),
                    0x1p-60f)));
    HostTensor integers = Operands.exact(DType.I32, NONE, 73, 19, 67);
    exactly(
        "dequantize integers",
        on ->
            List.of(
                on.dequantize(on.upload(integers), DType.F32),
                on.dequantize(on.upload(integers), DType.F16)));
  }

  /** Sines, cosines and exponentials where little hides how they were rounded. */
  private void functions() {
    HostTensor heads = Operands.normal(60, 3, 7, 24);
    add("more rope", Limit.ONE_CTA, 0x1p-16, on -> List.of(on.rope(Rope.of(on.upload(heads)))));
    float[] pairs = new float[40 * 16];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = i % 16 < 8 ? 1 : 0;
    }
    HostTensor turned = HostTensor.of(pairs, 40, 16);
    add(
        "sines and cosines",
        Limit.ONE_CTA,
        0x1p-23,
        on -> List.of(on.rope(Rope.of(on.upload(turned)).base(40))));
    for (DType dtype : List.of(DType.F16, DType.BF16)) {
      for (int columns : new int[] {45, 1100}) {
        HostTensor x = Operands.converted(Operands.normal(74, 2, columns), dtype);
        exactly(
            "softmax of %d, rounded to %s".formatted(columns, dtype),
            on -> List.of(on.softmax(Softmax.of(on.upload(x)).scale(3))));
      }
    }
  }

  /** Matrices and vectors of every type and scaling, for the kernels that take any. */
  private void vectors() {
    List<Operands.Kind> kinds = new ArrayList<>();
    for (DType dtype : FLOAT_TYPES) {
      kinds.add(new Operands.Kind(dtype, NONE));
    }
    kinds.add(new Operands.Kind(DType.F8_E4M3, Scaling.mx()));
    kinds.add(new Operands.Kind(DType.F8_E5M2, Scaling.tensor()));
    kinds.add(new Operands.Kind(DType.F6_E2M3, Scaling.mx()));
    kinds.add(new Operands.Kind(DType.F6_E3M2, Scaling.block(1, 4)));
    kinds.add(new Operands.Kind(DType.F4_E2M1, Scaling.nvfp4()));
    kinds.add(new Operands.Kind(DType.I8, Scaling.columns()));
    kinds.add(new Operands.Kind(DType.I4, Scaling.rows()));
    for (Operands.Kind kind : kinds) {
      HostTensor vector = Operands.poisoned(kind.dtype(), kind.scaling(), 61, 75);
      HostTensor calm = Operands.exact(kind.dtype(), kind.scaling(), 62, 75);
      HostTensor matrix = Operands.poisoned(kind.dtype(), kind.scaling(), 63, 17, 150);
      HostTensor tall = Operands.poisoned(kind.dtype(), kind.scaling(), 64, 75, 41);
      // Blocks that end within a lane's share, for which there are no kernels for few rows.
      HostTensor weights = Operands.exact(DType.F8_E4M3, Scaling.block(4, 8), 65, 17, 75);
      HostTensor turned = Operands.exact(DType.I8, Scaling.block(4, 8), 66, 75, 41);
      HostTensor x = Operands.exact(DType.F32, NONE, 67, 75);
      add(
          "vectors of " + kind,
          Limit.NONE,
          0,
          on ->
              List.of(
                  on.gemv(on.upload(weights), on.upload(calm)),
                  on.gemv(on.upload(turned).transposed(), on.upload(calm)),
                  on.gemv(on.upload(matrix).slice(1, 3, 78), on.upload(x)),
                  on.gemv(on.upload(tall).transposed(), on.upload(x)),
                  on.gemv(on.upload(weights), on.upload(vector)),
                  on.upload(Operands.number(on.dot(on.upload(calm), on.upload(calm)))),
                  on.upload(Operands.number(on.dot(on.upload(vector), on.upload(x))))));
      HostTensor square = Operands.poisoned(kind.dtype(), kind.scaling(), 68, 21, 37);
      HostTensor other = Operands.poisoned(DType.F8_E5M2, Scaling.block(2, 8), 69, 37, 19);
      exactly(
          "any views with NaNs of " + kind,
          on -> List.of(on.gemm(Gemm.of(on.upload(square), on.upload(other)))));
    }
  }
}
