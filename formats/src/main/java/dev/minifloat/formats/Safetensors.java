package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Opens safetensors models, in one file or in many.
 *
 * <p>A model in many files, its shards, has an index beside them, {@code
 * model.safetensors.index.json}, that says which tensor is in which file.
 */
public final class Safetensors {
  /** What the file of a model in one piece is called. */
  static final String SINGLE = "model.safetensors";

  /** How the names of indexes end. */
  static final String INDEX_SUFFIX = ".safetensors.index.json";

  private static final String SUFFIX = ".safetensors";

  private Safetensors() {}

  /**
   * Opens a {@code .safetensors} file, an index ({@code ….safetensors.index.json}), or a directory
   * that holds one of them.
   *
   * <p>In a directory, {@code model.safetensors} is taken first, then {@code
   * model.safetensors.index.json}, then the only index there is, then the only {@code .safetensors}
   * file there is.
   *
   * <p>The shards must lie in the directory of the index or below it, by the text of their path:
   * links are followed, since download caches are made of them.
   *
   * @throws FileFormatException if a file isn't sound, a shard is missing or outside the directory
   *     of the index, or a shard lacks a tensor that the index promises
   * @throws MinifloatException if a file can't be read, or if a directory has nothing to open or
   *     too much to choose from
   */
  public static TensorFile open(Path path) {
    Path chosen = Files.isDirectory(path) ? choose(path) : path;
    return chosen.toString().endsWith(".json")
        ? ShardedSafetensors.open(chosen)
        : SafetensorsFile.open(chosen);
  }

  private static Path choose(Path directory) {
    Path single = directory.resolve(SINGLE);
    if (Files.exists(single)) {
      return single;
    }
    Path index = directory.resolve("model" + INDEX_SUFFIX);
    if (Files.exists(index)) {
      return index;
    }
    List<Path> indexes = endingWith(directory, INDEX_SUFFIX);
    if (indexes.size() == 1) {
      return indexes.getFirst();
    }
    List<Path> files = endingWith(directory, SUFFIX);
    if (indexes.isEmpty() && files.size() == 1) {
      return files.getFirst();
    }
    if (indexes.isEmpty() && files.isEmpty()) {
      throw new MinifloatException(
          "Opening " + directory + ": the directory has no .safetensors file and no index of one");
    }
    throw new MinifloatException(
        "Opening "
            + directory
            + ": the directory has "
            + (indexes.isEmpty() ? files : indexes).stream().map(Path::getFileName).toList()
            + "; say which");
  }

  private static List<Path> endingWith(Path directory, String suffix) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries
          .filter(entry -> entry.getFileName().toString().endsWith(suffix))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new MinifloatException("Listing " + directory + ": " + e, e);
    }
  }
}
