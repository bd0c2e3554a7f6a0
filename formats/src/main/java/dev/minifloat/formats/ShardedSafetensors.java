package dev.minifloat.formats;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model in several safetensors files, seen as one. The index decides: a tensor of a shard that it
 * doesn't name is not part of the model.
 */
final class ShardedSafetensors implements TensorFile {
  private final Path path;
  private final Map<String, SafetensorsFile> shards;
  private final Map<String, SafetensorsFile> shardOf;
  private final List<TensorInfo> tensors;
  private final Map<String, String> metadata;

  private ShardedSafetensors(Path path, ShardIndex index, Map<String, SafetensorsFile> shards) {
    this.path = path;
    this.shards = shards;
    this.shardOf = new HashMap<>();
    List<TensorInfo> found = new ArrayList<>();
    index
        .shards()
        .forEach(
            (name, shardName) -> {
              SafetensorsFile shard = shards.get(shardName);
              found.add(
                  shard
                      .find(name)
                      .orElseThrow(
                          () ->
                              new FileFormatException(
                                  path.toString(),
                                  name,
                                  -1,
                                  "the index says that it is in "
                                      + shard.path()
                                      + ", and it isn't; are index and shards of one version?")));
              shardOf.put(name, shard);
            });
    this.tensors = Collections.unmodifiableList(found);
    Map<String, String> merged = new LinkedHashMap<>(index.metadata());
    shards.values().forEach(shard -> shard.metadata().forEach(merged::putIfAbsent));
    this.metadata = Collections.unmodifiableMap(merged);
  }

  /** See {@link Safetensors#open}. */
  static ShardedSafetensors open(Path path) {
    ShardIndex index = readIndex(path);
    Map<String, SafetensorsFile> shards = new LinkedHashMap<>();
    try {
      index.shards().forEach((tensor, shard) -> openShard(path, tensor, shard, shards));
      return new ShardedSafetensors(path, index, shards);
    } catch (RuntimeException | Error e) {
      shards.values().forEach(SafetensorsFile::close);
      throw e;
    }
  }

  private static ShardIndex readIndex(Path path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = MappedFile.map(path, arena);
      return ShardIndex.parse(path.toString(), bytes);
    }
  }

  private static void openShard(
      Path index, String tensor, String shard, Map<String, SafetensorsFile> shards) {
    if (shards.containsKey(shard)) {
      return;
    }
    Path file = index.resolveSibling(shard);
    if (!Files.exists(file)) {
      throw new FileFormatException(
          index.toString(),
          tensor,
          -1,
          "its shard " + file + " is missing; fetch all files that the index names");
    }
    shards.put(shard, SafetensorsFile.open(file));
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public List<TensorInfo> tensors() {
    return tensors;
  }

  @Override
  public Optional<TensorInfo> find(String name) {
    return Optional.ofNullable(shardOf.get(name)).flatMap(shard -> shard.find(name));
  }

  @Override
  public MemorySegment data(String name) {
    info(name);
    return shardOf.get(name).data(name);
  }

  @Override
  public Map<String, String> metadata() {
    return metadata;
  }

  @Override
  public void close() {
    shards.values().forEach(SafetensorsFile::close);
  }
}
