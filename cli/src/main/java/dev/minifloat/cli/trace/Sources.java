package dev.minifloat.cli.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lines of the sources that a PTX text was compiled from, where the files can be found. */
public final class Sources {
  private final Path folder;
  private final Map<String, List<String>> files = new HashMap<>();

  /**
   * Sources that lie where {@code .file} says, or in a folder.
   *
   * @param folder beside the PTX
   */
  public Sources(Path folder) {
    this.folder = folder;
  }

  /** A line; empty if the file isn't there or is shorter. */
  String line(PtxText.Origin origin) {
    List<String> lines = files.computeIfAbsent(origin.file(), _ -> read(origin));
    return origin.line() >= 1 && origin.line() <= lines.size() ? lines.get(origin.line() - 1) : "";
  }

  private List<String> read(PtxText.Origin origin) {
    for (Path path : List.of(Path.of(origin.file()), folder.resolve(origin.name()))) {
      if (Files.isRegularFile(path)) {
        try {
          return Files.readString(path, StandardCharsets.ISO_8859_1).lines().toList();
        } catch (IOException e) {
          return List.of("(" + path + " can't be read: " + e.getMessage() + ")");
        }
      }
    }
    return List.of();
  }
}
