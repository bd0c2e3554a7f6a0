package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The simulated device of README.md compiles, runs, and is the text in this file. */
class ReadmeTest {
  private static float example() {
    // README begins
    try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_89");
        Backend backend = CudaBackend.on("sim", driver.lookup(), 0);
        Scope scope = backend.scope()) {
      Tensor x = scope.upload(HostTensor.of(new float[] {1, 2, 3}));
      return scope.dot(x, x);
    }
    // README ends
  }

  @Test
  void exampleComputesWhatItSays() {
    assertEquals(14f, example());
  }

  @Test
  void exampleIsTheTextOfTheReadme() throws IOException {
    Path base = Path.of(System.getProperty("basedir", ""));
    List<String> source =
        Files.readAllLines(base.resolve("src/test/java/dev/minifloat/cuda/ReadmeTest.java"));
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
