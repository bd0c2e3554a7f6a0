package dev.minifloat.cuda.mutation;

import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.mutation.Probe.Limit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Attention: each type of keys, masks, lengths, grouped heads, views, scores that rise, and scores
 * and values that are no numbers. Scores are exact, so that results are off by exponentials and
 * sums alone.
 */
final class AttentionProbes {
  private static final Scaling NONE = Scaling.none();

  /** Weights are off by some ulps, and sums of values up to 63 cancel by a few digits. */
  private static final double FLOATS = 0x1p-10;

  /** Heads and batch entries go round; blocks of queries don't. */
  private static final Limit ONE_LAYER = new Limit(Integer.MAX_VALUE, 1);

  private final List<Probe> probes = new ArrayList<>();

  private AttentionProbes() {}

  static List<Probe> all() {
    AttentionProbes all = new AttentionProbes();
    all.types();
    all.masks();
    all.views();
    all.risingScores();
    all.noNumbers();
    return all.probes;
  }

  private void add(String name, double tolerance, Probe.Use use) {
    probes.add(new Probe("attention " + name, "sm_80", ONE_LAYER, tolerance, use));
  }

  private static Tensor small(
      Scope on, DType dtype, Scaling scaling, long seed, long heads, long rows, long width) {
    return on.upload(Operands.exact(dtype, scaling, seed, 2, heads, rows, width));
  }

  private static Attention typed(Scope on, DType dtype) {
    return Attention.of(
            small(on, dtype, NONE, 1, 1, 21, 37),
            small(on, dtype, NONE, 2, 1, 37, 37),
            small(on, dtype, NONE, 3, 1, 37, 37))
        .scale(0x1p-11f);
  }

  private void types() {
    for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
      add("of " + dtype, FLOATS, on -> List.of(on.attention(typed(on, dtype).output(DType.F32))));
      add(
          "to results of " + dtype,
          Math.max(FLOATS, Probes.tolerance(dtype)),
          on -> List.of(on.attention(typed(on, DType.F32).output(dtype))));
      // Of one key the result is its value, rounded.
      add(
          "to one key, results of " + dtype,
          0,
          on -> {
            Tensor v = on.upload(Operands.normal(15, 2, 3, 1, 50));
            return List.of(on.attention(Attention.of(v, v, v).output(dtype)));
          });
    }
    for (DType dtype : List.of(DType.F8_E4M3, DType.F8_E5M2)) {
      for (Scaling scaling : List.of(NONE, Scaling.tensor(), Scaling.rows())) {
        add(
            "to " + dtype + " " + scaling,
            FLOATS,
            on -> {
              Tensor q = small(on, DType.F32, NONE, 4, 2, 5, 256);
              Tensor k = small(on, dtype, scaling, 5, 1, 35, 256);
              Tensor v = small(on, dtype, scaling, 6, 1, 35, 256);
              return List.of(on.attention(Attention.of(q, k, v).scale(0x1p-12f)));
            });
      }
    }
  }

  private void masks() {
    HostTensor lengths = HostTensor.of(new int[] {41, 0, 7, 64}, 4);
    for (long queries : new long[] {1, 18, 70}) {
      add(
          "of " + queries + " masked",
          FLOATS,
          on -> {
            Attention of =
                Attention.of(
                        small(on, DType.F32, NONE, 7, 2, queries, 9),
                        small(on, DType.F32, NONE, 8, 1, 67, 9),
                        small(on, DType.F32, NONE, 9, 1, 67, 9))
                    .scale(-0x1p-10f);
            Tensor counted = on.upload(lengths);
            return List.of(
                on.attention(of.causal(true)),
                on.attention(of.lengths(counted.slice(0, 0, 2))),
                on.attention(of.causal(true).lengths(counted.slice(0, 2, 4))));
          });
    }
  }

  private void views() {
    for (DType dtype : List.of(DType.F16, DType.F8_E4M3)) {
      add(
          "of views of " + dtype,
          FLOATS,
          on -> {
            Scaling scaling = dtype == DType.F16 ? NONE : Scaling.rows();
            DType queries = dtype == DType.F16 ? DType.F16 : DType.BF16;
            Tensor q = small(on, queries, NONE, 10, 3, 37, 20).transposed(-1, -2);
            Tensor k = small(on, dtype, scaling, 11, 9, 40, 2).transposed(-1, -3);
            Tensor v = small(on, dtype, scaling, 12, 40, 2, 40).transposed(-2, -3);
            return List.of(
                on.attention(
                    Attention.of(q.slice(1, 0, 2).slice(3, 1, 10), k, v.slice(3, 9, 18))
                        .scale(0x1p-9f)
                        .output(DType.F32)));
          });
    }
  }

  /** Large scores that come late, and whose differences leave most weights 0. */
  private void risingScores() {
    float[] k = new float[90 * 2];
    for (int j = 0; j < 90; j++) {
      k[j * 2] = j * 2f - 100;
    }
    float[] q = new float[8 * 2];
    for (int i = 0; i < 8; i++) {
      q[i * 2] = i % 2 == 0 ? 1 : -0.5f;
    }
    add(
        "of rising scores",
        FLOATS,
        on ->
            List.of(
                on.attention(
                    Attention.of(
                            on.upload(HostTensor.of(q, 1, 8, 2)),
                            on.upload(HostTensor.of(k, 1, 90, 2)),
                            on.upload(Operands.exact(DType.F32, NONE, 13, 1, 90, 2)))
                        .scale(1)
                        .causal(true))));
  }

  /** Scores and values that are infinite or NaN, one of each in a column of its own. */
  private void noNumbers() {
    float inf = Float.POSITIVE_INFINITY;
    for (float special : new float[] {Float.intBitsToFloat(0xFFC1_2345), inf, -inf}) {
      for (int at : new int[] {0, 40}) {
        float[] k = new float[50];
        k[at] = special;
        float[] v = new float[50 * 34];
        Arrays.fill(v, 1);
        v[at * 34 + 33] = special;
        add(
            "of " + special + " at " + at,
            FLOATS,
            on -> {
              Tensor ones = on.upload(HostTensor.of(new float[] {1, 1, 1, 1, 1, 1}, 1, 6, 1));
              Tensor many = on.upload(HostTensor.of(new float[5 * 34], 1, 5, 34));
              Tensor keys = on.upload(HostTensor.of(k, 1, 50, 1));
              Tensor values = on.upload(HostTensor.of(v, 1, 50, 34));
              Tensor plain = on.upload(HostTensor.of(new float[50 * 34], 1, 50, 34));
              Tensor counts = on.upload(Operands.exact(DType.F32, NONE, 14, 1, 50, 1));
              return List.of(
                  on.attention(Attention.of(ones, keys, counts)),
                  on.attention(Attention.of(ones, keys, counts).causal(true)),
                  on.attention(
                      Attention.of(ones, keys.slice(1, at, at + 1), counts.slice(1, 0, 1))),
                  on.attention(Attention.of(many, plain, values)));
            });
      }
    }
  }
}
