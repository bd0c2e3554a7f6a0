package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorFiles;
import dev.minifloat.formats.layout.QuantizedLayout;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class InspectCommandTest {
  @TempDir Path directory;

  private Path file(Object... namesAndTensors) {
    return TestFiles.safetensors(
        directory.resolve("in.safetensors"), TestFiles.named(namesAndTensors));
  }

  @Test
  void summaryHasARowForEachTensor() {
    Path path =
        file(
            "a.weight", TestFiles.weights(DType.F32, 1, 30, 70),
            "b.weight", TestFiles.weights(DType.BF16, 2, 5),
            "ids", HostTensor.of(new int[] {1, -7, 0}, 3));

    Cli text = Cli.run("inspect", path.toString());
    JsonNode json = Cli.run("inspect", path.toString(), "--json").json();

    assertEquals(0, text.code(), text.err());
    assertEquals(5, text.out().lines().count(), text.out());
    assertEquals(3, json.size());
    for (JsonNode row : json) {
      if (row.get("name").asString().equals("ids")) {
        assertEquals("I32", row.get("dtype").asString());
        assertEquals(7, row.get("amax").asDouble());
        assertEquals(-2, row.get("mean").asDouble());
        assertTrue(row.get("sqnr NVFP4").isNull());
      }
      if (row.get("name").asString().equals("b.weight")) {
        assertEquals("exact", row.get("sqnr BF16").asString());
      }
    }
  }

  @Test
  void detailMeasuresWhatQuantizationDoes() {
    HostTensor source = TestFiles.weights(DType.F32, 3, 40, 160);
    Path path = file("a.weight", source);

    JsonNode json = Cli.run("inspect", path.toString(), "--tensor", "a.weight", "--json").json();

    for (JsonNode row : json.get("formats")) {
      DType dtype = DType.parse(row.get("format").asString());
      Scaling scaling = Scaling.parse(row.get("scaling").asString());
      HostTensor after =
          BlockQuantizer.quantize(Arena.ofAuto(), source, QuantSpec.of(dtype).scaling(scaling));
      double signal = 0;
      double noise = 0;
      long zeros = 0;
      for (long i = 0; i < source.shape().elements(); i++) {
        double d = (double) source.get(i) - after.get(i);
        signal += (double) source.get(i) * source.get(i);
        noise += d * d;
        zeros += after.get(i) == 0 ? 1 : 0;
      }
      String name = dtype + " " + scaling;
      assertEquals(10 * Math.log10(signal / noise), row.get("sqnr").asDouble(), 1e-6, name);
      assertEquals(
          100.0 * zeros / source.shape().elements(), row.get("zeroPercent").asDouble(), 1e-9, name);
    }
    assertEquals(15, json.get("formats").size());
  }

  @Test
  void findsTheWorstBlock() {
    HostTensor source = TestFiles.weights(DType.F32, 4, 8, 64);
    // One outlier makes the rest of its MX block coarse.
    PackedElements.set(DType.F32, source.data(), 5 * 64 + 40, Float.floatToIntBits(0.02f));
    for (int i = 32; i < 64; i++) {
      float value = i == 40 ? 7.99f : 1.49f;
      PackedElements.set(DType.F32, source.data(), 5 * 64 + i, Float.floatToIntBits(value));
    }
    Path path = file("a.weight", source);

    Cli result = Cli.run("inspect", path.toString(), "--tensor", "a.weight");

    assertEquals(0, result.code(), result.err());
    assertTrue(
        result
            .out()
            .lines()
            .anyMatch(
                line -> line.startsWith("F4_E2M1  mx") && line.contains("  row 5, columns 32-63")),
        result.out());
  }

  @Test
  void findsTheFirstNaN() {
    HostTensor source = TestFiles.weights(DType.F32, 5, 10, 64);
    PackedElements.set(DType.F32, source.data(), 321, 0xFF800000);
    PackedElements.set(DType.F32, source.data(), 400, 0x7FC00000);
    Path path = file("a.weight", source);

    JsonNode json = Cli.run("inspect", path.toString(), "--tensor", "a.weight", "--json").json();

    assertEquals(1, json.get("nans").asInt());
    assertEquals(1, json.get("infinities").asInt());
    assertEquals(321, json.get("firstNotFinite").asInt());
  }

  @Test
  void anUnknownTensorIsWrongUsageWithAHint() {
    Path path = file("a.weight", TestFiles.weights(DType.F32, 6, 4, 4));

    Cli result = Cli.run("inspect", path.toString(), "--tensor", "weight");

    assertEquals(2, result.code());
    assertTrue(result.err().startsWith("minifloat inspect: --tensor: " + path), result.err());
    assertTrue(result.err().contains("a.weight"), result.err());
  }

  @Test
  void aMissingFileIsAFailureThatNamesIt() {
    Cli result = Cli.run("inspect", directory.resolve("none.safetensors").toString());

    assertEquals(1, result.code());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(result.err().contains("none.safetensors"), result.err());
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, rows, plain, .scales",
    "i4, tensor, plain, .scales",
    "nvfp4, , plain, .global_scale",
    "f8_e4m3, 128x128, compressed-tensors, _scale",
    "mxfp8, , compressed-tensors, _scale",
    "nvfp4, , compressed-tensors, _global_scale",
    "f8_e4m3, , deepseek-fp8, _scale_inv",
  })
  void quantizedTensorsAreShownOnceWithTheirValues(
      String dtype, String scaling, String layout, String scales) {
    HostTensor source = TestFiles.weights(DType.F32, 7, 40, 160);
    HostTensor other = TestFiles.weights(DType.F32, 8, 5);
    Path path = file("a.weight", source, "a.bias", other);
    Path out = directory.resolve("out.safetensors");
    List<String> line = new ArrayList<>(List.of("convert", path.toString(), out.toString()));
    line.addAll(List.of("--dtype", dtype, "--layout", layout));
    if (scaling != null) {
      line.addAll(List.of("--scaling", scaling));
    }
    assertEquals(0, Cli.run(line.toArray(String[]::new)).code());
    HostTensor values;
    double amax = 0;
    double sum = 0;
    try (TensorFile file = TensorFiles.open(out)) {
      values = QuantizedLayout.parse(layout).read(file, "a.weight").tensor();
      for (float value : values.toFloats()) {
        amax = Math.max(amax, Math.abs(value));
        sum += value;
      }
    }

    JsonNode all = Cli.run("inspect", out.toString(), "--json").json();
    JsonNode one = Cli.run("inspect", out.toString(), "--tensor", "a.weight", "--json").json();
    JsonNode raw = Cli.run("inspect", out.toString(), "--raw", "--json").json();
    Cli text = Cli.run("inspect", out.toString());

    assertEquals(2, all.size(), all.toString());
    JsonNode row = all.get(0).get("name").asString().equals("a.weight") ? all.get(0) : all.get(1);
    for (JsonNode found : List.of(row, one)) {
      assertEquals("a.weight", found.get("name").asString());
      assertEquals(values.dtype().name(), found.get("dtype").asString());
      assertEquals(values.scaling().toString(), found.get("scaling").asString());
      assertEquals(amax, found.get("amax").asDouble());
      assertEquals(sum / 6400, found.get("mean").asDouble(), 1e-12);
    }
    assertEquals("[40, 160]", row.get("shape").asString());
    assertTrue(raw.size() > 2, raw.toString());
    assertTrue(raw.toString().contains("\"a.weight" + scales + "\""), raw.toString());
    assertTrue(text.out().contains("--raw"), text.out());
    assertEquals("", text.err());
    assertEquals(0, Cli.run("inspect", out.toString(), "--tensor", "a.weight" + scales).code());
  }

  @Test
  void whatDoesNotFitTogetherIsShownAsStored() {
    Path path =
        file(
            "a.weight", TestFiles.weights(DType.F8_E4M3, 9, 4, 32),
            "a.weight_scale", TestFiles.weights(DType.F32, 10, 3));

    Cli result = Cli.run("inspect", path.toString());

    assertEquals(0, result.code(), result.err());
    assertTrue(
        result.err().startsWith("warning: tensor \"a.weight\" is shown as stored"), result.err());
    assertTrue(result.out().contains("a.weight_scale"), result.out());
  }
}
