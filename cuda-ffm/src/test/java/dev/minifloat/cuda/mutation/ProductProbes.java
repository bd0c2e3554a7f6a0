package dev.minifloat.cuda.mutation;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.mutation.Operands.Kind;
import dev.minifloat.cuda.mutation.Probe.Limit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Products of small integers, whose sums F32 holds: each has one right result. Ragged in every
 * extent, with rows that begin at multiples of 16 bytes and others, batches for which CTAs go
 * round, and everything that an epilogue does.
 */
final class ProductProbes {
  private static final Scaling NONE = Scaling.none();
  private static final Scaling ROWS = Scaling.rows();
  private static final long FEW_ROWS = 16;
  private static final Limit ROUND = new Limit(Integer.MAX_VALUE, 2);
  private static final Limit FEW = new Limit(2, Integer.MAX_VALUE);

  /** What activations may differ by. */
  private static final double ACTIVATION = 0x1p-20;

  private final List<Probe> probes = new ArrayList<>();

  private ProductProbes() {}

  static List<Probe> all() {
    ProductProbes products = new ProductProbes();
    products.ofTensorCores();
    products.ofScaledBlocks();
    products.ofTensorMaps();
    products.ofAnyViews();
    products.ofFewRows();
    return products.probes;
  }

  /** The extents of a product. */
  private record Extents(long batch, long m, long n, long k) {}

  /** What follows a product. */
  private interface Finish {
    List<Tensor> of(Scope on, Gemm product);
  }

  private static Kind kind(DType dtype, Scaling scaling) {
    return new Kind(dtype, scaling);
  }

  private static List<Tensor> plain(Scope on, Gemm product) {
    return List.of(on.gemm(product));
  }

  /** The largest magnitude of results of more than one tile, and C in F32. */
  private static List<Tensor> largest(Scope on, Gemm product) {
    Tensor c = on.upload(Operands.exact(DType.F32, NONE, 6, rows(product), columns(product)));
    Tensor amax = on.upload(Operands.number(0));
    return List.of(on.gemm(product.plus(2, c).amax(amax)), amax);
  }

  /** Scales F16 results so that some have to be rounded; C in BF16, bias, RELU, amax. */
  private static List<Tensor> half(Scope on, Gemm product) {
    Tensor c = on.upload(Operands.exact(DType.BF16, NONE, 6, rows(product), columns(product)));
    Tensor bias = on.upload(Operands.exact(DType.F16, NONE, 5, columns(product)));
    Tensor amax = on.upload(Operands.number(0));
    Tensor out =
        on.gemm(
            product
                .alpha(0x1.8p-3f)
                .plus(0.5f, c)
                .bias(bias)
                .activation(Activation.RELU)
                .output(DType.F16)
                .amax(amax));
    return List.of(out, amax);
  }

  /** C and bias of other types; results in BF16. */
  private static List<Tensor> added(Scope on, Gemm product) {
    Tensor c = on.upload(Operands.exact(DType.F16, NONE, 6, rows(product), columns(product)));
    Tensor bias = on.upload(Operands.exact(DType.F32, NONE, 7, columns(product)));
    return List.of(on.gemm(product.plus(3, c).bias(bias).output(DType.BF16)));
  }

