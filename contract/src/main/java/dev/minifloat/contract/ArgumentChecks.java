package dev.minifloat.contract;

import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Pooling;
import dev.minifloat.Rope;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.util.List;

/** Wrong arguments are refused by name, before anything is computed. */
final class ArgumentChecks {
  private static final String GROUP = "arguments";

  private ArgumentChecks() {}

  /** A call with one argument wrong; x is F32 [3, 4], v F32 [4], i I32 [3]. */
  private interface Wrong {
    Object call(Scope on, Tensor x, Tensor v, Tensor i);
  }

  /**
   * One case.
   *
   * @param op what must be supported
   * @param what the mistake
   * @param argument the name that the message must have
   * @param wrong makes it
   */
  private record Mistake(Op op, String what, String argument, Wrong wrong) {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    boolean uploads = to.supports(Op.UPLOAD, DType.F32) && to.supports(Op.UPLOAD, DType.I32);
    for (Mistake mistake : MISTAKES) {
      to.addIf(
          uploads && to.supports(mistake.op, DType.F32),
          GROUP,
          mistake.op + " with " + mistake.what,
          () -> refused(backend, mistake));
    }
  }

  private static void refused(Backend backend, Mistake mistake) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(HostTensor.of(Data.numbers(1, 12), 3, 4));
      Tensor v = scope.upload(HostTensor.of(Data.numbers(2, 4), 4));
      Tensor i = scope.upload(Data.ints(new int[] {0, 1, 5}, 3));
      Expect.illegalArgument(
          mistake.op + " with " + mistake.what,
          mistake.argument,
          () -> mistake.wrong.call(scope, x, v, i));
    }
  }

  private static final List<Mistake> MISTAKES =
      List.of(
          new Mistake(
              Op.DOT, "vectors of two lengths", "b", (on, _, v, _) -> on.dot(v, v.slice(0, 0, 3))),
          new Mistake(Op.DOT, "a matrix", "a", (on, x, _, _) -> on.dot(x, x)),
          new Mistake(
              Op.GEMV,
              "a vector of a wrong length",
              "x",
              (on, x, v, _) -> on.gemv(x, v.slice(0, 0, 3))),
          new Mistake(Op.GEMV, "a vector as its matrix", "a", (on, _, v, _) -> on.gemv(v, v)),
          new Mistake(Op.GEMM, "two Ks", "b", (on, x, _, _) -> on.gemm(Gemm.of(x, x))),
          new Mistake(Op.GEMM, "a vector", "b", (on, x, v, _) -> on.gemm(Gemm.of(x, v))),
          new Mistake(
              Op.GEMM,
              "beta and no C",
              "c",
              (on, x, _, _) -> on.gemm(Gemm.of(x, x.transposed()).plus(1, null))),
          new Mistake(
              Op.GEMM,
              "a C of another shape",
              "c",
              (on, x, _, _) -> on.gemm(Gemm.of(x, x.transposed()).plus(1, x))),
          new Mistake(
              Op.GEMM,
              "a bias of another length",
              "bias",
              (on, x, v, _) -> on.gemm(Gemm.of(x, x.transposed()).bias(v))),
          new Mistake(
              Op.GEMM,
              "an amax of several elements",
              "amax",
              (on, x, v, _) -> on.gemm(Gemm.of(x, x.transposed()).amax(v))),
          new Mistake(
              Op.GEMM,
              "an amax that is an operand",
              "amax",
              (on, _, _, _) -> {
                Tensor one = on.upload(HostTensor.of(new float[] {1}, 1, 1));
                return on.gemm(Gemm.of(one, one).amax(one));
              }),
          new Mistake(
              Op.GEMM,
              "batches that don't agree",
              "b",
              (on, x, _, _) ->
                  on.gemm(Gemm.of(x.reshape(3, 1, 4), x.reshape(2, 2, 3).transposed()))),
          new Mistake(Op.ADD, "another shape", "b", (on, x, _, _) -> on.add(x, x.transposed())),
          new Mistake(
              Op.LAYER_NORM,
              "a short gamma",
              "gamma",
              (on, x, v, _) -> on.layerNorm(x, v.slice(0, 0, 3), v, 1e-5f)),
          new Mistake(
              Op.LAYER_NORM,
              "a short beta",
              "beta",
              (on, x, v, _) -> on.layerNorm(x, v, v.slice(0, 0, 3), 1e-5f)),
          new Mistake(
              Op.LAYER_NORM, "epsilon 0", "epsilon", (on, x, v, _) -> on.layerNorm(x, v, v, 0)),
          new Mistake(
              Op.RMS_NORM,
              "a short gamma",
              "gamma",
              (on, x, v, _) -> on.rmsNorm(x, v.slice(0, 0, 3), 1e-5f)),
          new Mistake(
              Op.RMS_NORM, "epsilon NaN", "epsilon", (on, x, v, _) -> on.rmsNorm(x, v, Float.NaN)),
          new Mistake(
              Op.SOFTMAX,
              "a length beyond the columns",
              "lengths",
              (on, x, _, i) -> on.softmax(Softmax.of(x).lengths(i))),
          new Mistake(
              Op.SOFTMAX,
              "too few lengths",
              "lengths",
              (on, x, _, i) -> on.softmax(Softmax.of(x).lengths(i.slice(0, 0, 2)))),
          new Mistake(
              Op.SOFTMAX,
              "lengths of floats",
              "lengths",
              (on, x, v, _) -> on.softmax(Softmax.of(x).lengths(v.slice(0, 0, 3)))),
          new Mistake(
              Op.ATTENTION, "a matrix", "q", (on, x, _, _) -> on.attention(Attention.of(x, x, x))),
          new Mistake(
              Op.ATTENTION,
              "keys of another width",
              "k",
              (on, x, _, _) -> {
                Tensor keys = x.reshape(1, 4, 3);
                return on.attention(Attention.of(x.reshape(1, 3, 4), keys, keys));
              }),
          new Mistake(
              Op.ATTENTION,
              "other values than keys",
              "v",
              (on, x, _, _) -> {
                Tensor heads = x.reshape(1, 3, 4);
                return on.attention(Attention.of(heads, heads, heads.slice(1, 0, 2)));
              }),
          new Mistake(
              Op.ATTENTION,
              "key heads that don't divide the heads",
              "k",
              (on, x, _, _) ->
                  on.attention(
                      Attention.of(
                          x.reshape(3, 1, 4),
                          x.reshape(3, 1, 4).slice(0, 0, 2),
                          x.reshape(3, 1, 4).slice(0, 0, 2)))),
          new Mistake(
              Op.ATTENTION,
              "lengths without a batch",
              "q",
              (on, x, _, i) -> {
                Tensor heads = x.reshape(1, 3, 4);
                return on.attention(Attention.of(heads, heads, heads).lengths(i));
              }),
          new Mistake(
              Op.ATTENTION,
              "a length beyond the keys",
              "lengths",
              (on, x, _, i) -> {
                Tensor heads = x.reshape(3, 1, 1, 4);
                return on.attention(Attention.of(heads, heads, heads).lengths(i));
              }),
          new Mistake(Op.ROPE, "odd dims", "dims", (on, x, _, _) -> on.rope(Rope.of(x).dims(3))),
          new Mistake(
              Op.ROPE,
              "dims beyond the width",
              "dims",
              (on, x, _, _) -> on.rope(Rope.of(x).dims(6))),
          new Mistake(
              Op.ROPE,
              "too few positions",
              "positions",
              (on, x, _, i) -> on.rope(Rope.of(x).positions(i.slice(0, 0, 2)))),
          new Mistake(
              Op.EMBEDDING,
              "an id that is no row",
              "ids",
              (on, x, _, i) -> on.embedding(x, i, DType.F32)),
          new Mistake(
              Op.EMBEDDING, "ids of floats", "ids", (on, x, v, _) -> on.embedding(x, v, DType.F32)),
          new Mistake(
              Op.EMBEDDING,
              "a result of E4M3",
              "to",
              (on, x, _, i) -> on.embedding(x, i.slice(0, 0, 2), DType.F8_E4M3)),
          new Mistake(
              Op.DEQUANTIZE,
              "a result of E4M3",
              "to",
              (on, x, _, _) -> on.dequantize(x, DType.F8_E4M3)),
          new Mistake(
              Op.POOL,
              "a length of 0",
              "lengths",
              (on, x, _, i) -> on.pool(x.reshape(1, 3, 4), Pooling.MEAN, i.slice(0, 0, 1))),
          new Mistake(Op.POOL, "a matrix", "x", (on, x, _, _) -> on.pool(x, Pooling.FIRST, null)));
}
