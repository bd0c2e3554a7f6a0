package dev.minifloat.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Op;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.UnsupportedOpException;
import dev.minifloat.reference.ReferenceBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The published support table: it is what the code says, and the code does what it says. */
class SupportTableTest {
  private static final String HEADER =
      """
      # What is supported

      Which operation takes which format and scaling. `Op` says of which operand each column speaks, and \
      `Backend.supports` answers the same question in a program. A combination marked – throws \
      `UnsupportedOpException`; `dequantize` makes a plain tensor of any. A backend may support less; \
      `SupportTable.markdown` prints the table of any backend. `block(128,128)` stands for blocks of every size.

      The reference backend:

      """;

  @Test
  void publishedTableIsThatOfTheCode() throws IOException {
    Path file = Path.of(System.getProperty("basedir", "")).resolve("../docs/SUPPORT.md");
    String expected;
    try (ReferenceBackend backend = new ReferenceBackend()) {
      expected = HEADER + SupportTable.markdown(backend);
    }
    if (Boolean.getBoolean("regenerate")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, expected);
    }
    assertEquals(
        expected,
        Files.readString(file),
        "docs/SUPPORT.md is out of date; regenerate it with"
            + " ./minifloat test -pl api -Dtest=SupportTableTest -Dregenerate=true");
  }

  @ParameterizedTest
  @EnumSource(Op.class)
  void eachCellDoesWhatItSays(Op op) {
    List<String> wrong = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (Scaling scaling : SupportTable.SCALINGS) {
        try (ReferenceBackend backend = new ReferenceBackend();
            Scope scope = backend.scope()) {
          boolean claimed = backend.supports(op, dtype, scaling);
          boolean works = true;
          try {
            perform(scope, op, dtype, scaling);
          } catch (UnsupportedOpException | IllegalArgumentException _) {
            works = false;
          }
          if (claimed != works) {
            wrong.add(dtype + " " + scaling + ": claimed " + claimed + ", works " + works);
          }
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  /** Does an operation with the format in the place of which {@link Op} speaks. */
  private static void perform(Scope scope, Op op, DType dtype, Scaling scaling) {
    switch (op) {
      case UPLOAD -> operand(scope, dtype, scaling, 4, 4);
      case DOWNLOAD -> scope.download(operand(scope, dtype, scaling, 4, 4));
      case COPY -> scope.copy(operand(scope, dtype, scaling, 4, 4));
      case CONVERT -> {
        scope.convert(operand(scope, dtype, scaling, 4, 4), DType.F32);
        scope.convert(plain(scope, 4, 4), dtype);
      }
      case QUANTIZE -> scope.quantize(plain(scope, 4, 4), spec(dtype, scaling));
      case DEQUANTIZE -> scope.dequantize(operand(scope, dtype, scaling, 4, 4));
      case DOT -> {
        scope.dot(operand(scope, dtype, scaling, 4), plain(scope, 4));
        scope.dot(plain(scope, 4), operand(scope, dtype, scaling, 4));
      }
      case GEMV -> {
        scope.gemv(operand(scope, dtype, scaling, 4, 4), plain(scope, 4));
        scope.gemv(plain(scope, 4, 4), operand(scope, dtype, scaling, 4));
      }
      case GEMM -> {
        Tensor x = operand(scope, dtype, scaling, 4, 4);
        scope.gemm(Gemm.of(x, plain(scope, 4, 4)));
        scope.gemm(Gemm.of(plain(scope, 4, 4), x));
        scope.gemm(Gemm.of(x, x).output(spec(dtype, scaling)));
      }
      case ADD -> {
        Tensor x = operand(scope, dtype, scaling, 4, 4);
        scope.add(x, x);
      }
      case ACTIVATION -> scope.activation(operand(scope, dtype, scaling, 4, 4), Activation.RELU);
      case SOFTMAX -> scope.softmax(Softmax.of(operand(scope, dtype, scaling, 4, 4)));
      case ATTENTION -> {
        Tensor keys = operand(scope, dtype, scaling, 2, 3, 4);
        DType queries = dtype == DType.F16 || dtype == DType.BF16 ? dtype : DType.F32;
        Tensor q = operand(scope, queries, Scaling.none(), 2, 5, 4);
        scope.attention(Attention.of(q, keys, keys));
      }
      case LAYER_NORM ->
          scope.layerNorm(
              operand(scope, dtype, scaling, 4, 4), plain(scope, 4), plain(scope, 4), 1);
      case RMS_NORM -> scope.rmsNorm(operand(scope, dtype, scaling, 4, 4), plain(scope, 4), 1);
      case ROPE -> scope.rope(Rope.of(operand(scope, dtype, scaling, 4, 4)));
      case EMBEDDING -> {
        Tensor ids = scope.upload(HostTensor.of(new int[] {0, 3}));
        scope.embedding(operand(scope, dtype, scaling, 4, 4), ids, DType.F32);
      }
      case POOL -> scope.pool(operand(scope, dtype, scaling, 1, 4, 4), Pooling.FIRST, null);
      case L2_NORMALIZE -> scope.l2Normalize(operand(scope, dtype, scaling, 4, 4));
      case AMAX -> scope.amax(operand(scope, dtype, scaling, 4, 4));
    }
  }

  private static Tensor operand(Scope scope, DType dtype, Scaling scaling, long... dims) {
    try (Arena arena = Arena.ofConfined()) {
      return scope.upload(HostTensor.allocate(arena, dtype, Shape.of(dims), scaling));
    }
  }

  private static Tensor plain(Scope scope, long... dims) {
    return operand(scope, DType.F32, Scaling.none(), dims);
  }

  private static QuantSpec spec(DType dtype, Scaling scaling) {
    return new QuantSpec(
        dtype, scaling, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype), MxScaleRule.FLOOR);
  }

  @Test
  void blocksOfEverySizeAreSupportedAlike() {
    for (Op op : Op.values()) {
      for (DType dtype : DType.values()) {
        assertEquals(
            SupportTable.standard(op, dtype, Scaling.block(128, 128)),
            SupportTable.standard(op, dtype, Scaling.block(1, 3)));
      }
    }
  }

  /** What a backend that does less denies is refused, whatever the standard table says. */
  @Test
  void narrowerBackendRefusesWhatItDenies() {
    try (GatedBackend narrow =
        new GatedBackend() {
          @Override
          public boolean supports(Op op, DType dtype, Scaling scaling) {
            return dtype != DType.F16 && super.supports(op, dtype, scaling);
          }
        }) {
      Tensor x = narrow.upload(HostTensor.of(new float[4], 2, 2));
      String message =
          assertThrows(UnsupportedOpException.class, () -> narrow.convert(x, DType.F16))
              .getMessage();
      assertTrue(message.contains("F16") && message.contains("gated"), message);
      narrow.add(x, x);
    }
  }
}
