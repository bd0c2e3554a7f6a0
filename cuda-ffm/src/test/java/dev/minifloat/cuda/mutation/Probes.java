package dev.minifloat.cuda.mutation;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.mutation.Probe.Limit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Operations that together run every kernel of the set in all that it does. */
final class Probes {
  private static final Scaling NONE = Scaling.none();

  /** Sums in F64 and functions in F32. */
  private static final double FLOATS = 0x1p-20;

  private static final double HALVES = 0x1p-10;
  private static final double BRAINS = 0x1p-7;

  private static final List<String> SAMPLE =
      List.of(
          "transpose",
          "quantize QuantSpec[dtype=F4_E2M1",
          "softmax of F32 45",
          "rows of rank 4 of F32",
          "BF16 none × F4_E2M1",
          "F4_E2M1 mx × F4_E2M1 mx",
          "F32 none × I4",
          "BF16 none × I4");

  private final List<Probe> probes = new ArrayList<>();

  private Probes() {}

  /** What operations on floats of a type may be off by. */
  static double tolerance(DType dtype) {
    return switch (dtype) {
      case F32 -> FLOATS;
      case F16 -> HALVES;
      default -> BRAINS;
    };
  }

  static List<Probe> all() {
    Probes all = new Probes();
    all.copies();
    all.manyDimensions();
    all.extremes();
    all.ranks();
    all.nans();
    all.conversions();
    all.quantizations();
    all.pointwise();
    all.rows();
    all.vectors();
    all.probes.addAll(EdgeProbes.all());
    all.probes.addAll(ProductProbes.all());
    all.probes.addAll(AttentionProbes.all());
    return all.probes;
  }

  /** Those for a few kernels, of each kind one. */
  static List<Probe> sample() {
    return all().stream()
        .filter(
            probe ->
                probe.device().equals("sm_89")
                    || SAMPLE.stream().anyMatch(name -> probe.name().startsWith(name)))
        .toList();
  }

  private void add(String name, Limit limit, double tolerance, Probe.Use use) {
    probes.add(new Probe(name, "sm_80", limit, tolerance, use));
  }

  private void exactly(String name, Probe.Use use) {
    add(name, Limit.ONE_CTA, 0, use);
  }

  private void copies() {
    for (DType dtype : List.of(DType.F4_E2M1, DType.F6_E2M3, DType.F16)) {
      HostTensor x = Operands.codes(dtype, 1, 5, 7, 91);
      exactly(
          "copy " + dtype,
          on -> {
            Tensor all = on.upload(x);
            return List.of(
                on.copy(all.slice(2, 1, 80)), on.copy(all.slice(1, 1, 3).slice(2, 3, 14)));
          });
    }
    HostTensor matrix = Operands.codes(DType.F16, 2, 3, 37, 70);
    add(
        "transpose",
        new Limit(Integer.MAX_VALUE, 2),
        0,
        on -> List.of(on.copy(on.upload(matrix).transposed())));
  }

  /** Two of three in each of eight dimensions, so that none can be merged with the next. */
  static Tensor sliced(Tensor x, int first) {
    Tensor view = x;
    for (int i = 0; i < first; i++) {
      view = view.slice(i, i % 2, i % 2 + 2);
    }
    return view;
  }

  private static Tensor sliced(Tensor x) {
    return sliced(x, x.shape().rank());
  }

  private static long[] threes(int rank) {
    long[] dims = new long[rank];
    Arrays.fill(dims, 3);
    return dims;
  }

