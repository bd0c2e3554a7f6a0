package dev.minifloat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The example of README.md compiles, runs, and is the text in this file. */
class ReadmeTest {
  private static float[] example(float[] weights, float[] tokens) {
    // README begins
    try (Backend backend = Backends.best();
        Scope scope = backend.scope()) {
      Tensor w =
          scope.quantize(
              scope.upload(HostTensor.of(weights, 512, 1024)),
              QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(128, 128)));
      Tensor x = scope.convert(scope.upload(HostTensor.of(tokens, 8, 1024)), DType.BF16);
      Tensor y = scope.gemm(Gemm.of(x, w.transposed()).activation(Activation.GELU_TANH));
      return scope.download(y).toFloats();
    }
    // README ends
  }

  @Test
  void exampleComputesWhatItSays() {
    float[] weights = new float[512 * 1024];
    Arrays.fill(weights, 0.5f);
    float[] tokens = new float[8 * 1024];
    Arrays.fill(tokens, 0.25f);
    float[] y = example(weights, tokens);
    assertEquals(8 * 512, y.length);
    // 1024 · ½ · ¼, where GELU is the identity. Each weight is its block's amax: 448 times a scale
    // that is rounded, as is the result.
    assertEquals(128f, y[0], 128 * 0x1p-22);
  }

  @Test
  void exampleIsTheTextOfTheReadme() throws IOException {
    Path base = Path.of(System.getProperty("basedir", ""));
    List<String> source =
        Files.readAllLines(base.resolve("src/test/java/dev/minifloat/ReadmeTest.java"));
    List<String> trimmed = source.stream().map(String::strip).toList();
    List<String> snippet =
        source
            .subList(trimmed.indexOf("// README begins") + 1, trimmed.indexOf("// README ends"))
            .stream()
            .map(line -> line.substring(4))
            .toList();
    String readme = Files.readString(base.resolve("../README.md"));
    String block = "```java\n" + String.join("\n", snippet) + "\n```";
    assertTrue(readme.contains(block), () -> "README.md lacks\n" + block);
  }
}
