package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Operations;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.spi.SupportTable;

/** The support table keeps its word: each yes runs, each no is refused. */
final class SupportChecks {
  private SupportChecks() {}

  static void addTo(Collector to) {
    for (Op op : Op.values()) {
      to.add("support", op.name(), () -> column(to.backend(), op));
    }
  }

  private static void column(Backend backend, Op op) {
    for (DType dtype : DType.values()) {
      for (Scaling scaling : SupportTable.SCALINGS) {
        boolean supported = backend.supports(op, dtype, scaling);
        String what = "%s of %s, scaling %s".formatted(op, dtype, scaling);
        if (!scaling.isValidFor(dtype)) {
          Compare.equal(what + ", which can't be: supports", false, supported);
        } else if (op == Op.UPLOAD || backend.supports(Op.UPLOAD, dtype, scaling)) {
          cell(backend, op, dtype, scaling, supported, what);
        }
      }
    }
  }

  private static void cell(
      Backend backend, Op op, DType dtype, Scaling scaling, boolean supported, String what) {
    try (Scope scope = backend.scope()) {
      if (supported) {
        use(scope, op, dtype, scaling);
      } else {
        Expect.unsupported(what, () -> use(scope, op, dtype, scaling));
      }
    } catch (ContractViolation e) {
      throw e;
    } catch (RuntimeException e) {
      throw new ContractViolation(what + ": supports() says yes, and it threw " + e, e);
    }
  }

  private static Tensor operand(Operations on, DType dtype, Scaling scaling, long... dims) {
    Shape shape = Shape.of(dims);
    return on.upload(BlockData.anything(1, dtype, scaling, shape, BlockData.NUMBERS));
  }

  private static Tensor floats(Operations on, long... dims) {
    return on.upload(HostTensor.of(new float[(int) Shape.of(dims).elements()], dims));
  }

  /** The least use of an operation with a format; results belong to the scope. */
  private static void use(Operations on, Op op, DType dtype, Scaling scaling) {
    switch (op) {
      case UPLOAD -> operand(on, dtype, scaling, 4, 4);
      case DOWNLOAD -> on.download(operand(on, dtype, scaling, 4, 4));
      case COPY -> on.copy(operand(on, dtype, scaling, 4, 4));
      case CONVERT -> on.convert(operand(on, dtype, scaling, 4, 4), dtype);
      case QUANTIZE -> on.quantize(floats(on, 4, 4), spec(dtype, scaling));
      case DEQUANTIZE -> on.dequantize(operand(on, dtype, scaling, 4, 4));
      case DOT -> on.dot(operand(on, dtype, scaling, 4), operand(on, dtype, scaling, 4));
      case GEMV -> on.gemv(operand(on, dtype, scaling, 4, 4), operand(on, dtype, scaling, 4));
      case GEMM ->
          on.gemm(
              Gemm.of(operand(on, dtype, scaling, 4, 4), operand(on, dtype, scaling, 4, 4))
                  .output(spec(dtype, scaling)));
      case ADD -> on.add(operand(on, dtype, scaling, 4, 4), operand(on, dtype, scaling, 4, 4));
      case ACTIVATION -> on.activation(operand(on, dtype, scaling, 4, 4), Activation.RELU);
      case SOFTMAX -> on.softmax(Softmax.of(operand(on, dtype, scaling, 4, 4)));
      case ATTENTION -> {
        Tensor keys = operand(on, dtype, scaling, 2, 3, 4);
        Tensor queries = on.upload(Data.floats(queriesOf(dtype), new float[40], 2, 5, 4));
        on.attention(Attention.of(queries, keys, keys));
      }
      case LAYER_NORM ->
          on.layerNorm(operand(on, dtype, scaling, 4, 4), floats(on, 4), floats(on, 4), 1);
      case RMS_NORM -> on.rmsNorm(operand(on, dtype, scaling, 4, 4), floats(on, 4), 1);
      case ROPE -> on.rope(Rope.of(operand(on, dtype, scaling, 4, 4)));
      case EMBEDDING ->
          on.embedding(
              operand(on, dtype, scaling, 4, 4),
              on.upload(HostTensor.of(new int[] {3}, 1)),
              DType.F32);
      case POOL -> on.pool(operand(on, dtype, scaling, 1, 4, 4), Pooling.MEAN, null);
      case L2_NORMALIZE -> on.l2Normalize(operand(on, dtype, scaling, 4, 4));
      case AMAX -> on.amax(operand(on, dtype, scaling, 4, 4));
    }
  }

  /** The type of the queries for keys of a type. */
  private static DType queriesOf(DType keys) {
    return keys == DType.F16 || keys == DType.BF16 ? keys : DType.F32;
  }

  private static QuantSpec spec(DType dtype, Scaling scaling) {
    return QuantSpec.of(dtype).scaling(scaling);
  }
}
