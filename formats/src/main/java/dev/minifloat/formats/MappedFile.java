package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Maps whole files into memory, read-only, of any size. */
final class MappedFile {
  private MappedFile() {}

  /**
   * The bytes of a file, valid as long as {@code arena}.
   *
   * @throws MinifloatException if there is no such file or it can't be read
   */
  static MemorySegment map(Path path, Arena arena) {
    Paths.requireReadable(path);
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    } catch (IOException e) {
      throw new MinifloatException("Opening " + path + ": " + Paths.reason(e), e);
    }
  }
}
