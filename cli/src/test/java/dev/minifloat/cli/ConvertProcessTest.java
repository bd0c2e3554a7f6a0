package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Shape;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversions in a JVM of their own: one with little memory, one that is told to end. */
class ConvertProcessTest {
  private static final long ROWS = 50_000;
  private static final long COLUMNS = 1000;

  @TempDir Path directory;

  /** 200 MB of zeros in one tensor, of which the file system stores nothing. */
  private Path sparse() throws IOException {
    long bytes = ROWS * COLUMNS * 4;
    String header =
        "{\"a.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]}}"
            .formatted(ROWS, COLUMNS, bytes);
    header += " ".repeat((8 - header.length() % 8) % 8);
    Path path = directory.resolve("in.safetensors");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.writeLong(Long.reverseBytes(header.length()));
      file.write(header.getBytes(StandardCharsets.US_ASCII));
      file.setLength(8 + header.length() + bytes);
    }
    return path;
  }

  private Process start(String heap, String... arguments) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of(heap, "--add-modules", "jdk.incubator.vector"));
    line.addAll(List.of("--enable-native-access=ALL-UNNAMED"));
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    line.addAll(List.of(arguments));
    return new ProcessBuilder(line)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("log").toFile())
        .start();
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aTensorLargerThanTheHeapIsConverted() throws Exception {
    Path in = sparse();
    Path out = directory.resolve("out.safetensors");

    Process process =
        start("-Xmx48m", "convert", in.toString(), out.toString(), "--dtype", "f8_e4m3");

    assertEquals(0, process.waitFor(), Files.readString(directory.resolve("log")));
    try (TensorFile file = TensorFiles.open(out)) {
      assertEquals(StorageType.F8_E4M3, file.info("a.weight").type());
      assertEquals(Shape.of(ROWS, COLUMNS), file.info("a.weight").shape());
      assertEquals(1.0, StorageType.F32.decode(file.data("a.weight.scales"), ROWS - 1));
    }
  }

  @Test
  void aConversionToldToEndLeavesNothing() throws Exception {
    Path in = sparse();
    Path out = directory.resolve("out.safetensors");
    try (WatchService watch = directory.getFileSystem().newWatchService()) {
      directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      Process process =
          start(
              "-Xmx256m",
              "convert",
              in.toString(),
              out.toString(),
              "--dtype",
              "f8_e4m3",
              "--rounding",
              "stochastic",
              "--backend",
              "reference");
      awaitTemporary(watch);
      process.destroy();

      assertTrue(process.waitFor() != 0, Files.readString(directory.resolve("log")));
      assertEquals(List.of("in.safetensors", "log"), files());
    }
  }

  private static void awaitTemporary(WatchService watch) throws InterruptedException {
    while (true) {
      WatchKey key = watch.take();
      for (WatchEvent<?> event : key.pollEvents()) {
        if (event.context().toString().endsWith(".tmp")) {
          return;
        }
      }
      key.reset();
    }
  }
}
