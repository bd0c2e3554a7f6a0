package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Pooling;
import dev.minifloat.Rope;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * NaN has one code wherever arithmetic made it, whatever signs and payloads the NaNs had that went
 * in; decoding alone keeps the sign.
 */
final class NanChecks {
  private static final String GROUP = "NaN";
  private static final int ROWS = 6;
  private static final int COLUMNS = 37;

  /** Positive, negative, quiet, signalling, with and without a payload. */
  private static final int[] NANS = {
    0x7FC00000, 0xFFC00000, 0x7FC00001, 0xFFC00001, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF
  };

  private NanChecks() {}

  private record Operation(Op op, String name, BiFunction<Scope, Tensor, Tensor> result) {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (DType dtype : Data.FLOATS) {
      for (Operation operation : operations(dtype)) {
        to.addIf(
            to.supports(operation.op, dtype),
            GROUP,
            operation.name + " of " + dtype,
            () -> results(backend, dtype, operation));
      }
      to.addIf(to.supports(Op.DOT, dtype), GROUP, "dot of " + dtype, () -> dot(backend, dtype));
    }
    for (DType dtype : DType.values()) {
      for (Scaling scaling : QuantizeChecks.SCALINGS) {
        to.addIf(
            scaling.isValidFor(dtype)
                && to.supports(Op.DEQUANTIZE, dtype, scaling)
                && to.supports(Op.EMBEDDING, dtype, scaling),
            GROUP,
            "values of " + dtype + " scaled by " + scaling,
            () -> values(backend, dtype, scaling));
      }
      to.addIf(
          dtype.isFloat() && to.supports(Op.DEQUANTIZE, dtype) && to.supports(Op.EMBEDDING, dtype),
          GROUP,
          "decoding of " + dtype,
          () -> values(backend, dtype, Scaling.none()));
    }
  }

  private static List<Operation> operations(DType dtype) {
    List<Operation> all = new ArrayList<>();
    all.add(new Operation(Op.ADD, "sums", (scope, x) -> scope.add(x, x)));
    all.add(new Operation(Op.ADD, "sums with a row", (scope, x) -> scope.add(x, row(x))));
    for (Activation activation : Activation.values()) {
      all.add(
          new Operation(
              Op.ACTIVATION, activation.name(), (scope, x) -> scope.activation(x, activation)));
      all.add(
          new Operation(
              Op.GEMM,
              "products, C, bias and " + activation,
              (scope, x) ->
                  scope.gemm(
                      Gemm.of(x, scope.copy(x).reshape(COLUMNS, ROWS))
                          .plus(0.5f, x.slice(1, 0, ROWS))
                          .bias(row(x).slice(0, 0, ROWS))
                          .activation(activation)
                          .output(dtype))));
    }
    all.add(
        new Operation(
            Op.GEMM,
            "products that are NaN by a factor",
            (scope, x) -> scope.gemm(Gemm.of(x, x.transposed()).alpha(-Float.NaN))));
    all.add(new Operation(Op.GEMV, "gemv", (scope, x) -> scope.gemv(x, row(x))));
    all.add(
        new Operation(
            Op.GEMV,
            "gemv turned",
            (scope, x) -> scope.gemv(x.transposed(), row(x).slice(0, 0, ROWS))));
    all.add(new Operation(Op.SOFTMAX, "softmax", (scope, x) -> scope.softmax(Softmax.of(x))));
    all.add(
        new Operation(
            Op.ATTENTION,
            "attention",
            (scope, x) -> {
              Tensor heads = x.reshape(1, ROWS, COLUMNS);
              return scope.attention(Attention.of(heads, heads, heads));
            }));
    all.add(
        new Operation(
            Op.LAYER_NORM, "layerNorm", (scope, x) -> scope.layerNorm(x, row(x), row(x), 1e-5f)));
    all.add(new Operation(Op.RMS_NORM, "rmsNorm", (scope, x) -> scope.rmsNorm(x, row(x), 1e-5f)));
    all.add(new Operation(Op.L2_NORMALIZE, "l2Normalize", Scope::l2Normalize));
    all.add(new Operation(Op.ROPE, "rope", (scope, x) -> scope.rope(Rope.of(x))));
    all.add(
        new Operation(
            Op.POOL,
            "means",
            (scope, x) -> scope.pool(x.reshape(2, ROWS / 2, COLUMNS), Pooling.MEAN, null)));
    return all;
  }

  private static Tensor row(Tensor x) {
    return x.slice(0, 1, 2).reshape(x.shape().columns());
  }

