package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorFiles;
import dev.minifloat.formats.layout.QuantizedLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ConvertCommandTest {
  @TempDir Path directory;

  private Path in() {
    return directory.resolve("in.safetensors");
  }

  private Path out() {
    return directory.resolve("out.safetensors");
  }

  private Cli convert(String... options) {
    String[] line = new String[options.length + 3];
    line[0] = "convert";
    line[1] = in().toString();
    line[2] = out().toString();
    System.arraycopy(options, 0, line, 3, options.length);
    return Cli.run(line);
  }

  private static void assertSame(HostTensor expected, HostTensor actual) {
    assertEquals(expected.dtype(), actual.dtype());
    assertEquals(expected.shape(), actual.shape());
    assertEquals(expected.scaling(), actual.scaling());
    assertEquals(-1, expected.data().mismatch(actual.data()), "first different byte of elements");
    assertEquals(-1, expected.scales().mismatch(actual.scales()), "first different byte of scales");
    assertEquals(expected.globalScale(), actual.globalScale());
  }

  private void assertConverted(QuantizedLayout layout, HostTensor source, QuantSpec spec) {
    HostTensor expected = BlockQuantizer.quantize(Arena.ofAuto(), source, spec);
    try (TensorFile file = TensorFiles.open(out())) {
      assertSame(expected, layout.read(file, "a.weight").tensor());
    }
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  // More than one chunk, an odd number of rows, and columns that no block divides.
  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, rows",
    "f8_e4m3, tensor",
    "f8_e4m3, columns",
    "f8_e4m3, 128x128",
    "f8_e5m2, 3x7",
    "f8_e4m3, mx",
    "f4_e2m1, mx",
    "f4_e2m1, nvfp4",
    "f6_e2m3, mx",
    "i8, rows",
    "i4, tensor",
    "f16, none",
    "bf16, none",
    "f8_e4m3, none",
  })
  void piecesGiveTheSameBitsAsTheWhole(String dtype, String scaling) {
    HostTensor source = TestFiles.weights(DType.F32, 1, 1030, 300);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    Cli result = convert("--dtype", dtype, "--scaling", scaling);

    assertEquals(0, result.code(), result.err());
    QuantSpec spec = QuantSpec.of(DType.parse(dtype)).scaling(Scaling.parse(scaling));
    assertConverted(QuantizedLayout.PLAIN, source, spec);
  }

  @ParameterizedTest
  @CsvSource({"F16, f8_e4m3, tensor", "BF16, f8_e4m3, columns", "BF16, f4_e2m1, nvfp4"})
  void narrowSourcesAreQuantizedFromTheirOwnValues(String from, String dtype, String scaling) {
    HostTensor source = TestFiles.weights(DType.parse(from), 2, 1030, 300);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    assertEquals(0, convert("--dtype", dtype, "--scaling", scaling).code());

    QuantSpec spec = QuantSpec.of(DType.parse(dtype)).scaling(Scaling.parse(scaling));
    assertConverted(QuantizedLayout.PLAIN, source, spec);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rows", "none"})
  void stochasticRoundingDrawsByPlaceInTheWholeTensor(String scaling) {
    HostTensor source = TestFiles.weights(DType.F32, 3, 1030, 300);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    Cli result = convert("--dtype", "f8_e4m3", "--scaling", scaling, "--rounding", "stochastic:42");

    assertEquals(0, result.code(), result.err());
    QuantSpec spec =
        QuantSpec.of(DType.F8_E4M3)
            .scaling(Scaling.parse(scaling))
            .rounding(Rounding.stochastic(42));
    assertConverted(QuantizedLayout.PLAIN, source, spec);
  }

  @Test
  void roundingAndMxRuleAreAsAsked() {
    HostTensor source = TestFiles.weights(DType.F32, 4, 64, 96);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    assertEquals(
        0, convert("--dtype", "mxfp8", "--mx-rule", "rceil", "--rounding", "toward-zero").code());

    QuantSpec spec =
        QuantSpec.of(DType.F8_E4M3)
            .scaling(Scaling.mx())
            .mxRule(MxScaleRule.RCEIL)
            .rounding(Rounding.TOWARD_ZERO);
    assertConverted(QuantizedLayout.PLAIN, source, spec);
  }

  @Test
  void doublesAreRoundedOnceWithoutScaling() {
    double[] values = {1 + 0x1p-11 + 0x1p-40, Math.nextUp(0x1p-25), -0.0, 1e300};
    TestFiles.doubles(in(), "a.weight", Shape.of(2, 2), values);

    assertEquals(0, convert("--dtype", "f16").code());

    try (TensorFile file = TensorFiles.open(out())) {
      HostTensor tensor = QuantizedLayout.PLAIN.read(file, "a.weight").tensor();
      assertEquals(0x3C01, tensor.code(0));
      assertEquals(0x0001, tensor.code(1));
      assertEquals(0x8000, tensor.code(2));
      assertEquals(0x7C00, tensor.code(3));
    }
  }

  @Test
  void batchesOfMatricesKeepTheirOwnScales() {
    HostTensor source = TestFiles.weights(DType.F32, 5, 3, 40, 64);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    for (String scaling : List.of("rows", "columns", "32x32", "tensor")) {
      Cli result =
          convert("--dtype", "f8_e4m3", "--scaling", scaling, "--include", "weight", "--force");
      assertEquals(0, result.code(), result.err());
      QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.parse(scaling));
      assertConverted(QuantizedLayout.PLAIN, source, spec);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, tensor, float-quantized, tensor",
    "f8_e4m3, rows, float-quantized, channel",
    "f8_e4m3, 128x128, float-quantized, block",
    "f8_e4m3, mx, mxfp8-quantized, group",
    "f4_e2m1, mx, mxfp4-pack-quantized, group",
    "f4_e2m1, nvfp4, nvfp4-pack-quantized, tensor_group",
    "i8, rows, int-quantized, channel",
  })
  void compressedTensorsReadBackAsTheyWereQuantized(
      String dtype, String scaling, String format, String strategy) throws IOException {
    HostTensor source = TestFiles.weights(DType.F32, 6, 600, 544);
    HostTensor embedding = TestFiles.weights(DType.F32, 7, 10, 8);
    TestFiles.safetensors(
        in(), TestFiles.named("a.weight", source, "embed_tokens.weight", embedding));

    Cli result = convert("--dtype", dtype, "--scaling", scaling, "--layout", "compressed-tensors");

    assertEquals(0, result.code(), result.err());
    QuantSpec spec = QuantSpec.of(DType.parse(dtype)).scaling(Scaling.parse(scaling));
    assertConverted(QuantizedLayout.COMPRESSED_TENSORS, source, spec);
    JsonNode config =
        new JsonMapper()
            .readTree(Files.readString(directory.resolve("out.quantization_config.json")))
            .get("quantization_config");
    assertEquals("compressed-tensors", config.get("quant_method").asString());
    assertEquals(format, config.get("format").asString());
    assertEquals("embed_tokens", config.get("ignore").get(0).asString());
    JsonNode weights = config.get("config_groups").get("group_0").get("weights");
    assertEquals(strategy, weights.get("strategy").asString());
    assertEquals(DType.parse(dtype).bits(), weights.get("num_bits").asInt());
  }

  @Test
  void deepSeekReadsBackAsItWasQuantized() throws IOException {
    HostTensor source = TestFiles.weights(DType.F32, 8, 700, 500);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    Cli result = convert("--dtype", "f8_e4m3", "--layout", "deepseek-fp8");

    assertEquals(0, result.code(), result.err());
    QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(128, 128));
    assertConverted(QuantizedLayout.DEEPSEEK_FP8, source, spec);
    try (TensorFile file = TensorFiles.open(out())) {
      assertEquals(StorageType.F32, file.info("a.weight_scale_inv").type());
      assertEquals(Shape.of(6, 4), file.info("a.weight_scale_inv").shape());
    }
    String config = Files.readString(directory.resolve("out.quantization_config.json"));
    assertTrue(config.contains("weight_block_size"), config);
  }

  @Test
  void onlyLinearWeightsAreConvertedUnlessAskedOtherwise() {
    HostTensor matrix = TestFiles.weights(DType.F32, 9, 16, 32);
    HostTensor vector = TestFiles.weights(DType.F32, 10, 32);
    TestFiles.safetensors(
        in(),
        TestFiles.named(
            "model.embed_tokens.weight", matrix,
            "model.layers.0.q_proj.weight", matrix,
            "model.layers.0.q_proj.bias", vector,
            "model.layers.0.input_layernorm.weight", vector,
            "model.layers.0.mlp.gate_proj.weight", matrix,
            "model.layers.0.mlp.gate.weight", matrix,
            "lm_head.weight", matrix));

    assertEquals(0, convert("--dtype", "f8_e4m3").code());
    try (TensorFile file = TensorFiles.open(out())) {
      List<String> converted =
          file.tensors().stream()
              .filter(info -> info.type() == StorageType.F8_E4M3)
              .map(info -> info.name())
              .sorted()
              .toList();
      assertEquals(
          List.of("model.layers.0.mlp.gate_proj.weight", "model.layers.0.q_proj.weight"),
          converted);
      assertEquals(-1, file.data("lm_head.weight").mismatch(matrix.data()));
      assertEquals(-1, file.data("model.layers.0.q_proj.bias").mismatch(vector.data()));
    }

    Cli result =
        convert("--dtype", "f8_e4m3", "--include", "lm_head|proj", "--exclude", "q_", "--force");
    assertEquals(0, result.code(), result.err());
    try (TensorFile file = TensorFiles.open(out())) {
      assertEquals(StorageType.F8_E4M3, file.info("lm_head.weight").type());
      assertEquals(StorageType.F32, file.info("model.layers.0.q_proj.weight").type());
      assertEquals(StorageType.F8_E4M3, file.info("model.layers.0.mlp.gate_proj.weight").type());
    }
  }

  @Test
  void onnxWeightsAreTurnedAndNamedAfterTheirBias() throws IOException {
    HostTensor weight = TestFiles.weights(DType.F32, 11, 48, 70);
    HostTensor gemm = TestFiles.weights(DType.F32, 12, 20, 70);
    HostTensor bias = TestFiles.weights(DType.F32, 13, 70);
    HostTensor small = TestFiles.weights(DType.F32, 14, 20);
    HostTensor table = TestFiles.weights(DType.F32, 15, 30, 48);
    Path model =
        TestFiles.onnx(
            directory.resolve("model.onnx"),
            TestFiles.named(
                "onnx::MatMul_17", weight,
                "layer.query.bias", bias,
                "head.weight", gemm,
                "head.bias", small,
                "embeddings.weight", table),
            List.of(
                new TestFiles.Node("Gather", List.of("embeddings.weight", "ids"), "x", false),
                new TestFiles.Node("MatMul", List.of("x", "onnx::MatMul_17"), "m", false),
                new TestFiles.Node("Add", List.of("layer.query.bias", "m"), "q", false),
                new TestFiles.Node("Gemm", List.of("q", "head.weight", "head.bias"), "y", true)));

    Cli result = Cli.run("convert", model.toString(), out().toString(), "--dtype", "f8_e4m3");

    assertEquals(0, result.code(), result.err());
    try (TensorFile file = TensorFiles.open(out())) {
      HostTensor turned =
          HostTensor.allocate(Arena.ofAuto(), DType.F32, Shape.of(70, 48), Scaling.none());
      for (int i = 0; i < 48; i++) {
        for (int j = 0; j < 70; j++) {
          PackedElements.set(DType.F32, turned.data(), j * 48L + i, weight.code(i * 70L + j));
        }
      }
      QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
      assertSame(
          BlockQuantizer.quantize(Arena.ofAuto(), turned, spec),
          QuantizedLayout.PLAIN.read(file, "layer.query.weight").tensor());
      assertSame(
          BlockQuantizer.quantize(Arena.ofAuto(), gemm, spec),
          QuantizedLayout.PLAIN.read(file, "head.weight").tensor());
      assertEquals(-1, file.data("embeddings.weight").mismatch(table.data()));
      assertTrue(file.find("onnx::MatMul_17").isEmpty());
    }
  }

  @Test
  void printsWhatConversionCosts() {
    HostTensor source = TestFiles.weights(DType.F32, 16, 64, 64);
    PackedElements.set(DType.F32, source.data(), 5, Codec.encode(DType.F32, 1000));
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    JsonNode json = convert("--dtype", "f8_e4m3", "--scaling", "none", "--json").json();

    JsonNode row = json.get("tensors").get(0);
    HostTensor after =
        BlockQuantizer.quantize(
            Arena.ofAuto(), source, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.none()));
    double signal = 0;
    double noise = 0;
    long flushed = 0;
    for (int i = 0; i < 4096; i++) {
      double d = (double) source.get(i) - after.get(i);
      signal += (double) source.get(i) * source.get(i);
      noise += d * d;
      flushed += source.get(i) != 0 && after.get(i) == 0 ? 1 : 0;
    }
    assertEquals(10 * Math.log10(signal / noise), row.get("sqnr").asDouble(), 1e-9);
    assertEquals(552, row.get("maxError").asDouble());
    assertEquals(100.0 / 4096, row.get("saturated").asDouble(), 1e-12);
    assertEquals(100.0 * flushed / 4096, row.get("flushed").asDouble(), 1e-12);
    assertTrue(flushed > 0);
  }

  @Test
  void aNaNIsReportedAndKeptToItsBlock() {
    HostTensor source = TestFiles.weights(DType.F32, 17, 4, 64);
    PackedElements.set(DType.F32, source.data(), 70, 0x7FC00000);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    Cli result = convert("--dtype", "mxfp8");

    assertEquals(0, result.code());
    assertTrue(result.err().contains("a.weight"), result.err());
    assertTrue(
        result.err().contains("1 value is NaN or infinite, and 31 others share a scale with it"),
        result.err());
  }

  @Test
  void anOutputIsReplacedOnlyWithForceEvenByItself() {
    HostTensor source = TestFiles.weights(DType.F32, 18, 32, 64);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));
    String path = in().toString();

    Cli refused = Cli.run("convert", path, path, "--dtype", "f8_e4m3");
    assertEquals(1, refused.code());
    assertTrue(refused.err().contains("--force"), refused.err());

    Cli replaced = Cli.run("convert", path, path, "--dtype", "f8_e4m3", "--force");
    assertEquals(0, replaced.code(), replaced.err());
    try (TensorFile file = TensorFiles.open(in())) {
      QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
      assertSame(
          BlockQuantizer.quantize(Arena.ofAuto(), source, spec),
          QuantizedLayout.PLAIN.read(file, "a.weight").tensor());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "nvfp4, compressed-tensors, 40, no multiple of 16",
    "mxfp4, compressed-tensors, 48, no multiple of 32",
    "mxfp4, plain, 33, whole bytes",
    "i4, plain, 33, odd number of columns",
  })
  void whatALayoutCantHoldNamesFileAndTensorAndLeavesNothing(
      String dtype, String layout, int columns, String reason) throws IOException {
    TestFiles.safetensors(
        in(), TestFiles.named("a.weight", TestFiles.weights(DType.F32, 19, 3, columns)));

    Cli result = convert("--dtype", dtype, "--layout", layout);

    assertEquals(1, result.code());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(result.err().contains(in().toString()), result.err());
    assertTrue(result.err().contains(reason), result.err());
    assertEquals(List.of("in.safetensors"), files());
  }

  @Test
  void aNameThatIsTakenFailsAndLeavesNothing() throws IOException {
    HostTensor source = TestFiles.weights(DType.F32, 20, 8, 32);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source, "a.weight.scales", source));

    Cli result = convert("--dtype", "f8_e4m3");

    assertEquals(1, result.code());
    assertTrue(result.err().contains("a.weight.scales"), result.err());
    assertEquals(List.of("in.safetensors"), files());
  }

  @Test
  void aDamagedFileFailsWithItsName() throws IOException {
    Files.write(in(), new byte[] {1, 2, 3});

    Cli result = convert("--dtype", "f8_e4m3");

    assertEquals(1, result.code());
    assertTrue(result.err().contains("in.safetensors"), result.err());
    assertEquals(List.of("in.safetensors"), files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--dtype=f9",
        "--dtype=f8_e8m0",
        "--dtype=f8_e4m3 --scaling=diagonal",
        "--dtype=f16 --scaling=rows",
        "--dtype=nvfp4 --scaling=rows",
        "--dtype=f8_e4m3 --include=(",
        "--dtype=f8_e4m3 --rounding=up",
        "--dtype=f8_e4m3 --rounding=stochastic:x",
        "--dtype=f8_e4m3 --layout=gguf",
        "--dtype=f8_e4m3 --backend=abacus",
        "--scaling=rows",
        "--dtype=f16 --layout=deepseek-fp8",
        "--dtype=mxfp8 --mx-rule=ROUND",
        "--dtype=f8_e4m3 --mx-rule=CEIL",
        "--dtype=nvfp4 --mx-rule=FLOOR",
      })
  void wrongOptionsAreWrongUsage(String options) throws IOException {
    TestFiles.safetensors(
        in(), TestFiles.named("a.weight", TestFiles.weights(DType.F32, 21, 4, 32)));

    Cli result = convert(options.split(" ", -1));

    assertEquals(2, result.code(), Arrays.toString(options.split(" ", -1)) + result.err());
    assertEquals(1, result.err().lines().count(), result.err());
    assertEquals(List.of("in.safetensors"), files());
  }

  @Test
  void nothingToConvertIsAFailure() throws IOException {
    TestFiles.safetensors(
        in(), TestFiles.named("embed.weight", TestFiles.weights(DType.F32, 22, 4, 32)));

    Cli result = convert("--dtype", "f8_e4m3");

    assertEquals(1, result.code());
    assertTrue(result.err().contains("--include"), result.err());
    assertFalse(Files.exists(out()));
  }

  @Test
  void emptyTensorsAreConverted() {
    HostTensor source = TestFiles.weights(DType.F32, 23, 0, 32);
    TestFiles.safetensors(in(), TestFiles.named("a.weight", source));

    for (String dtype : List.of("f8_e4m3", "nvfp4", "f16")) {
      Cli result = convert("--dtype", dtype, "--force");
      assertEquals(0, result.code(), result.err());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "f16, compressed-tensors, , 'not F16 scaled by none'",
    "f16, deepseek-fp8, , 'not F16 scaled by none'",
    "f8_e5m2, deepseek-fp8, , 'not F8_E5M2 scaled by block(128,128)'",
    "f8_e4m3, deepseek-fp8, rows, 'not F8_E4M3 scaled by rows'",
    "mxfp6, compressed-tensors, , 'not F6_E2M3 scaled by mx'",
    "f8_e4m3, compressed-tensors, columns, 'not F8_E4M3 scaled by columns'",
    "f16, plain, rows, 'F16 has no scaling'",
    "nvfp4, plain, rows, 'nvfp4 is scaled by nvfp4, not rows'",
    "f8_e4m3, plain, nvfp4, 'F8_E4M3 has no scaling'",
  })
  void optionsThatDontGoTogetherAreWrongUsageBeforeTheFileIsRead(
      String dtype, String layout, String scaling, String reason) throws IOException {
    Cli result =
        scaling == null
            ? convert("--dtype", dtype, "--layout", layout)
            : convert("--dtype", dtype, "--layout", layout, "--scaling", scaling);

    assertEquals(2, result.code(), result.err());
    assertEquals(1, result.err().lines().count(), result.err());
    String options = "--dtype " + dtype + (scaling == null ? "" : " --scaling " + scaling);
    assertTrue(result.err().startsWith("minifloat convert: " + options), result.err());
    assertEquals(!layout.equals("plain"), result.err().contains("--layout " + layout + ":"));
    assertTrue(result.err().contains(reason), result.err());
    assertFalse(result.err().contains("in.safetensors"), result.err());
    assertEquals(List.of(), files());
  }

  @ParameterizedTest
  @ValueSource(strings = {"out.onnx", "out", "safetensors", "out.safetensors.bak", "/"})
  void anOutputOfAnotherKindIsWrongUsage(String name) throws IOException {
    Cli result =
        Cli.run(
            "convert", in().toString(), directory.resolve(name).toString(), "--dtype", "f8_e4m3");

    assertEquals(2, result.code(), result.err());
    assertTrue(result.err().startsWith("minifloat convert: OUT: "), result.err());
    assertTrue(result.err().contains("doesn't end in .safetensors"), result.err());
    assertEquals(List.of(), files());
  }

  @Test
  void anOutputThatCantBeWrittenFailsBeforeTheFileIsRead() throws IOException {
    Path folder = Files.createDirectory(directory.resolve("folder.safetensors"));
    Cli directory = Cli.run("convert", "none", folder.toString(), "--dtype", "f8_e4m3");
    Path lost = this.directory.resolve("none").resolve("out.safetensors");
    Cli missing = Cli.run("convert", "none", lost.toString(), "--dtype", "f8_e4m3");

    assertEquals(1, directory.code());
    assertTrue(directory.err().contains(folder + " is a directory"), directory.err());
    assertEquals(1, missing.code());
    assertTrue(missing.err().contains("there is no directory " + lost.getParent()), missing.err());
  }

  @Test
  void aSmallFileHasASizeThatSaysSomething() throws IOException {
    TestFiles.safetensors(
        in(), TestFiles.named("a.weight", TestFiles.weights(DType.F32, 24, 4, 32)));

    Cli result = convert("--dtype", "f8_e4m3");

    assertTrue(
        result.out().contains(out() + ": " + ByteSize.text(Files.size(out())) + ", "),
        result.out());
    assertTrue(Files.size(out()) < 1000);
  }
}
