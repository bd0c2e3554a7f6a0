package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Runs the seeds and the findings of the fuzz tests (Maven profile {@code fuzz}) once more. */
class FuzzRegressionTest {
  private static final Path INPUTS = Path.of("src/test/resources/dev/minifloat/formats");

  /** Parser buffers and small objects. */
  private static final long SLACK = 256 << 10;

  @TestFactory
  Stream<DynamicTest> safetensors() throws IOException {
    return inputs("SafetensorsFuzz", FuzzTargets::safetensors);
  }

  @TestFactory
  Stream<DynamicTest> shardIndex() throws IOException {
    return inputs("ShardIndexFuzz", FuzzTargets::shardIndex);
  }

  @TestFactory
  Stream<DynamicTest> onnx() throws IOException {
    return inputs("OnnxFuzz", FuzzTargets::onnx);
  }

  private static Stream<DynamicTest> inputs(String fuzzTest, FuzzTargets.Target target)
      throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.list(INPUTS.resolve(fuzzTest + "Inputs").resolve("fuzz"))) {
      files = found.sorted().toList();
    }
    assertTrue(!files.isEmpty(), fuzzTest + " has no inputs");
    return files.stream()
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.getFileName().toString(),
                    () -> FuzzTargets.withinMemory(target, Files.readAllBytes(file), SLACK)));
  }
}
