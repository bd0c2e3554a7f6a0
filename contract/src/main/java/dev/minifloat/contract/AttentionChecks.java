package dev.minifloat.contract;

import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.contract.Formats.Format;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Attention of every kind of keys, within {@link AttentionOracle}'s bound. */
final class AttentionChecks {
  private static final String GROUP = "attention";

  /** Heads, key heads, queries, keys, width. */
  private static final int[][] SHAPES = {
    {1, 1, 1, 1, 1},
    {1, 1, 1, 2, 3},
    {2, 1, 1, 67, 32},
    {1, 1, 17, 1, 33},
    {2, 2, 3, 5, 64},
    {3, 3, 16, 16, 32},
    {6, 2, 5, 33, 20},
    {4, 1, 37, 131, 48},
    {2, 2, 65, 70, 8},
    {1, 1, 9, 300, 128},
    {1, 1, 2, 7, 256},
    {1, 1, 12, 129, 255},
    {0, 0, 3, 4, 5},
    {2, 2, 0, 4, 5},
    {2, 2, 3, 0, 5}
  };

  private AttentionChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (Format keys : formats()) {
      boolean supported = to.supports(Op.ATTENTION, keys.dtype(), keys.scaling());
      for (DType queries : queriesOf(keys.dtype())) {
        String name = queries + " × " + keys;
        to.addIf(supported, GROUP, name + " shapes", () -> shapes(backend, queries, keys));
        to.addIf(supported, GROUP, name + " causal", () -> causal(backend, queries, keys));
        boolean lengths = supported && to.supports(Op.UPLOAD, DType.I32);
        to.addIf(lengths, GROUP, name + " lengths", () -> lengths(backend, queries, keys));
      }
      to.addIf(supported, GROUP, keys + " views", () -> views(backend, keys));
      to.addIf(
          supported,
          GROUP,
          keys + " long cache",
          () -> longCache(backend, keys, to.full() ? 20_011 : 4_113));
    }
    for (DType dtype : Data.FLOATS) {
      boolean supported = to.supports(Op.ATTENTION, dtype);
      to.addIf(supported, GROUP, dtype + " outputs", () -> outputs(backend, dtype));
      to.addIf(supported, GROUP, dtype + " scales of scores", () -> scales(backend, dtype));
      to.addIf(supported, GROUP, dtype + " rising scores", () -> rising(backend, dtype));
      to.addIf(supported, GROUP, dtype + " specials", () -> specials(backend, dtype));
      to.addIf(supported, GROUP, dtype + " hidden NaNs", () -> hidden(backend, dtype));
      to.addIf(supported, GROUP, dtype + " layout", () -> layout(backend, dtype));
    }
    boolean mixed =
        to.supports(Op.ATTENTION, DType.F8_E4M3, Scaling.rows())
            && to.supports(Op.ATTENTION, DType.F8_E4M3, Scaling.tensor());
    to.addIf(mixed, GROUP, "scalings of K and V that differ", () -> mixed(backend));
  }

  private static List<Format> formats() {
    List<Format> formats = new ArrayList<>();
    Data.FLOATS.forEach(dtype -> formats.add(new Format(dtype, Scaling.none())));
    for (DType dtype : List.of(DType.F8_E4M3, DType.F8_E5M2)) {
      for (Scaling scaling : List.of(Scaling.none(), Scaling.tensor(), Scaling.rows())) {
        formats.add(new Format(dtype, scaling));
      }
    }
    return formats;
  }

  private static List<DType> queriesOf(DType keys) {
    return Data.FLOATS.contains(keys) ? List.of(keys) : Data.FLOATS;
  }

  private static Operand random(long seed, DType dtype, long... dims) {
    return Operand.random(seed, dtype, Scaling.none(), dims);
  }

  private static Operand random(long seed, Format format, long... dims) {
    return Operand.random(seed, format.dtype(), format.scaling(), dims);
  }

  /**
   * A call.
   *
   * @param lengths keys that count for each batch entry; empty for all
   */
  private record Case(
      Operand q, Operand k, Operand v, float scale, boolean causal, List<Integer> lengths) {
    static Case of(Operand q, Operand k, Operand v) {
      return new Case(
          q, k, v, (float) (1 / Math.sqrt((double) q.shape().columns())), false, List.of());
    }

    Case with(boolean masked, Integer... counts) {
      return new Case(q, k, v, scale, masked, List.of(counts));
    }

    Case scaled(float factor) {
      return new Case(q, k, v, factor, causal, lengths);
    }

    /** As an array; null for none. */
    int[] counts() {
      return lengths.isEmpty() ? null : lengths.stream().mapToInt(Integer::intValue).toArray();
    }

    Tensor run(Scope scope, DType output) {
      int[] counts = counts();
      Tensor counted = counts == null ? null : scope.upload(Data.ints(counts, counts.length));
      return scope.attention(
          new Attention(q.on(scope), k.on(scope), v.on(scope), scale, causal, counted, output));
    }

    String label() {
      return "attention of %s to %s and %s, scale %s%s%s"
          .formatted(
              q.label(),
              k.label(),
              v.label(),
              scale,
              causal ? ", causal" : "",
              lengths.isEmpty() ? "" : ", lengths " + lengths);
    }
  }

  private static void verify(Backend backend, Case of) {
    verify(backend, of, of.q.dtype());
  }

  private static void verify(Backend backend, Case of, DType output) {
    try (Scope scope = backend.scope()) {
      HostTensor got = scope.download(of.run(scope, output));
      Compare.equal(of.label() + ": dtype", output, got.dtype());
      Compare.equal(of.label() + ": shape", of.q.shape(), got.shape());
      AttentionOracle.attention(backend, of.q, of.k, of.v, of.scale, of.causal, of.counts())
          .requireAdmits(of.label(), got);
    }
  }

  private static void shapes(Backend backend, DType queries, Format keys) {
    for (int[] s : SHAPES) {
      verify(
          backend,
          Case.of(
              random(1, queries, s[0], s[2], s[4]),
              random(2, keys, s[1], s[3], s[4]),
              random(3, keys, s[1], s[3], s[4])));
    }
    verify(
        backend,
        Case.of(
            random(4, queries, 2, 4, 3, 24),
            random(5, keys, 2, 2, 9, 24),
            random(6, keys, 2, 2, 9, 24)));
  }

  /**
   * As many queries as keys, more keys, as with a cache, and more queries, of which some see none.
   */
  private static void causal(Backend backend, DType queries, Format keys) {
    int[][] extents = {{1, 1}, {5, 5}, {37, 37}, {4, 50}, {70, 131}, {50, 4}, {131, 70}};
    for (int[] extent : extents) {
      Case plain =
          Case.of(
              random(7, queries, 2, extent[0], 32),
              random(8, keys, 2, extent[1], 32),
              random(9, keys, 2, extent[1], 32));
      verify(backend, plain.with(true));
    }
  }

  private static void lengths(Backend backend, DType queries, Format keys) {
    for (int count : new int[] {1, 5, 35}) {
      Case plain =
          Case.of(
              random(10, queries, 4, 2, count, 32),
              random(11, keys, 4, 1, 67, 32),
              random(12, keys, 4, 1, 67, 32));
      verify(backend, plain.with(false, 0, 1, 67, 33));
      verify(backend, plain.with(true, 16, 66, 0, 17));
    }
  }

  /** Heads side by side, as one product of all projections leaves them, and cut and turned ones. */
  private static void views(Backend backend, Format keys) {
    DType queries = queriesOf(keys.dtype()).getFirst();
    Operand q = random(13, queries, 2, 3, 19, 40);
    Operand k = random(14, keys, 2, 3, 21, 40);
    Operand v = random(15, keys, 2, 3, 21, 40);
    Case cut =
        Case.of(
            q.slice(2, 1, 18).slice(3, 3, 36).slice(1, 1, 3),
            k.slice(2, 2, 20).slice(3, 5, 38).slice(1, 0, 2),
            v.slice(2, 1, 19).slice(3, 7, 40).slice(1, 1, 3));
    verify(backend, cut);
    verify(backend, cut.with(true));
    Case turned =
        Case.of(
            random(16, queries, 2, 33, 19).transposed(),
            random(17, keys, 2, 33, 21).transposed(),
            random(18, keys, 2, 33, 21).transposed());
    verify(backend, turned);
    verify(backend, turned.with(true));
    bySide(backend, queries, keys);
  }

  /** Q, K and V as slices of [batch, tokens, heads, width], heads and tokens swapped. */
  private static void bySide(Backend backend, DType queries, Format keys) {
    Operand q = random(19, queries, 2, 20, 3, 32).swapped();
    Operand cache = random(20, keys, 2, 20, 2, 32);
    Operand k = cache.slice(2, 0, 1).swapped();
    Operand v = cache.slice(2, 1, 2).swapped();
    verify(backend, Case.of(q, k, v));
    verify(backend, Case.of(q, k, v).with(true, 20, 13));
  }

  /** Few queries and many keys, for which backends have ways of their own. */
  private static void longCache(Backend backend, Format keys, int count) {
    DType queries = queriesOf(keys.dtype()).getFirst();
    for (int[] s : new int[][] {{1, 1, 1}, {4, 1, 2}}) {
      Case plain =
          Case.of(
              random(21, queries, s[0], s[2], 64),
              random(22, keys, s[1], count, 64),
              random(23, keys, s[1], count, 64));
      verify(backend, plain);
      verify(backend, plain.with(true));
    }
  }

  private static void outputs(Backend backend, DType dtype) {
    Case plain =
        Case.of(
            random(24, dtype, 2, 20, 32),
            random(25, dtype, 2, 30, 32),
            random(26, dtype, 2, 30, 32));
    for (DType output : Data.FLOATS) {
      verify(backend, plain, output);
    }
  }

  private static void scales(Backend backend, DType dtype) {
    Case plain =
        Case.of(
            random(27, dtype, 1, 20, 32),
            random(28, dtype, 1, 90, 32),
            random(29, dtype, 1, 90, 32));
    for (float scale : new float[] {0, 1, -0.3f, 5, 1e-20f}) {
      verify(backend, plain.scaled(scale));
      verify(backend, plain.scaled(scale).with(true));
    }
  }

  /** Scores that rise with each key, so that what was summed must shrink again and again. */
  private static void rising(Backend backend, DType dtype) {
    int keys = 700;
    float[] k = new float[keys * 16];
    for (int j = 0; j < keys; j++) {
      k[j * 16] = j * 0.25f - 100;
    }
    float[] q = new float[20 * 16];
    for (int i = 0; i < 20; i++) {
      q[i * 16] = i % 2 == 0 ? 1 : -1;
    }
    Case rising =
        Case.of(
                Operand.of(Data.floats(dtype, q, 1, 20, 16)),
                Operand.of(Data.floats(dtype, k, 1, keys, 16)),
                random(30, dtype, 1, keys, 16))
            .scaled(1);
    verify(backend, rising);
    verify(backend, rising.with(true));
    Operand one = rising.q.slice(1, 0, 1);
    verify(backend, new Case(one, rising.k, rising.v, 1, false, List.of()));
  }

  private static void specials(Backend backend, DType dtype) {
    float inf = Float.POSITIVE_INFINITY;
    float nan = Float.NaN;
    for (int queries : new int[] {1, 20}) {
      for (int at : new int[] {0, 5, 36}) {
        // One key whose score is the number given, among those of 1; V is 2 there, 1 elsewhere.
        expect(backend, dtype, queries, 1, at, nan, nan);
        expect(backend, dtype, queries, 1, at, inf, nan);
        expect(backend, dtype, queries, 1, at, -inf, 1);
        expect(backend, dtype, queries, -inf, at, 3, 2);
        expect(backend, dtype, queries, -inf, at, -inf, nan);
      }
    }
    for (float special : new float[] {nan, inf, -inf}) {
      values(backend, dtype, special);
    }
  }

  private static void expect(
      Backend backend, DType dtype, int queries, float score, int at, float special, float value) {
    int keys = 37;
    float[] q = new float[queries];
    Arrays.fill(q, 1);
    float[] k = new float[keys];
    Arrays.fill(k, score);
    k[at] = special;
    float[] v = new float[keys];
    Arrays.fill(v, 1);
    v[at] = 2;
    try (Scope scope = backend.scope()) {
      HostTensor y =
          scope.download(
              scope.attention(
                  Attention.of(
                      scope.upload(Data.floats(dtype, q, 1, queries, 1)),
                      scope.upload(Data.floats(dtype, k, 1, keys, 1)),
                      scope.upload(Data.floats(dtype, v, 1, keys, 1)))));
      for (int i = 0; i < queries; i++) {
        Compare.sameValue(
            "attention, a score of %s at %d among %s: query %d".formatted(special, at, score, i),
            value,
            y.get(i));
      }
    }
  }

  /** A V that is no number reaches its own column, and no other. */
  private static void values(Backend backend, DType dtype, float special) {
    for (int queries : new int[] {1, 20}) {
      HostTensor q = Data.floats(dtype, new float[queries * 4], 1, queries, 4);
      float[] ones = new float[50 * 4];
      Arrays.fill(ones, 1);
      HostTensor k = Data.floats(dtype, ones, 1, 50, 4);
      ones[4 * 7 + 2] = special;
      HostTensor v = Data.floats(dtype, ones, 1, 50, 4);
      try (Scope scope = backend.scope()) {
        HostTensor y =
            scope.download(
                scope.attention(Attention.of(scope.upload(q), scope.upload(k), scope.upload(v))));
        for (int i = 0; i < queries * 4; i++) {
          boolean plain = i % 4 != 2;
          boolean right = plain ? Math.abs(y.get(i) - 1) < 0x1p-7 : same(special, y.get(i));
          if (!right) {
            throw new ContractViolation(
                "attention to a V with %s in column 2: column %d of query %d is %s"
                    .formatted(special, i % 4, i / 4, y.get(i)));
          }
        }
      }
    }
  }

  private static boolean same(float expected, float actual) {
    return Float.floatToIntBits(expected) == Float.floatToRawIntBits(actual);
  }

  /** What lies behind a length may be anything, and a K that the causal mask hides too. */
  private static void hidden(Backend backend, DType dtype) {
    for (float special : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
      for (int queries : new int[] {1, 3, 40}) {
        float[] k = Data.numbers(31, 40 * 8);
        float[] v = Data.numbers(32, 40 * 8);
        Operand q = random(33, dtype, 1, 1, queries, 8);
        Case clean =
            Case.of(
                    q,
                    Operand.of(Data.floats(dtype, k, 1, 1, 40, 8)),
                    Operand.of(Data.floats(dtype, v, 1, 1, 40, 8)))
                .with(false, 23);
        Arrays.fill(k, 23 * 8, 40 * 8, special);
        Arrays.fill(v, 23 * 8, 40 * 8, special);
        Case dirty =
            Case.of(
                    q,
                    Operand.of(Data.floats(dtype, k, 1, 1, 40, 8)),
                    Operand.of(Data.floats(dtype, v, 1, 1, 40, 8)))
                .with(false, 23);
        requireSame(backend, special + " behind a length", clean, dirty);
        requireSame(
            backend,
            special + " behind a length, causal",
            clean.with(true, 23),
            dirty.with(true, 23));
      }
    }
    causalKeys(backend, dtype);
  }

  private static void causalKeys(Backend backend, DType dtype) {
    float[] k = Data.numbers(34, 30 * 8);
    Arrays.fill(k, 29 * 8, 30 * 8, Float.NaN);
    Operand q = random(35, dtype, 1, 30, 8);
    Operand v = random(36, dtype, 1, 30, 8);
    Case all = Case.of(q, Operand.of(Data.floats(dtype, k, 1, 30, 8)), v).with(true);
    try (Scope scope = backend.scope()) {
      HostTensor y = scope.download(all.run(scope, DType.F32));
      for (int i = 0; i < 30 * 8; i++) {
        Compare.equal(
            "a causal query " + i / 8 + " of 30 is NaN by the last key",
            i / 8 == 29,
            Float.isNaN(y.get(i)));
      }
    }
  }

  private static void requireSame(Backend backend, String what, Case expected, Case actual) {
    try (Scope scope = backend.scope()) {
      Compare.sameBits(
          actual.label() + ", " + what,
          scope.download(expected.run(scope, expected.q.dtype())),
          scope.download(actual.run(scope, actual.q.dtype())));
    }
  }

  private static void layout(Backend backend, DType dtype) {
    try (Scope scope = backend.scope()) {
      Tensor q = random(37, dtype, 2, 3, 5, 8).on(scope);
      Tensor y = scope.attention(Attention.of(q, q, q));
      Compare.equal("isView", false, y.isView());
      HostTensor byHeads = scope.download(y);
      HostTensor rows = scope.download(y.transposed(-3, -2).reshape(10, 24));
      for (int i = 0; i < 2 * 3 * 5 * 8; i++) {
        int head = i / 8 % 3;
        int query = i / 24 % 5;
        int at = ((i / 120 * 3 + head) * 5 + query) * 8 + i % 8;
        Compare.sameValue("attention, heads side by side: " + i, byHeads.get(at), rows.get(i));
      }
    }
  }

  private static void mixed(Backend backend) {
    Operand q = random(38, DType.BF16, 2, 17, 64);
    Operand k = Operand.random(39, DType.F8_E4M3, Scaling.rows(), 2, 45, 64);
    Operand v = Operand.random(40, DType.F8_E4M3, Scaling.tensor(), 2, 45, 64);
    verify(backend, Case.of(q, k, v));
    verify(backend, Case.of(q, v, k).with(true));
    Operand plain = Operand.random(41, DType.F8_E4M3, Scaling.none(), 2, 45, 64);
    verify(backend, Case.of(q, plain, k), DType.F16);
  }
}
