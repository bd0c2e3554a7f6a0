package dev.minifloat.formats;

import java.lang.foreign.MemorySegment;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JsonToken;

/**
 * The index of a model in several files: {@code {"metadata": {…}, "weight_map": {"tensor":
 * "file"}}}.
 *
 * @param metadata the scalars under {@code metadata}, such as {@code total_size}, as text
 * @param shards for each tensor the path of its file in its shortest form, in the order of the
 *     index
 */
record ShardIndex(Map<String, String> metadata, Map<String, String> shards) {
  /**
   * Reads and checks an index.
   *
   * @param file the index, for messages
   * @param bytes all of it
   * @throws FileFormatException if anything is wrong with it, also a name that leads out of its
   *     directory
   */
  static ShardIndex parse(String file, MemorySegment bytes) {
    if (bytes.byteSize() > JsonReader.LONGEST_TEXT) {
      throw new FileFormatException(
          file, null, 0, bytes.byteSize() + " bytes are too many for an index; 100,000,000 may be");
    }
    Map<String, String> metadata = new LinkedHashMap<>();
    Map<String, String> shards = null;
    try (JsonReader json = new JsonReader(file, bytes, 0)) {
      for (String name = json.nextName(); name != null; name = json.nextName()) {
        switch (name) {
          case "metadata" -> readMetadata(json, metadata);
          case "weight_map" -> {
            if (shards != null) {
              throw json.error("weight_map appears twice");
            }
            shards = readShards(json);
          }
          default -> json.skipValue();
        }
      }
      if (shards == null) {
        throw json.error("an index has a weight_map, and this one hasn't");
      }
      json.expectEnd();
    }
    return new ShardIndex(
        Collections.unmodifiableMap(metadata), Collections.unmodifiableMap(shards));
  }

  private static void readMetadata(JsonReader json, Map<String, String> metadata) {
    json.expect(JsonToken.START_OBJECT, "metadata to be an object");
    for (String key = json.nextName(); key != null; key = json.nextName()) {
      JsonToken token = json.next();
      if (token.isScalarValue()) {
        metadata.put(key, json.scalar(token, "a value of metadata"));
      } else {
        json.skipRest(token);
      }
    }
  }

  private static Map<String, String> readShards(JsonReader json) {
    Map<String, String> shards = new LinkedHashMap<>();
    // Neighbours share their file as a rule, which is then one string, checked once.
    String last = null;
    String lastNormal = null;
    json.expect(JsonToken.START_OBJECT, "weight_map to be an object");
    for (String tensor = json.nextName(); tensor != null; tensor = json.nextName()) {
      json.about(tensor);
      String shard = json.nextString("the name of a file");
      if (!shard.equals(last)) {
        checkInside(json, shard);
        last = shard;
        lastNormal = Path.of(shard).normalize().toString();
      }
      if (shards.put(tensor, lastNormal) != null) {
        throw json.error("appears twice in weight_map");
      }
      json.about(null);
    }
    return shards;
  }

  private static void checkInside(JsonReader json, String shard) {
    if (!staysInside(shard)) {
      throw json.error(
          "file "
              + FileFormatException.quote(shard)
              + " is not inside the directory of the index; nothing outside it is opened");
    }
  }

  /**
   * Whether a relative path from a file leads to another file below the same directory. Judged by
   * its text: links are followed, since download caches are made of them.
   */
  static boolean staysInside(String location) {
    if (location.isEmpty() || location.indexOf('\0') >= 0) {
      return false;
    }
    try {
      Path path = Path.of(location);
      if (path.isAbsolute() || path.getRoot() != null) {
        return false;
      }
      Path normal = path.normalize();
      return !normal.toString().isEmpty() && !normal.startsWith("..");
    } catch (InvalidPathException _) {
      return false;
    }
  }
}