  /** NaNs and infinities in C and bias, of each type that these may have. */
  private static List<Tensor> infinite(Scope on, Gemm product) {
    List<Tensor> results = new ArrayList<>();
    for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
      Tensor c = on.upload(Operands.poisoned(dtype, NONE, 9, rows(product), columns(product)));
      Tensor bias = on.upload(Operands.poisoned(dtype, NONE, 10, columns(product)));
      results.add(on.gemm(product.plus(1, c)));
      results.add(on.gemm(product.bias(bias)));
    }
    return results;
  }

  /** Results in E4M3, of which some are too large. */
  private static List<Tensor> narrow(Scope on, Gemm product) {
    Tensor c = on.upload(Operands.exact(DType.BF16, NONE, 6, columns(product)));
    return List.of(on.gemm(product.alpha(0x1p-3f).bias(c).output(DType.F8_E4M3)));
  }

  private static List<Tensor> activated(Scope on, Gemm product) {
    List<Tensor> results = new ArrayList<>();
    // Sums of large elements need the first factor to come to lie where functions bend, others the
    // second.
    for (float alpha : new float[] {0x1p-10f, 0x1p-5f}) {
      Gemm small = product.alpha(alpha);
      results.add(on.gemm(small.activation(Activation.SILU)));
      results.add(on.gemm(small.activation(Activation.GELU_TANH)));
      results.add(on.gemm(small.activation(Activation.GELU_ERF)));
    }
    return results;
  }

  private static long rows(Gemm product) {
    return product.a().shape().rows();
  }

  private static long columns(Gemm product) {
    return product.b().shape().columns();
  }

  private void add(String device, Limit limit, double tolerance, String name, Probe.Use use) {
    probes.add(new Probe(name, device, limit, tolerance, use));
  }

  /** A product of a and of b's transpose, both with K side by side. */
  private void product(String device, Kind a, Kind b, Extents of, double tolerance, Finish finish) {
    HostTensor left =
        of.batch() == 1
            ? Operands.exact(a.dtype(), a.scaling(), 1, of.m(), of.k())
            : Operands.exact(a.dtype(), a.scaling(), 1, of.batch(), of.m(), of.k());
    HostTensor right =
        of.batch() == 1
            ? Operands.exact(b.dtype(), b.scaling(), 2, of.n(), of.k())
            : Operands.exact(b.dtype(), b.scaling(), 2, of.batch(), of.n(), of.k());
    add(
        device,
        // The kernels for few rows take no smaller grid.
        of.m() <= FEW_ROWS ? Limit.NONE : ROUND,
        tolerance,
        a + " × " + b + ", " + of + ", " + probes.size(),
        on -> finish.of(on, Gemm.of(on.upload(left), on.upload(right).transposed())));
  }

  /** Products of zero: whatever else comes to lie among the results is larger. */
  private void zeros(String device, Kind a, Kind b) {
    HostTensor left = Operands.exact(a.dtype(), a.scaling(), 9, 70, 128);
    HostTensor right = Operands.zeros(b.dtype(), b.scaling(), 10, 20, 128);
    add(
        device,
        Limit.NONE,
        0,
        a + " × zeros of " + b,
        on -> {
          Tensor amax = on.upload(Operands.number(0));
          Gemm product = Gemm.of(on.upload(left), on.upload(right).transposed());
          return List.of(on.gemm(product.amax(amax)), amax);
        });
  }

  /** NaNs among the elements and scales of both operands. */
  private void poisoned(String device, Kind a, Kind b, long m) {
    poisoned(device, a, b, m, 150);
  }

  private void poisoned(String device, Kind a, Kind b, long m, long k) {
    HostTensor left = Operands.poisoned(a.dtype(), a.scaling(), 7, m, k);
    HostTensor right = Operands.poisoned(b.dtype(), b.scaling(), 8, 24, k);
    add(
        device,
        Limit.NONE,
        0,
        a + " × " + b + " with NaNs, " + m + " rows, " + k + " columns",
        on -> List.of(on.gemm(Gemm.of(on.upload(left), on.upload(right).transposed()))));
  }

  private void eachFinish(String device, Kind a, Kind b) {
    ranks(device, a, b, 18);
    product(device, a, b, new Extents(3, 50, 52, 293), 0, ProductProbes::plain);
    product(device, a, b, new Extents(1, 70, 20, 336), 0, ProductProbes::largest);
    // So many tiles that some come after the one whose rows follow theirs.
    product(device, a, b, new Extents(1, 260, 20, 33), 0, ProductProbes::plain);
    poisoned(device, a, b, 20);
    zeros(device, a, b);
    product(device, a, b, new Extents(1, 20, 40, 256), 0, ProductProbes::plain);
    product(device, a, b, new Extents(1, 20, 40, 70), 0, ProductProbes::half);
    product(device, a, b, new Extents(1, 20, 40, 70), 0, ProductProbes::added);
    product(device, a, b, new Extents(1, 20, 40, 70), 0, ProductProbes::narrow);
    product(device, a, b, new Extents(1, 20, 40, 48), 0, ProductProbes::infinite);
    product(device, a, b, new Extents(1, 18, 12, 48), ACTIVATION, ProductProbes::activated);
  }

  /** Operands of each rank: matrices in up to six dimensions that can't be merged. */
  private void ranks(String device, Kind a, Kind b, long m) {
    for (int rank = 4; rank <= 8; rank++) {
      long[] left = new long[rank];
      Arrays.fill(left, 3);
      left[rank - 2] = m;
      left[rank - 1] = 17;
      long[] right = left.clone();
      right[rank - 2] = 19;
      HostTensor x = Operands.exact(a.dtype(), a.scaling(), 3, left);
      HostTensor y = Operands.exact(b.dtype(), b.scaling(), 4, right);
      int batches = rank - 2;
      add(
          device,
          Limit.NONE,
          0,
          a + " × " + b + " of rank " + rank,
          on ->
              List.of(
                  on.gemm(
                      Gemm.of(
                          Probes.sliced(on.upload(x), batches),
                          Probes.sliced(on.upload(y), batches).transposed()))));
    }
  }

  /**
   * Rows for all warps; tiles whole along K and cut; NaNs in each; and matrices that begin between
   * two copies of 16 bytes, or end with what a thread fetches in each of its turns.
   */
  private void tiles(String device, Kind a, Kind b) {
    product(device, a, b, new Extents(1, 150, 72, 288), 0, ProductProbes::plain);
    for (long m : new long[] {40, 70, 100}) {
      product(device, a, b, new Extents(1, m, 20, 34), 0, ProductProbes::plain);
    }
    poisoned(device, a, b, 140, 256);
    HostTensor left = Operands.exact(a.dtype(), a.scaling(), 1, 20, 272);
    HostTensor right = Operands.exact(b.dtype(), b.scaling(), 2, 20, 272);
    for (long from : new long[] {4, 8}) {
      add(
          device,
          Limit.NONE,
          0,
          a + " × " + b + " from column " + from,
          on ->
              List.of(
                  on.gemm(
                      Gemm.of(
                          on.upload(left).slice(1, from, from + 256),
                          on.upload(right).slice(1, from, from + 256).transposed()))));
    }
  }

  /**
   * A NaN in each row of one operand, for each thread that fetches and decodes 16 codes of rows
   * that are 32 apart no more than one, and in each place of the 16.
   */
  private void lonely(DType dtype) {
    float[] clean = new float[128 * 128];
    for (int i = 0; i < clean.length; i++) {
      clean[i] = i % 7 - 3;
    }
    float[] spoilt = clean.clone();
    for (int row = 0; row < 128; row++) {
      spoilt[row * 128 + row / 32 * 16 + row % 16] = Float.NaN;
    }
    add(
        "sm_80",
        Limit.NONE,
        0,
        dtype + " with a NaN in each row",
        on -> {
          Tensor left = on.convert(on.upload(HostTensor.of(spoilt, 128, 128)), dtype);
          Tensor right = on.convert(on.upload(HostTensor.of(clean, 128, 128)), dtype);
          return List.of(
              on.gemm(Gemm.of(left, right.transposed())),
              on.gemm(Gemm.of(right, left.transposed())));
        });
  }

  private void ofTensorCores() {
    lonely(DType.F8_E4M3);
    for (DType dtype : List.of(DType.F16, DType.BF16, DType.F8_E4M3, DType.F4_E2M1, DType.I8)) {
      tiles("sm_80", kind(dtype, NONE), kind(dtype, NONE));
    }
    tiles("sm_89", kind(DType.F8_E4M3, NONE), kind(DType.F8_E4M3, NONE));
    for (DType weights : List.of(DType.F6_E3M2, DType.I4, DType.F4_E2M1)) {
      tiles("sm_80", kind(DType.F16, NONE), kind(weights, NONE));
    }
    tiles("sm_80", kind(DType.BF16, NONE), kind(DType.F4_E2M1, NONE));
    Kind rows4 = kind(DType.F4_E2M1, ROWS);
    product("sm_80", rows4, rows4, new Extents(1, 150, 72, 288), 0, ProductProbes::plain);
    eachFinish("sm_80", kind(DType.F16, NONE), kind(DType.F16, NONE));
    eachFinish("sm_80", kind(DType.BF16, NONE), kind(DType.BF16, NONE));
    Kind e4m3 = kind(DType.F8_E4M3, ROWS);
    eachFinish("sm_80", e4m3, e4m3);
    eachFinish("sm_89", e4m3, e4m3);
    Extents blocks = new Extents(1, 20, 70, 336);
    Kind small = kind(DType.F8_E4M3, Scaling.block(1, 32));
    Kind mx = kind(DType.F8_E4M3, Scaling.mx());
    Kind wide = kind(DType.F8_E4M3, Scaling.block(64, 128));
    for (Kind a : List.of(small, mx, wide, kind(DType.F8_E4M3, Scaling.tensor()))) {
      product("sm_80", a, small, blocks, 0, ProductProbes::plain);
      product("sm_80", a, wide, new Extents(2, 18, 40, 300), 0, ProductProbes::plain);
    }
    product(
        "sm_89",
        kind(DType.F8_E4M3, Scaling.block(1, 128)),
        wide,
        new Extents(2, 18, 70, 400),
        0,
        ProductProbes::plain);
    product("sm_89", wide, e4m3, new Extents(1, 70, 40, 336), 0, ProductProbes::plain);
    Extents deep = new Extents(1, 18, 20, 453);
    product("sm_89", e4m3, e4m3, deep, 0, ProductProbes::plain);
    product("sm_80", kind(DType.I8, ROWS), kind(DType.I8, ROWS), deep, 0, ProductProbes::plain);
    Kind nvfp4 = kind(DType.F4_E2M1, Scaling.nvfp4());
    Kind mxfp4 = kind(DType.F4_E2M1, Scaling.mx());
    eachFinish("sm_80", nvfp4, nvfp4);
    product("sm_80", mxfp4, mxfp4, blocks, 0, ProductProbes::plain);
    Kind blocks4 = kind(DType.F4_E2M1, Scaling.block(1, 32));
    product("sm_80", blocks4, kind(DType.F4_E2M1, ROWS), blocks, 0, ProductProbes::plain);
    product("sm_80", kind(DType.BF16, NONE), blocks4, blocks, 0, ProductProbes::plain);
    // No scales lie behind the last code, which a thread fetches in its first turn or its second,
    // for
    // a stage before the loop or in it.
    Kind bare = kind(DType.F4_E2M1, NONE);
    for (int n : new int[] {20, 40}) {
      for (int k : new int[] {34, 226}) {
        Extents of = new Extents(1, 20, n, k);
        product("sm_80", kind(DType.BF16, NONE), bare, of, 0, ProductProbes::plain);
      }
    }
    poisoned("sm_80", blocks4, mxfp4, 20);
    product("sm_80", nvfp4, mxfp4, new Extents(2, 18, 40, 200), 0, ProductProbes::plain);
    eachFinish("sm_80", kind(DType.BF16, NONE), nvfp4);
    product("sm_80", kind(DType.BF16, NONE), mxfp4, blocks, 0, ProductProbes::plain);
    eachFinish("sm_80", kind(DType.F16, NONE), kind(DType.F6_E3M2, Scaling.mx()));
    eachFinish("sm_80", kind(DType.F16, NONE), kind(DType.I4, Scaling.block(1, 32)));
    eachFinish("sm_80", kind(DType.I8, ROWS), kind(DType.I8, ROWS));
    product(
        "sm_80",
        kind(DType.I8, Scaling.block(1, 128)),
        kind(DType.I8, Scaling.block(32, 128)),
        new Extents(2, 18, 70, 400),
        0,
        ProductProbes::plain);
  }

  /** What tensor maps show: rows a multiple of 16 bytes apart. */
  private void ofTensorMaps() {
    Kind blocks = kind(DType.F8_E4M3, Scaling.block(1, 128));
    Kind wide = kind(DType.F8_E4M3, Scaling.block(128, 128));
    ofTensorMaps("sm_90a", blocks, wide);
    ofTensorMaps("sm_90a", kind(DType.F8_E4M3, ROWS), kind(DType.F8_E4M3, ROWS));
    ofTensorMaps("sm_90a", kind(DType.F8_E5M2, Scaling.block(2, 128)), kind(DType.F8_E4M3, ROWS));
    ofTensorMaps("sm_90a", kind(DType.F8_E5M2, Scaling.tensor()), wide);
    ofTensorMaps("sm_90a", kind(DType.BF16, NONE), kind(DType.BF16, NONE));
    ofTensorMaps("sm_100f", blocks, wide);
    ofTensorMaps("sm_100f", kind(DType.F8_E4M3, ROWS), kind(DType.F8_E4M3, ROWS));
    ofTensorMaps("sm_100f", kind(DType.BF16, NONE), kind(DType.BF16, NONE));
    Kind e4m3 = kind(DType.F8_E4M3, Scaling.mx());
    Kind e5m2 = kind(DType.F8_E5M2, Scaling.mx());
    Kind nvfp4 = kind(DType.F4_E2M1, Scaling.nvfp4());
    ofTensorMaps("sm_100f", e4m3, e5m2);
    ofTensorMaps("sm_100f", e4m3, kind(DType.F8_E5M2, ROWS));
    ofTensorMaps("sm_100f", nvfp4, nvfp4);
    ofTensorMaps("sm_100f", kind(DType.F4_E2M1, ROWS), nvfp4);
  }

  /** More tiles than CTAs, more stages than there are places for, and everything that follows. */
  private void ofTensorMaps(String device, Kind a, Kind b) {
    // Elements of K in the same bytes.
    long each = 8 / Math.min(8, a.dtype().bits());
    for (Extents of :
        List.of(
            new Extents(1, 150, 264, 720 * each),
            new Extents(3, 50, 20, 272 * each),
            new Extents(1, 18, 20, 16 * each),
            new Extents(1, 1100, 140, 144 * each),
            new Extents(1, 1100, 140, 128 * each))) {
      HostTensor left =
          of.batch() == 1
              ? Operands.exact(a.dtype(), a.scaling(), 1, of.m(), of.k())
              : Operands.exact(a.dtype(), a.scaling(), 1, of.batch(), of.m(), of.k());
      HostTensor right = Operands.exact(b.dtype(), b.scaling(), 2, of.n(), of.k());
      add(
          device,
          FEW,
          0,
          a + " × " + b + " by tensor maps, " + of,
          on -> List.of(on.gemm(Gemm.of(on.upload(left), on.upload(right).transposed()))));
    }
    product(device, a, b, new Extents(3, 40, 52, 304 * each), 0, ProductProbes::plain);
    product(device, a, b, new Extents(1, 70, 20, 336 * each), 0, ProductProbes::largest);
    Extents few = new Extents(1, 20, 40, 80 * each);
    product(device, a, b, few, 0, ProductProbes::half);
    product(device, a, b, few, 0, ProductProbes::added);
    product(device, a, b, few, 0, ProductProbes::narrow);
    product(device, a, b, new Extents(1, 20, 40, 48 * each), 0, ProductProbes::infinite);
    product(device, a, b, new Extents(1, 18, 12, 48 * each), ACTIVATION, ProductProbes::activated);
    poisoned(device, a, b, 20, 160 * each);
    poisoned(device, a, b, 140, 256 * each);
    zeros(device, a, b);
  }

  /** Tiles of 128 × 128, and more stages of K than there are places for. */
  private void ofScaledBlocks() {
    Kind e4m3 = kind(DType.F8_E4M3, Scaling.mx());
    Kind mxfp4 = kind(DType.F4_E2M1, Scaling.mx());
    Kind nvfp4 = kind(DType.F4_E2M1, Scaling.nvfp4());
    Kind mxfp6 = kind(DType.F6_E2M3, Scaling.mx());
    scaledBlocks(e4m3, e4m3, 128);
    scaledBlocks(e4m3, mxfp4, 128);
    scaledBlocks(mxfp6, mxfp6, 128);
    scaledBlocks(mxfp4, mxfp4, 256);
    scaledBlocks(nvfp4, nvfp4, 256);
  }

  private void scaledBlocks(Kind a, Kind b, long depth) {
    eachFinish("sm_120f", a, b);
    inTiles(a, b, depth);
    Kind rows = kind(a.dtype(), ROWS);
    product("sm_120f", rows, b, new Extents(1, 140, 40, 336), 0, ProductProbes::plain);
    Kind columns = kind(b.dtype(), ROWS);
    product("sm_120f", a, columns, new Extents(1, 70, 140, 336), 0, ProductProbes::plain);
  }

  /** Several tiles in each extent, K in whole tiles and not, whole chunks and not. */
  private void inTiles(Kind a, Kind b, long depth) {
    Extents whole = new Extents(1, 140, 150, 5 * depth);
    product("sm_120f", a, b, whole, 0, ProductProbes::plain);
    Extents chunks = new Extents(3, 132, 18, depth + 96);
    product("sm_120f", a, b, chunks, 0, ProductProbes::plain);
    Extents cut = new Extents(1, 20, 140, 4 * depth + 37);
    product("sm_120f", a, b, cut, 0, ProductProbes::plain);
  }

  private void ofAnyViews() {
    HostTensor a = Operands.exact(DType.F32, NONE, 1, 3, 70, 37);
    HostTensor b = Operands.exact(DType.F32, NONE, 2, 3, 37, 66);
    HostTensor turned = Operands.exact(DType.F32, NONE, 3, 3, 37, 70);
    HostTensor weights = Operands.exact(DType.F32, NONE, 4, 66, 37);
    add(
        "sm_80",
        ROUND,
        0,
        "F32",
        on ->
            List.of(
                on.gemm(Gemm.of(on.upload(a), on.upload(b))),
                on.gemm(Gemm.of(on.upload(turned).transposed(), on.upload(b))),
                on.gemm(Gemm.of(on.upload(a), on.upload(weights).transposed()).alpha(0))));
    Kind f32 = kind(DType.F32, NONE);
    product("sm_80", f32, f32, new Extents(1, 20, 40, 33), 0, ProductProbes::half);
    product("sm_80", f32, f32, new Extents(1, 20, 40, 33), 0, ProductProbes::added);
    product("sm_80", f32, f32, new Extents(1, 20, 40, 33), 0, ProductProbes::narrow);
    product("sm_80", f32, f32, new Extents(1, 18, 12, 16), ACTIVATION, ProductProbes::activated);
    any(kind(DType.F16, NONE), kind(DType.BF16, NONE));
    any(kind(DType.BF16, NONE), kind(DType.F8_E4M3, ROWS));
    any(kind(DType.I4, ROWS), kind(DType.F6_E2M3, Scaling.mx()));
    any(kind(DType.F6_E3M2, Scaling.mx()), kind(DType.I8, ROWS));
    any(kind(DType.F8_E5M2, Scaling.mx()), kind(DType.F16, NONE));
    any(kind(DType.F8_E4M3, ROWS), kind(DType.F8_E5M2, Scaling.mx()));
    any(kind(DType.F6_E2M3, Scaling.tensor()), kind(DType.F6_E3M2, Scaling.columns()));
    any(kind(DType.F4_E2M1, Scaling.nvfp4()), kind(DType.I4, Scaling.block(4, 8)));
    any(kind(DType.I8, Scaling.columns()), kind(DType.F4_E2M1, Scaling.mx()));
    Kind i8 = kind(DType.I8, Scaling.columns());
    ranks("sm_80", f32, f32, 18);
    product("sm_80", i8, f32, new Extents(1, 70, 40, 33), 0, ProductProbes::plain);
    Kind e5m2 = kind(DType.F8_E5M2, Scaling.block(2, 8));
    product("sm_80", i8, e5m2, new Extents(1, 20, 40, 33), 0, ProductProbes::half);
    product("sm_80", i8, e5m2, new Extents(1, 20, 40, 33), 0, ProductProbes::added);
    product("sm_80", i8, e5m2, new Extents(1, 20, 40, 33), 0, ProductProbes::narrow);
    product("sm_80", i8, e5m2, new Extents(1, 18, 12, 16), ACTIVATION, ProductProbes::activated);
  }

  /** Neither operand has K side by side. */
  private void any(Kind a, Kind b) {
    HostTensor left = Operands.exact(a.dtype(), a.scaling(), 1, 3, 21, 37);
    HostTensor right = Operands.exact(b.dtype(), b.scaling(), 2, 3, 21, 66);
    add(
        "sm_80",
        ROUND,
        0,
        a + " × " + b + ", any views",
        on -> List.of(on.gemm(Gemm.of(on.upload(left).transposed(), on.upload(right)))));
  }

  private void ofFewRows() {
    Extents one = new Extents(1, 1, 50, 1100);
    Extents aligned = new Extents(1, 1, 50, 1056);
    Extents few = new Extents(1, 5, 50, 1100);
    Extents more = new Extents(3, 9, 19, 96);
    for (Kind weights :
        List.of(
            kind(DType.F16, NONE),
            kind(DType.F4_E2M1, Scaling.nvfp4()),
            kind(DType.F4_E2M1, Scaling.mx()),
            kind(DType.F8_E4M3, ROWS),
            kind(DType.F6_E2M3, Scaling.block(16, 32)),
            kind(DType.I4, Scaling.block(1, 32)))) {
      product("sm_80", kind(DType.F32, NONE), weights, one, 0, ProductProbes::plain);
      product("sm_80", kind(DType.BF16, NONE), weights, aligned, 0, ProductProbes::plain);
      product("sm_80", kind(DType.F16, NONE), weights, few, 0, ProductProbes::half);
      product("sm_80", kind(DType.F8_E4M3, ROWS), weights, more, 0, ProductProbes::plain);
    }
    Kind f16 = kind(DType.F16, NONE);
    ranks("sm_80", f16, f16, 1);
    ranks("sm_80", f16, kind(DType.I4, ROWS), 1);
    // So many matrices that a CTA has more than one slice of K.
    Extents many = new Extents(260, 1, 3, 520);
    product("sm_80", kind(DType.BF16, NONE), kind(DType.I4, ROWS), many, 0, ProductProbes::plain);
    product("sm_80", f16, f16, many, 0, ProductProbes::plain);
    ranks("sm_80", f16, kind(DType.F4_E2M1, ROWS), 5);
    product("sm_80", f16, f16, new Extents(1, 5, 40, 70), 0, ProductProbes::added);
    product("sm_80", f16, f16, new Extents(1, 5, 40, 70), 0, ProductProbes::narrow);
    product("sm_80", f16, f16, new Extents(1, 5, 12, 70), ACTIVATION, ProductProbes::activated);
    Kind i4 = kind(DType.I4, Scaling.block(1, 32));
    // As many elements as threads: whoever goes on too long writes behind the end.
    Extents even = new Extents(1, 4, 64, 70);
    for (Finish finish :
        List.<Finish>of(ProductProbes::half, ProductProbes::added, ProductProbes::largest)) {
      product("sm_80", f16, i4, even, 0, finish);
    }
    // More slices of K than shares.
    Kind nvfp4 = kind(DType.F4_E2M1, Scaling.nvfp4());
    Extents deep = new Extents(1, 2, 3, 33_300);
    product("sm_80", f16, nvfp4, deep, 0, ProductProbes::plain);
    for (Kind a :
        List.of(
            f16,
            kind(DType.F32, NONE),
            kind(DType.F8_E4M3, Scaling.mx()),
            kind(DType.F8_E5M2, Scaling.tensor()),
            kind(DType.F6_E2M3, Scaling.mx()),
            kind(DType.F6_E3M2, Scaling.columns()),
            nvfp4,
            kind(DType.F4_E2M1, Scaling.rows()),
            kind(DType.I8, ROWS),
            kind(DType.I4, ROWS))) {
      for (Kind weights : List.of(f16, i4, nvfp4)) {
        product("sm_80", a, weights, new Extents(1, 2, 20, 70), 0, ProductProbes::plain);
        product("sm_80", a, weights, new Extents(1, 1, 20, 70), 0, ProductProbes::plain);
        poisoned("sm_80", a, weights, 1);
        poisoned("sm_80", a, weights, 2);
      }
    }
  }
}
