package dev.minifloat.formats;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One safetensors file, mapped into memory. The header is read and checked in full when the file is
 * opened: its tensors have known types, sizes that agree with their shapes, and cover the data
 * without overlap or hole, as the <a
 * href="https://github.com/huggingface/safetensors#format">format</a> and its reference
 * implementation demand. Files of any size work; the data are never copied.
 */
public final class SafetensorsFile implements TensorFile {
  private final Path path;
  private final Arena arena;
  private final MemorySegment bytes;
  private final SafetensorsHeader header;

  private SafetensorsFile(Path path, Arena arena, MemorySegment bytes, SafetensorsHeader header) {
    this.path = path;
    this.arena = arena;
    this.bytes = bytes;
    this.header = header;
  }

  /**
   * Opens one {@code .safetensors} file. For models in several files see {@link Safetensors#open}.
   *
   * @throws FileFormatException if it isn't a sound safetensors file
   * @throws dev.minifloat.MinifloatException if it can't be read
   */
  @SuppressWarnings("MustBeClosed") // the file owns the arena, and closes it
  public static SafetensorsFile open(Path path) {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment bytes = MappedFile.map(path, arena);
      return new SafetensorsFile(
          path, arena, bytes, SafetensorsHeader.parse(path.toString(), bytes));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public List<TensorInfo> tensors() {
    return header.tensors();
  }

  @Override
  public Optional<TensorInfo> find(String name) {
    return header.find(name);
  }

  @Override
  public MemorySegment data(String name) {
    if (!arena.scope().isAlive()) {
      throw new IllegalStateException(path + " is closed");
    }
    TensorInfo tensor = info(name);
    return bytes.asSlice(tensor.offset(), tensor.byteSize());
  }

  @Override
  public Map<String, String> metadata() {
    return header.metadata();
  }

  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
