package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.bench.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchCommandTest {
  @TempDir Path folder;

  private static void assertUsage(Cli result, String message) {
    assertEquals(2, result.code(), result.err());
    assertTrue(result.err().contains(message), result.err());
  }

  @Test
  void wrongOptionsAreNamed() {
    assertUsage(Cli.run("bench", "cpu", "--fast"), "--fast");
    assertUsage(Cli.run("bench"), "say what to measure: cpu");
    assertUsage(Cli.run("bench", "gpu"), "gpu");
    assertUsage(Cli.run("bench", "cpu", "--threads", "0"), "--threads: 0");
    assertUsage(Cli.run("bench", "cpu", "--vector-bits", "192"), "--vector-bits: 192");
    assertUsage(Cli.run("bench", "cpu", "--quick", "--vector-bits", "256"), "--quick");
  }

  @Test
  void aFolderWithoutTheBenchmarksIsNamed() {
    Cli missing = Cli.run("bench", "cpu", "--bench", folder.resolve("none").toString());
    assertEquals(1, missing.code());
    assertTrue(missing.err().contains("no folder"), missing.err());
    Cli empty = Cli.run("bench", "cpu", "--bench", folder.toString());
    assertEquals(1, empty.code());
    assertTrue(empty.err().contains("minifloat-bench-*.jar"), empty.err());
    assertTrue(empty.err().contains("mvn package"), empty.err());
  }

  @Test
  void whatCanNotBeWrittenIsRefusedBeforeTheRun() {
    for (String option : List.of("--json", "--report", "--markdown")) {
      Path file = folder.resolve("none").resolve("file");
      Cli result = Cli.run("bench", "cpu", option, file.toString(), "--bench", folder.toString());
      assertEquals(1, result.code());
      assertTrue(result.err().contains("there is no directory"), result.err());
    }
  }

  @Test
  void aFolderThatIsNotWritableIsRefusedBeforeTheRun() throws IOException {
    Path locked = Files.createDirectory(folder.resolve("locked"));
    assertTrue(locked.toFile().setWritable(false));
    String json = locked.resolve("x").toString();
    String none = folder.resolve("none").toString();
    Cli result = Cli.run("bench", "cpu", "--quick", "--json", json, "--bench", none);
    assertEquals(1, result.code());
    // Who may write anywhere, as root may, comes to the next check.
    String expected = Files.isWritable(locked) ? "no folder" : "not writable";
    assertTrue(result.err().contains(expected), result.err());
  }

  @Test
  void optionsAndExitStatusArePassedOn() throws IOException {
    Path dist = fakeBenchmarks();
    Path json = folder.resolve("out.json");
    Cli result =
        Cli.run(
            "bench",
            "cpu",
            "--quick",
            "--only",
            "dot,gemv",
            "--threads",
            "3",
            "--json",
            json.toString(),
            "--bench",
            dist.toString(),
            "--peers",
            folder.resolve("peers").toString());
    assertEquals(Main.CODE, result.code(), result.err());
    List<String> seen = Files.readAllLines(json);
    assertEquals(
        List.of("cpu", "--quick", "--only", "dot,gemv", "--threads", "3", "--json"),
        seen.subList(0, 7));
    assertTrue(seen.contains("vectors: true"), seen.toString());
    assertTrue(seen.contains("peers: " + folder.resolve("peers")), seen.toString());
  }

  @Test
  void variablesThatSteerPeersAreKeptFromThem() {
    assertTrue(BenchCommand.Cpu.steers("OPENBLAS_CORETYPE"));
    assertTrue(BenchCommand.Cpu.steers("OMP_NUM_THREADS"));
    assertFalse(BenchCommand.Cpu.steers("PATH"));
  }

  /** A folder with a jar whose main class is the one of this module's tests. */
  private Path fakeBenchmarks() throws IOException {
    Path dist = Files.createDirectory(folder.resolve("dist"));
    String entry = "dev/minifloat/bench/Main.class";
    try (OutputStream out = Files.newOutputStream(dist.resolve("minifloat-bench-1.jar"));
        JarOutputStream jar = new JarOutputStream(out);
        InputStream main = Main.class.getResourceAsStream("/" + entry)) {
      jar.putNextEntry(new JarEntry(entry));
      main.transferTo(jar);
      jar.closeEntry();
    }
    return dist;
  }
}
