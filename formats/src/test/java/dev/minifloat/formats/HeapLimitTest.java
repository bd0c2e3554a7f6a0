package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of nothing but description, the densest that their formats allow, opened by a JVM whose
 * heap is twice the file and a constant.
 */
class HeapLimitTest {
  private static final long MEBI = 1 << 20;

  @TempDir private Path directory;

  /** Opens the file that its argument names, and says how that went. */
  static final class Opener {
    private Opener() {}

    public static void main(String[] arguments) {
      try (TensorFile file = TensorFiles.open(Path.of(arguments[0]))) {
        System.out.println(file.tensors().size() + " tensors");
      } catch (MinifloatException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  /** What {@link Opener} says of a file. */
  private String open(Path file, long spare) throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx" + (2 * Files.size(file) + spare),
                "-cp",
                System.getProperty("java.class.path"),
                Opener.class.getName(),
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int status = process.waitFor();
    String said = Files.readString(output);
    assertEquals(0, status, said);
    return said;
  }

  @Test
  void aHeaderOfManyEmptyTensors() throws IOException, InterruptedException {
    int count = 250_000;
    StringBuilder header = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      header
          .append(i == 0 ? "\"" : ",\"")
          .append(Integer.toString(i, 36))
          .append("\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
    }
    Path path = directory.resolve("dense.safetensors");
    Files.write(path, Bytes.safetensors(header.append('}').toString(), 0));
    String said = open(path, 24 * MEBI);
    assertTrue(said.contains(count + " tensors"), said);
  }

  @Test
  void metadataOfOneLongText() throws IOException, InterruptedException {
    Path path = directory.resolve("text.safetensors");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      byte[] text = new byte[9_900_000];
      Arrays.fill(text, (byte) 'x');
      byte[] start = "{\"__metadata__\":{\"a\":\"".getBytes(StandardCharsets.US_ASCII);
      byte[] end = "\"}}".getBytes(StandardCharsets.US_ASCII);
      out.write(
          ByteBuffer.allocate(8)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(start.length + text.length + end.length)
              .array());
      out.write(start);
      out.write(text);
      out.write(end);
    }
    String said = open(path, 64 * MEBI);
    assertTrue(said.contains("0 tensors"), said);
  }

  @Test
  void aGraphOfMillionsOfNodes() throws IOException, InterruptedException {
    byte[] node = OnnxWriter.message(OnnxWriter.nested(1, OnnxWriter.text(4, "A")));
    assertRefused(repeated(node, 3_000_000));
  }

  @Test
  void anAttributeOfMillionsOfNumbers() throws IOException, InterruptedException {
    byte[] numbers = repeated(new byte[] {(byte) 0x80, 0x02}, 10_000_000);
    assertRefused(
        OnnxWriter.message(
            OnnxWriter.nested(
                1,
                OnnxWriter.text(4, "A"),
                OnnxWriter.nested(5, OnnxWriter.text(1, "a"), OnnxWriter.bytes(8, numbers)))));
  }

  private static byte[] repeated(byte[] piece, int times) {
    byte[] all = new byte[piece.length * times];
    for (int i = 0; i < all.length; i += piece.length) {
      System.arraycopy(piece, 0, all, i, piece.length);
    }
    return all;
  }

  private void assertRefused(byte[] graph) throws IOException, InterruptedException {
    Path path = directory.resolve("dense.onnx");
    Files.write(path, OnnxWriter.message(OnnxWriter.bytes(7, graph)));
    String said = open(path, 128 * MEBI);
    assertTrue(said.contains("so many small parts"), said);
  }
}
