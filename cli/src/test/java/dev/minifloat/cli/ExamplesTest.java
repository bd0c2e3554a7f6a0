package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs in the folder {@code examples}, which the README shows, run from their source. */
class ExamplesTest {
  @TempDir Path directory;

  private String run(String example) throws IOException, InterruptedException {
    Path log = directory.resolve("log");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dorg.slf4j.simpleLogger.log.dev.minifloat.cuda=debug",
                    Path.of("..", "examples", example).toString()))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    int code = process.waitFor();
    String out = Files.readString(log);
    assertEquals(0, code, out);
    return out;
  }

  @Test
  void oneGemmTakesTheKernelAndTheFragmentsThatTheReadmeCounts() throws Exception {
    String out = run("OneGemm.java");

    assertTrue(out.contains("gemm_f8_native_e4m3_e4m3 multiplies F8_E4M3 [100, 256]"), out);
    assertTrue(out.contains("kernel: gemm_f8_native_e4m3_e4m3\n"), out);
    assertTrue(out.contains("MATRIX_LOAD=288"), out);
    assertTrue(out.contains("mma.sync: 768\n"), out);
    assertTrue(out.contains("bank conflicts: 12\n"), out);
    String difference =
        out.replaceAll("(?s).*largest difference from the reference: (\\S+).*", "$1");
    // Elements are below 128, so a rounding to F32 changes them by 2^-18 at most: 8 of these.
    assertTrue(Double.parseDouble(difference) <= 0x1p-15, out);
  }
}
