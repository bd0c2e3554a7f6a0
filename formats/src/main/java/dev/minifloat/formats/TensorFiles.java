package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Opens a file of tensors of whichever format it is. */
public final class TensorFiles {
  private static final int PEEK = 64;

  /** Files that people take for models of our formats, by how they begin. */
  private record Lookalike(String start, int at, String description) {}

  private static final List<Lookalike> LOOKALIKES =
      List.of(
          new Lookalike("GGUF", 0, "a GGUF file (llama.cpp), which this version doesn't read"),
          new Lookalike(
              "PK\3\4",
              0,
              "a ZIP archive, perhaps of PyTorch (.bin, .pt) or NumPy (.npz); save the model as"
                  + " safetensors"),
          new Lookalike(
              "\u0080\2",
              0,
              "a Python pickle (an old PyTorch .bin or .pt), which could run code when read; save"
                  + " the model as safetensors"),
          new Lookalike("\u0089HDF", 0, "an HDF5 file (Keras); save the model as safetensors"),
          new Lookalike("\u0093NUMPY", 0, "a NumPy array; save it as safetensors"),
          new Lookalike("TFL3", 4, "a TensorFlow Lite model; export it to ONNX"),
          new Lookalike("\u001f\u008b", 0, "gzip; unpack it first"),
          new Lookalike("(\u00b5/\u00fd", 0, "Zstandard; unpack it first"),
          new Lookalike(
              "version https://git-lfs",
              0,
              "a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\""),
          new Lookalike("<", 0, "a page of HTML or XML, perhaps a failed download"));

  private TensorFiles() {}

  /**
   * Opens a safetensors file, the index of a sharded safetensors model, an ONNX model, or a
   * directory with a safetensors model.
   *
   * <p>A file is judged by its content, and by its name where the content says nothing: a
   * safetensors file has a brace after 8 bytes, an ONNX model usually begins with its version.
   *
   * @throws FileFormatException if it is none of these (the message says what it seems to be), or
   *     isn't sound
   * @throws MinifloatException if it can't be read
   */
  public static TensorFile open(Path path) {
    String name = String.valueOf(path.getFileName());
    if (Files.isDirectory(path) || name.endsWith(".json")) {
      return Safetensors.open(path);
    }
    byte[] start = peek(path);
    if ((start.length > 8 && start[8] == '{')
        || (name.endsWith(".safetensors") && !isPointer(start))) {
      return SafetensorsFile.open(path);
    }
    for (Lookalike lookalike : LOOKALIKES) {
      if (startsWith(start, lookalike.start, lookalike.at)) {
        throw new FileFormatException(path.toString(), null, 0, "this is " + lookalike.description);
      }
    }
    // Field 1 of ModelProto, ir_version, as a varint.
    if (name.endsWith(".onnx") || (start.length > 0 && start[0] == 0x08)) {
      return OnnxFile.open(path);
    }
    throw new FileFormatException(
        path.toString(), null, 0, "neither safetensors nor ONNX; it begins with " + hex(start));
  }

  /** A pointer is called as the file that it points to. */
  private static boolean isPointer(byte[] start) {
    return startsWith(start, "version https://git-lfs", 0);
  }

  private static byte[] peek(Path path) {
    Paths.requireReadable(path);
    try (InputStream in = Files.newInputStream(path)) {
      return in.readNBytes(PEEK);
    } catch (IOException e) {
      throw new MinifloatException("Opening " + path + ": " + Paths.reason(e), e);
    }
  }

  private static boolean startsWith(byte[] start, String pattern, int at) {
    byte[] wanted = pattern.getBytes(StandardCharsets.ISO_8859_1);
    return start.length >= at + wanted.length
        && Arrays.equals(start, at, at + wanted.length, wanted, 0, wanted.length);
  }

  private static String hex(byte[] start) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(8, start.length); i++) {
      text.append(String.format(i == 0 ? "%02x" : " %02x", start[i]));
    }
    return start.length == 0 ? "nothing: it is empty" : text.toString();
  }
}
