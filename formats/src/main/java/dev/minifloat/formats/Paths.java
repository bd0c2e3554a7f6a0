package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Checks of paths before they are opened or replaced, and words for what went wrong. */
public final class Paths {
  private Paths() {}

  /**
   * Checks that a path can be mapped or read from its start: a pipe would block, a device has no
   * end.
   *
   * @throws MinifloatException if it is no regular file, saying what is there instead
   */
  public static void requireReadable(Path path) {
    if (Files.isRegularFile(path)) {
      return;
    }
    throw new MinifloatException("Opening " + path + ": " + obstacle(path));
  }

  private static String obstacle(Path path) {
    if (path.toString().isEmpty()) {
      return "the path is empty";
    }
    if (Files.isDirectory(path)) {
      return "it is a directory";
    }
    if (Files.exists(path)) {
      return "it is a pipe or a device; copy what it gives to a file first";
    }
    return Files.isSymbolicLink(path)
        ? "it is a symbolic link that leads nowhere"
        : "there is no such file";
  }

  /**
   * The path that a new file may be renamed to so as to replace {@code path}: what a symbolic link
   * points to, so that the link stays one.
   *
   * @throws MinifloatException if something other than a regular file is there
   */
  public static Path replaceable(Path path) {
    if (!Files.exists(path) && !Files.isSymbolicLink(path)) {
      return path;
    }
    if (!Files.isRegularFile(path)) {
      throw new MinifloatException("Writing " + path + ": " + obstacle(path));
    }
    try {
      return Files.isSymbolicLink(path) ? path.toRealPath() : path;
    } catch (IOException e) {
      throw new MinifloatException("Writing " + path + ": " + reason(e), e);
    }
  }

  /** What an exception of the file system means, in words. */
  public static String reason(IOException e) {
    return switch (e) {
      case NoSuchFileException missing -> "there is no " + missing.getFile();
      case AccessDeniedException denied -> "permission denied for " + denied.getFile();
      case NotDirectoryException file -> file.getFile() + " is not a directory";
      case FileSystemLoopException loop -> loop.getFile() + " links to itself";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> e.getMessage() == null ? e.toString() : e.getMessage();
    };
  }
}
