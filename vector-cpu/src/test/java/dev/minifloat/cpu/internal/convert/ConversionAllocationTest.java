package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cpu.internal.runtime.Species;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversions that are compiled allocate nothing. */
@Tag("allocation")
class ConversionAllocationTest {
  /**
   * A method that is compiled before a loop that calls it may not be inlined there any more; so all
   * calls in one order, and at the same time, in another JVM, in the opposite one.
   */
  @Test
  void allocateNothingInEitherOrder(@TempDir Path folder) throws Exception {
    List<Path> outputs = List.of(folder.resolve("listed"), folder.resolve("reversed"));
    List<Process> processes = new ArrayList<>();
    for (Path output : outputs) {
      processes.add(start(output));
    }
    for (int i = 0; i < outputs.size(); i++) {
      int status = processes.get(i).waitFor();
      String output = Files.readString(outputs.get(i));
      assertEquals(0, status, output);
      assertTrue(output.lines().anyMatch(line -> line.startsWith("calls: ")), output);
      assertTrue(output.lines().noneMatch(line -> line.startsWith("turn ")), output);
    }
  }

  /** Starts {@link ConversionAllocation}; the file's name is its argument. */
  private static Process start(Path output) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:MaxVectorSize=" + Species.BITS / 8, "-XX:-BackgroundCompilation"));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(ConversionAllocation.class.getName(), output.getFileName().toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }
}