  /** Views of each rank: kernels choose among their parameters by it. */
  private void ranks() {
    for (int rank = 1; rank < 8; rank++) {
      long[] dims = threes(rank);
      HostTensor x = Operands.normal(31, dims);
      HostTensor last = Operands.normal(32, 2);
      HostTensor halves = Operands.converted(x, DType.F16);
      HostTensor brains = Operands.converted(x, DType.BF16);
      int of = rank;
      for (HostTensor typed : List.of(x, halves, brains)) {
        add(
            "rows of rank " + rank + " of " + typed.dtype(),
            Limit.ONE_CTA,
            typed.dtype() == DType.F32 ? FLOATS : BRAINS,
            on -> {
              Tensor view = sliced(on.upload(typed));
              List<Tensor> results = new ArrayList<>();
              results.add(on.add(view, view));
              results.add(on.activation(view, Activation.RELU));
              results.add(on.l2Normalize(view));
              results.add(on.rmsNorm(view, on.upload(last), 1e-2f));
              results.add(on.layerNorm(view, on.upload(last), on.upload(last), 1e-2f));
              if (of > 1) {
                results.add(on.softmax(Softmax.of(view).causal(true)));
                results.add(on.softmax(Softmax.of(view)));
              }
              return results;
            });
      }
      exactly(
          "copies of rank " + rank,
          on -> {
            Tensor view = sliced(on.upload(halves));
            return List.of(
                on.copy(view),
                on.convert(view, DType.F8_E4M3),
                on.upload(Operands.number(on.amax(view))),
                on.quantize(view, QuantSpec.of(DType.I4).scaling(Scaling.tensor())),
                on.quantize(view, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.tensor())));
          });
    }
  }

  /** NaNs of other bits than the canonical one, which results have. */
  private void nans() {
    float[] values = Operands.normal(33, 90).toFloats();
    for (int i = 0; i < values.length; i += 7) {
      values[i] = Float.intBitsToFloat(i % 2 == 0 ? 0xFFC12345 : 0x7F812345);
    }
    HostTensor x = HostTensor.of(values, 90);
    for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
      HostTensor typed = Operands.converted(x, dtype);
      exactly(
          "NaNs of " + dtype,
          on ->
              List.of(
                  on.add(on.upload(typed), on.upload(typed)),
                  on.activation(on.upload(typed), Activation.RELU),
                  on.activation(on.upload(typed), Activation.NONE),
                  on.convert(on.upload(typed), DType.F16),
                  on.softmax(Softmax.of(on.upload(typed).reshape(1, 90)))));
    }
    for (int warp = 0; warp < 8; warp++) {
      float[] peak = new float[256 * 16];
      peak[(warp * 32 + 5) * 16 + 3] = 100;
      peak[7] = 1;
      quantize(
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()), HostTensor.of(peak, 1, 256 * 16));
    }
  }

  private void manyDimensions() {
    long[] dims = {3, 3, 3, 3, 3, 3, 3, 3};
    for (DType dtype : List.of(DType.F4_E2M1, DType.F6_E2M3, DType.I8, DType.F16, DType.F32)) {
      HostTensor codes = Operands.codes(dtype, 23, dims);
      exactly(
          "copy eight dimensions of " + dtype, on -> List.of(on.copy(sliced(on.upload(codes)))));
      exactly(
          "convert eight dimensions of " + dtype,
          on ->
              List.of(
                  on.convert(sliced(on.upload(codes)), DType.F8_E4M3),
                  on.convert(sliced(on.upload(codes)), DType.F16)));
    }
    HostTensor mx = Operands.exact(DType.F4_E2M1, Scaling.mx(), 24, dims);
    HostTensor x = Operands.normal(25, dims);
    HostTensor last = Operands.normal(26, 2);
    exactly(
        "dequantize eight dimensions",
        on -> List.of(on.dequantize(sliced(on.upload(mx)), DType.F16)));
    exactly(
        "amax and quantize eight dimensions",
        on ->
            List.of(
                on.upload(Operands.number(on.amax(sliced(on.upload(x))))),
                on.quantize(
                    sliced(on.upload(x)), QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows())),
                on.quantize(sliced(on.upload(x)), QuantSpec.of(DType.I4).scaling(Scaling.rows())),
                on.quantize(
                    sliced(on.upload(x)), QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()))));
    for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
      HostTensor typed = Operands.converted(x, dtype);
      add(
          "rows of eight dimensions, " + dtype,
          Limit.ONE_CTA,
          dtype == DType.F32 ? FLOATS : BRAINS,
          on -> {
            Tensor view = sliced(on.upload(typed));
            return List.of(
                on.add(view, view),
                on.activation(view, Activation.SILU),
                on.softmax(Softmax.of(view)),
                on.l2Normalize(view),
                on.rmsNorm(view, on.upload(last), 1e-2f),
                on.layerNorm(view, on.upload(last), on.upload(last), 1e-2f));
          });
    }
    HostTensor rows = Operands.exact(DType.F16, NONE, 27, 3, 3, 1, 1, 1, 1, 3, 1030);
    add(
        "long rows",
        Limit.ONE_CTA,
        HALVES,
        on -> {
          Tensor view =
              on.upload(rows).slice(0, 0, 2).slice(1, 1, 3).slice(6, 0, 2).slice(7, 1, 1029);
          return List.of(on.softmax(Softmax.of(view).scale(0.1f)), on.l2Normalize(view));
        });
  }

  /** Rows whose largest elements are each another warp's, zeros, infinities. */
  private void extremes() {
    for (DType dtype : List.of(DType.F32, DType.F16)) {
      for (int columns : new int[] {100, 1100}) {
        float[] peaks = new float[24 * columns];
        for (int row = 0; row < 24; row++) {
          peaks[row * columns + row * 37 % columns + (columns > 1000 ? row % 8 * 32 % 64 : 0)] =
              6e4f;
        }
        HostTensor x = Operands.converted(HostTensor.of(peaks, 24, columns), dtype);
        add(
            "softmax of peaks " + dtype + " " + columns,
            Limit.ONE_CTA,
            dtype == DType.F32 ? FLOATS : HALVES,
            on -> List.of(on.softmax(Softmax.of(on.upload(x)))));
      }
    }
    HostTensor x = Operands.extremes(28, 9, 160);
    for (QuantSpec spec :
        List.of(
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()),
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(1, 16)),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.block(1, 16)),
            QuantSpec.of(DType.I4).scaling(Scaling.block(1, 16)))) {
      for (Rounding rounding : List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO)) {
        quantize(spec.rounding(rounding), x);
      }
    }
    HostTensor tiny = Operands.normal(29, 3, 64);
    float[] small = tiny.toFloats();
    for (int i = 0; i < small.length; i++) {
      small[i] = Math.scalb(small[i], i < 32 ? -130 : -140);
    }
    quantize(QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()), HostTensor.of(small, 3, 64));
    for (DType dtype : DType.values()) {
      for (Scaling scaling : List.of(NONE, Scaling.rows(), Scaling.mx())) {
        if (dtype == DType.F8_E8M0
            || (!scaling.equals(NONE) && dtype.bits() > 8)
            || (scaling.equals(Scaling.mx()) && (dtype == DType.I8 || dtype == DType.I4))) {
          continue;
        }
        HostTensor codes = Operands.exact(dtype, scaling, 30, 7, 45);
        exactly(
            "amax of " + dtype + " " + scaling,
            on -> List.of(on.upload(Operands.number(on.amax(on.upload(codes))))));
      }
    }
  }

  private void conversions() {
    HostTensor x = Operands.anything(3, 9, 301);
    HostTensor halves = Operands.codes(DType.F16, 4, 301);
    for (DType to : List.of(DType.F8_E4M3, DType.F16, DType.F6_E3M2, DType.I8)) {
      exactly(
          "convert to " + to,
          on -> {
            Tensor all = on.upload(x);
            List<Tensor> results = new ArrayList<>();
            for (Rounding rounding :
                List.of(
                    Rounding.NEAREST_EVEN,
                    Rounding.TOWARD_ZERO,
                    Rounding.TOWARD_POSITIVE,
                    Rounding.stochastic(5))) {
              results.add(on.convert(all, to, rounding, Overflow.SATURATE));
            }
            if (Overflow.defaultFor(to) != Overflow.SATURATE || to == DType.F8_E4M3) {
              results.add(on.convert(all, to, Rounding.NEAREST_EVEN, Overflow.IEEE));
            }
            results.add(on.convert(on.upload(halves), to));
            return results;
          });
    }
    for (DType from : DType.values()) {
      HostTensor codes = Operands.codes(from, 5, 9, 67);
      exactly(
          "decode " + from,
          on -> {
            Tensor all = on.upload(codes);
            return List.of(
                on.convert(all, DType.F32),
                on.convert(all, DType.F16),
                on.convert(all, DType.F8_E4M3));
          });
    }
    for (Scaling scaling :
        List.of(
            Scaling.tensor(),
            Scaling.rows(),
            Scaling.columns(),
            Scaling.block(3, 16),
            Scaling.mx(),
            Scaling.nvfp4())) {
      HostTensor scaled = Operands.exact(DType.F4_E2M1, scaling, 6, 2, 9, 67);
      exactly(
          "dequantize " + scaling,
          on -> {
            Tensor all = on.upload(scaled);
            return List.of(
                on.dequantize(all, DType.F32),
                on.dequantize(all.slice(2, 16, 40), DType.F16),
                on.dequantize(all, DType.BF16));
          });
      HostTensor table = Operands.exact(DType.F4_E2M1, scaling, 6, 19, 67);
      HostTensor ids = HostTensor.of(new int[] {18, 0, 7, 7, 3, 11, 2, 5, 16}, 3, 3);
      exactly(
          "embedding " + scaling,
          on ->
              List.of(
                  on.embedding(on.upload(table), on.upload(ids), DType.F32),
                  on.embedding(on.upload(table), on.upload(ids), DType.BF16)));
    }
    for (DType from :
        List.of(
            DType.F32,
            DType.F16,
            DType.BF16,
            DType.F8_E4M3,
            DType.F8_E5M2,
            DType.F6_E2M3,
            DType.F6_E3M2,
            DType.I8,
            DType.I4)) {
      HostTensor codes = Operands.codes(from, 7, 19, 67);
      HostTensor ids = HostTensor.of(new int[] {18, 0, 7}, 3);
      exactly(
          "embedding " + from,
          on ->
              List.of(
                  on.embedding(on.upload(codes), on.upload(ids), DType.BF16),
                  on.dequantize(on.upload(codes), DType.F16)));
    }
  }

  private void quantizations() {
    HostTensor x = Operands.anything(8, 2, 11, 133);
    HostTensor calm = Operands.normal(9, 2, 11, 133);
    HostTensor halves = Operands.exact(DType.F16, NONE, 10, 2, 11, 133);
    HostTensor brains = Operands.converted(calm, DType.BF16);
    // More blocks than a CTA has threads, several times over.
    HostTensor many = Operands.normal(36, 41, 1100);
    quantize(QuantSpec.of(DType.I4).scaling(Scaling.block(1, 16)), many);
    quantize(QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()), many);
    quantize(QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()), many, brains);
    quantize(QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()), brains);
    quantize(QuantSpec.of(DType.I4).scaling(Scaling.rows()), brains);
    for (Scaling scaling :
        List.of(Scaling.tensor(), Scaling.rows(), Scaling.columns(), Scaling.block(3, 16))) {
      for (DType to : List.of(DType.F8_E4M3, DType.I4)) {
        quantize(QuantSpec.of(to).scaling(scaling), x, calm, halves);
      }
    }
    for (MxScaleRule rule : MxScaleRule.values()) {
      quantize(QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()).mxRule(rule), x, calm, halves);
      quantize(QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()).mxRule(rule), x, calm);
    }
    for (Rounding rounding :
        List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.stochastic(77))) {
      quantize(
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()).rounding(rounding), x, calm, halves);
      quantize(
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()).rounding(rounding), x, calm, halves);
    }
  }

  private void quantize(QuantSpec spec, HostTensor... inputs) {
    for (HostTensor input : inputs) {
      exactly("quantize " + spec, on -> List.of(on.quantize(on.upload(input), spec)));
    }
  }

  private void pointwise() {
    HostTensor a = Operands.normal(11, 3, 7, 45);
    HostTensor b = Operands.normal(12, 45);
    HostTensor brains = Operands.exact(DType.BF16, NONE, 13, 7, 45);
    exactly(
        "add",
        on ->
            List.of(
                on.add(on.upload(a), on.upload(b)),
                on.add(on.upload(a), on.upload(a)),
                on.add(on.upload(brains), on.upload(brains))));
    for (Activation activation : Activation.values()) {
      add(
          "activation " + activation,
          Limit.ONE_CTA,
          FLOATS,
          on -> List.of(on.activation(on.upload(a), activation)));
    }
    for (Activation activation : Activation.values()) {
      add(
          "activation of BF16 " + activation,
          Limit.ONE_CTA,
          BRAINS,
          on -> List.of(on.activation(on.convert(on.upload(a), DType.BF16), activation)));
    }
    HostTensor heads = Operands.normal(14, 2, 5, 24);
    HostTensor positions = HostTensor.of(new int[] {3, 900, 0, 17, 4}, 5);
    add(
        "rope",
        Limit.ONE_CTA,
        0x1p-16,
        on -> {
          Rope rope = Rope.of(on.upload(heads));
          return List.of(
              on.rope(rope),
              on.rope(rope.interleaved(true).dims(16)),
              on.rope(rope.base(500).positions(on.upload(positions))));
        });
  }

  private void rows() {
    HostTensor lengths = HostTensor.of(new int[] {45, 7}, 2);
    for (long columns : new long[] {45, 1100}) {
      HostTensor x = Operands.normal(15, 2, 6, columns);
      HostTensor gamma = Operands.normal(16, columns);
      HostTensor beta = Operands.normal(17, columns);
      for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
        double tolerance = tolerance(dtype);
        String of = " of " + dtype + " " + columns;
        HostTensor typed = Operands.converted(x, dtype);
        add(
            "softmax" + of,
            Limit.ONE_CTA,
            tolerance,
            on ->
                List.of(
                    on.softmax(Softmax.of(on.upload(typed)).scale(0.5f)),
                    on.softmax(Softmax.of(on.upload(typed)).causal(true)),
                    on.softmax(Softmax.of(on.upload(typed)).lengths(on.upload(lengths)))));
        add(
            "norms" + of,
            Limit.ONE_CTA,
            tolerance,
            on -> {
              Tensor all = on.upload(typed);
              return List.of(
                  on.rmsNorm(all, on.upload(gamma), 1e-2f),
                  on.l2Normalize(all),
                  on.layerNorm(all, on.upload(gamma), on.upload(beta), 1e-2f));
            });
      }
    }
    HostTensor x = Operands.normal(18, 2, 45, 301);
    add(
        "pool",
        Limit.ONE_CTA,
        FLOATS,
        on ->
            List.of(
                on.pool(on.upload(x), Pooling.MEAN, null),
                on.pool(on.upload(x), Pooling.MEAN, on.upload(lengths))));
  }

  private void vectors() {
    for (DType dtype : DType.values()) {
      if (dtype == DType.F8_E8M0 || dtype == DType.I32) {
        continue;
      }
      HostTensor a = Operands.exact(dtype, NONE, 19, 9001);
      HostTensor b = Operands.exact(dtype, NONE, 20, 9001);
      add(
          "dot " + dtype,
          Limit.NONE,
          0,
          on ->
              List.of(
                  on.upload(Operands.number(on.dot(on.upload(a), on.upload(b)))),
                  on.upload(Operands.number(on.amax(on.upload(a))))));
    }
    // More shares than dot_sum has threads.
    HostTensor long1 = Operands.exact(DType.I8, NONE, 34, 1_060_000);
    HostTensor long2 = Operands.exact(DType.I4, NONE, 35, 1_060_000);
    add(
        "long dot",
        Limit.NONE,
        0,
        on -> List.of(on.upload(Operands.number(on.dot(on.upload(long1), on.upload(long2))))));
    HostTensor x = Operands.exact(DType.F32, NONE, 21, 75);
    for (DType dtype : DType.values()) {
      if (dtype == DType.F8_E8M0 || dtype == DType.I32) {
        continue;
      }
      Scaling scaling = dtype.bits() < 16 ? Scaling.block(4, 8) : NONE;
      HostTensor a = Operands.exact(dtype, scaling, 22, 75, 75);
      HostTensor tall = Operands.exact(dtype, scaling, 22, 75, 41);
      HostTensor wide = Operands.exact(dtype, scaling, 22, 41, 150);
      // Types without scales are for the kernels for few rows, which take no smaller grid.
      add(
          "gemv " + dtype,
          scaling.equals(NONE) ? Limit.NONE : Limit.ONE_CTA,
          0,
          on ->
              List.of(
                  on.gemv(on.upload(a), on.upload(x)),
                  on.gemv(on.upload(wide).slice(1, 3, 78), on.upload(x))));
      add(
          "gemv transposed " + dtype,
          Limit.NONE,
          0,
          on -> List.of(on.gemv(on.upload(tall).transposed(), on.upload(x))));
    }
  }
}