  /** Numbers, infinities and NaNs, with a NaN in each row and column and a row of NaNs. */
  private static HostTensor mixed(DType dtype) {
    float[] values = Data.numbers(1, ROWS * COLUMNS);
    int[] codes = new int[values.length];
    for (int i = 0; i < codes.length; i++) {
      int row = i / COLUMNS;
      boolean nan = row == 2 || (i + row) % 5 == 0;
      int bits =
          nan
              ? NANS[i % NANS.length]
              : i % 7 == 0
                  ? (i % 2 == 0 ? 0x7F800000 : 0xFF800000)
                  : Float.floatToRawIntBits(values[i]);
      codes[i] = dtype == DType.F32 ? bits : Codec.encode(dtype, Float.intBitsToFloat(bits));
    }
    return Data.codes(dtype, codes, ROWS, COLUMNS);
  }

  private static void results(Backend backend, DType dtype, Operation operation) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(mixed(dtype));
      HostTensor y = scope.download(operation.result.apply(scope, x));
      int canonical = Codec.encode(y.dtype(), Float.NaN);
      int nans = 0;
      for (long i = 0; i < y.shape().elements(); i++) {
        if (Codec.isNaN(y.dtype(), y.code(i))) {
          nans++;
          if (y.code(i) != canonical) {
            throw new ContractViolation(
                "%s of %s: element %d is the NaN %x, expected %x"
                    .formatted(operation.name, dtype, i, y.code(i), canonical));
          }
        }
      }
      if (nans == 0) {
        throw new ContractViolation(operation.name + " of " + dtype + ": no NaN came out");
      }
    }
  }

  private static void dot(Backend backend, DType dtype) {
    HostTensor mixed = mixed(dtype);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(mixed);
      for (int i = 0; i < ROWS; i++) {
        Tensor row = x.slice(0, i, i + 1).reshape(COLUMNS);
        Compare.sameValue("dot of NaNs in " + dtype, Float.NaN, scope.dot(row, row(x)));
      }
    }
  }

  /** Any codes, any scales, NaNs of both signs and payloads in F32 scales among them. */
  private static void values(Backend backend, DType dtype, Scaling scaling) {
    HostTensor numbers =
        BlockData.anything(6, dtype, scaling, Shape.of(ROWS, COLUMNS), BlockData.NUMBERS);
    for (int nan : NANS) {
      HostTensor table =
          scaling instanceof Scaling.NvFp4
              ? HostTensor.wrapNvfp4(
                  numbers.shape(), numbers.data(), numbers.scales(), Float.intBitsToFloat(nan))
              : numbers;
      fill(table, nan);
      try (Scope scope = backend.scope();
          Arena arena = Arena.ofConfined()) {
        Tensor x = scope.upload(table);
        Tensor ids = scope.upload(Data.ints(new int[] {0, 1, 2, 3, 4, 5}, ROWS));
        for (DType to : Data.FLOATS) {
          HostTensor expected = BlockQuantizer.dequantize(arena, table, to);
          Compare.sameBits(
              "dequantize " + table + " to " + to,
              expected,
              scope.download(scope.dequantize(x, to)));
          turned(expected, scope.download(scope.dequantize(turned(x), to)));
          Compare.sameBits(
              "embedding of " + table + " to " + to,
              expected,
              scope.download(scope.embedding(x, ids, to)));
        }
        if (scaling instanceof Scaling.None) {
          continue;
        }
        for (long i = 0; i < table.shape().elements(); i++) {
          float value = table.get(i);
          if (Float.isNaN(value)) {
            Compare.sameValue("scale × element " + i + " of " + table, Float.NaN, value);
          }
        }
      }
    }
  }

  /** [COLUMNS, ROWS / 2, 2]: neither rows nor columns of it lie together. */
  private static Tensor turned(Tensor x) {
    return x.reshape(2, ROWS / 2, COLUMNS).transposed(0, 2);
  }

  private static void turned(HostTensor expected, HostTensor got) {
    for (int i = 0; i < ROWS * COLUMNS; i++) {
      int source = (i % 2 * (ROWS / 2) + i / 2 % (ROWS / 2)) * COLUMNS + i / ROWS;
      if (got.code(i) != expected.code(source)) {
        throw new ContractViolation(
            "dequantize to %s, turned: element %d is %x, expected %x"
                .formatted(got.dtype(), i, got.code(i), expected.code(source)));
      }
    }
  }

  /** Codes in turn, so that NaNs of both signs are there; and every other F32 scale a NaN. */
  private static void fill(HostTensor table, int nan) {
    for (int i = 0; i < ROWS * COLUMNS; i++) {
      int code = table.dtype() == DType.F32 ? NANS[i % NANS.length] : -1 - i * 16;
      PackedElements.set(table.dtype(), table.data(), i, code & table.dtype().codeMask());
    }
    if (table.scaling().scaleDType() == DType.F32) {
      MemorySegment scales = table.scales();
      for (long at = 0; at < scales.byteSize(); at += 8) {
        scales.set(PackedElements.INT, at, nan);
      }
    }
  }
}
