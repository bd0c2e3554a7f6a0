package dev.minifloat.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** Checks a file that a command is to write, so that no work is done in vain. */
final class OutputFile {
  private OutputFile() {}

  /**
   * Checks that a file can be written, and that it is not there yet.
   *
   * @param force whether it may be there
   * @throws CommandFailure if not
   */
  static void requireNew(Path path, boolean force) {
    if (!Files.isDirectory(path) && Files.exists(path) && !force) {
      throw new CommandFailure(path + " exists; --force replaces it");
    }
    requireWritable(path);
  }

  /**
   * Checks that a file can be written, or replaced if it is there.
   *
   * @throws CommandFailure if not
   */
  static void requireWritable(Path path) {
    if (Files.isDirectory(path)) {
      throw new CommandFailure(path.toAbsolutePath().normalize() + " is a directory");
    }
    Path directory = path.toAbsolutePath().getParent();
    if (directory != null && !Files.isDirectory(directory)) {
      throw new CommandFailure("there is no directory " + directory + " to write " + path + " to");
    }
    if (directory != null && !Files.isWritable(directory)) {
      throw new CommandFailure(
          "the directory " + directory + ", to write " + path + " to, is not writable");
    }
    if (Files.exists(path) && !Files.isWritable(path)) {
      throw new CommandFailure(path + " is not writable");
    }
  }
}
