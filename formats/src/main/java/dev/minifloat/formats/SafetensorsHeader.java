package dev.minifloat.formats;

import dev.minifloat.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonToken;

/**
 * What stands before the data of a safetensors file, checked in full against the file's size.
 *
 * <pre>
 * byte 0      8                            8 + N                      end of file
 *      | N u64 | {"w": {…}, …}  and spaces | tensors, without a gap … |
 * </pre>
 *
 * @param metadata the {@code __metadata__} of the file, empty if it has none
 * @param tensors all tensors, by the offset of their data
 * @param byName the same, sorted by name: a hash table would outweigh the header it stands for
 */
record SafetensorsHeader(
    Map<String, String> metadata, List<TensorInfo> tensors, List<TensorInfo> byName) {
  /** The bytes that hold the length of the header. */
  static final int PREFIX = 8;

  /** The longest header that the reference implementation reads, in bytes. */
  static final long LONGEST = 100_000_000;

  /** The member of the header that isn't a tensor. */
  static final String METADATA = "__metadata__";

  private static final ValueLayout.OfLong LENGTH =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The tensor of that name, if there is one. */
  Optional<TensorInfo> find(String name) {
    int low = 0;
    int high = byName.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = byName.get(middle).name().compareTo(name);
      if (order == 0) {
        return Optional.of(byName.get(middle));
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return Optional.empty();
  }

  /**
   * Reads and checks a header. Memory is taken for what the header says, never for sizes that it
   * claims.
   *
   * @param file the file, for messages
   * @param bytes all of the file
   * @throws FileFormatException if anything is not as the format demands
   */
  static SafetensorsHeader parse(String file, MemorySegment bytes) {
    if (bytes.byteSize() < PREFIX) {
      throw new FileFormatException(
          file,
          null,
          0,
          "a safetensors file begins with 8 bytes that give the length of its header, and this one"
              + " ends after "
              + bytes.byteSize());
    }
    long length = bytes.get(LENGTH, 0);
    if (length < 0 || length > LONGEST) {
      throw new FileFormatException(
          file,
          null,
          0,
          "the header claims "
              + Long.toUnsignedString(length)
              + " bytes, more than the 100,000,000 that safetensors allows; is it a safetensors"
              + " file?");
    }
    if (length > bytes.byteSize() - PREFIX) {
      throw new FileFormatException(
          file,
          null,
          0,
          "the header claims "
              + length
              + " bytes, and only "
              + (bytes.byteSize() - PREFIX)
              + " follow; the file is cut off, or isn't safetensors");
    }
    long dataStart = PREFIX + length;
    return new Parser(file, dataStart, bytes.byteSize() - dataStart)
        .parse(bytes.asSlice(PREFIX, length));
  }

  private static final class Parser {
    /**
     * Of a header where each tensor has a shape of its own, a table of all would only add to it.
     */
    private static final int MOST_SHAPES = 4096;

    private final String file;
    private final long dataStart;
    private final long dataSize;
    private final List<TensorInfo> tensors = new ArrayList<>();
    private final Map<Shape, Shape> shapes = new HashMap<>();
    private Map<String, String> metadata;
    private final long[] numbers = new long[TensorInfo.MOST_DIMENSIONS];

    Parser(String file, long dataStart, long dataSize) {
      this.file = file;
      this.dataStart = dataStart;
      this.dataSize = dataSize;
    }

    SafetensorsHeader parse(MemorySegment text) {
      try (JsonReader json = new JsonReader(file, text, PREFIX)) {
        for (String name = json.nextName(); name != null; name = json.nextName()) {
          if (name.equals(METADATA)) {
            readMetadata(json);
          } else {
            readTensor(json, name);
          }
        }
        json.expectEnd();
      }
      List<TensorInfo> byName = new ArrayList<>(tensors);
      byName.sort(Comparator.comparing(TensorInfo::name));
      checkNames(byName);
      tensors.sort(
          Comparator.comparingLong(TensorInfo::offset)
              .thenComparingLong(TensorInfo::byteSize)
              .thenComparing(TensorInfo::name));
      checkCover();
      return new SafetensorsHeader(
          metadata == null ? Map.of() : Collections.unmodifiableMap(metadata),
          Collections.unmodifiableList(tensors),
          byName);
    }

    private void checkNames(List<TensorInfo> sorted) {
      for (int i = 1; i < sorted.size(); i++) {
        String name = sorted.get(i).name();
        if (name.equals(sorted.get(i - 1).name())) {
          throw new FileFormatException(file, name, PREFIX, "appears twice in the header");
        }
      }
    }

    private void readMetadata(JsonReader json) {
      if (metadata != null) {
        throw json.error(METADATA + " appears twice");
      }
      metadata = new LinkedHashMap<>();
      json.expect(JsonToken.START_OBJECT, METADATA + " to be an object of strings");
      for (String key = json.nextName(); key != null; key = json.nextName()) {
        String value = json.nextString(METADATA + " to hold strings only");
        if (metadata.put(key, value) != null) {
          throw json.error(METADATA + " has the key " + FileFormatException.quote(key) + " twice");
        }
      }
    }

    private void readTensor(JsonReader json, String name) {
      json.about(name);
      int at = json.mark();
      json.expect(JsonToken.START_OBJECT, "an object with dtype, shape and data_offsets");
      StorageType type = null;
      Shape shape = null;
      long[] offsets = null;
      for (String field = json.nextName(); field != null; field = json.nextName()) {
        switch (field) {
          case "dtype" -> {
            once(json, field, type);
            type = readType(json);
          }
          case "shape" -> {
            once(json, field, shape);
            shape = readShape(json);
          }
          case "data_offsets" -> {
            once(json, field, offsets);
            offsets = readOffsets(json);
          }
          // As the reference implementation: what a later version may add doesn't concern us.
          default -> json.skipValue();
        }
      }
      if (type == null || shape == null || offsets == null) {
        throw json.error(
            at,
            "lacks "
                + (type == null ? "dtype" : shape == null ? "shape" : "data_offsets")
                + "; a tensor has dtype, shape and data_offsets");
      }
      TensorInfo tensor =
          new TensorInfo(name, type, shape, file, dataStart + offsets[0], offsets[1] - offsets[0]);
      checkSize(json, at, tensor);
      tensors.add(tensor);
      json.about(null);
    }

    private static void once(JsonReader json, String field, Object before) {
      if (before != null) {
        throw json.error(field + " appears twice");
      }
    }

    private static StorageType readType(JsonReader json) {
      String name = json.nextString("dtype to be a string");
      return StorageType.ofSafetensors(name)
          .orElseThrow(
              () ->
                  json.error(
                      "dtype "
                          + FileFormatException.quote(name)
                          + " is unknown; safetensors has "
                          + safetensorsNames()));
    }

    private static String safetensorsNames() {
      return String.join(
          " ",
          Arrays.stream(StorageType.values())
              .flatMap(type -> type.safetensorsName().stream())
              .toList());
    }

    private Shape readShape(JsonReader json) {
      json.expect(JsonToken.START_ARRAY, "shape to be an array of whole numbers");
      int rank = 0;
      for (JsonToken token = json.next(); token != JsonToken.END_ARRAY; token = json.next()) {
        if (rank == numbers.length) {
          throw json.error("shape has more than " + rank + " dimensions");
        }
        numbers[rank++] = json.unsigned(token, "an extent of shape");
      }
      try {
        // Layers repeat: a model has far fewer shapes than tensors.
        Shape shape = Shape.of(Arrays.copyOf(numbers, rank));
        Shape known =
            shapes.size() < MOST_SHAPES ? shapes.putIfAbsent(shape, shape) : shapes.get(shape);
        return known == null ? shape : known;
      } catch (IllegalArgumentException e) {
        throw json.error("shape: " + e.getMessage());
      }
    }

    private long[] readOffsets(JsonReader json) {
      json.expect(JsonToken.START_ARRAY, "data_offsets to be [begin, end]");
      long begin = json.unsigned(json.next(), "begin of data_offsets");
      long end = json.unsigned(json.next(), "end of data_offsets");
      json.expect(JsonToken.END_ARRAY, "data_offsets to have two numbers, not more");
      if (end < begin) {
        throw json.error("data_offsets [" + begin + ", " + end + "] end before they begin");
      }
      if (end > dataSize) {
        throw json.error(
            "data_offsets ["
                + begin
                + ", "
                + end
                + "] reach past the "
                + dataSize
                + " bytes of data; the file is cut off or damaged");
      }
      return new long[] {begin, end};
    }

    private static void checkSize(JsonReader json, int at, TensorInfo tensor) {
      if (!tensor.type().fillsBytes(tensor.shape())) {
        throw json.error(
            at,
            tensor.shape()
                + " elements of "
                + tensor.type().bits()
                + " bits don't fill whole bytes, as safetensors demands");
      }
      long expected;
      try {
        expected = tensor.type().byteSize(tensor.shape());
      } catch (IllegalArgumentException e) {
        throw json.error(at, e.getMessage());
      }
      if (expected != tensor.byteSize()) {
        throw json.error(
            at,
            tensor.type()
                + " "
                + tensor.shape()
                + " needs "
                + expected
                + " bytes, and data_offsets give it "
                + tensor.byteSize());
      }
    }

    /** Each tensor must begin where the one before it ends, and the last end with the file. */
    private void checkCover() {
      long end = dataStart;
      String before = null;
      for (TensorInfo tensor : tensors) {
        if (tensor.offset() != end) {
          throw new FileFormatException(
              file,
              tensor.name(),
              tensor.offset(),
              tensor.offset() < end
                  ? "its data overlap those of " + FileFormatException.quote(before)
                  : "a hole of "
                      + (tensor.offset() - end)
                      + " bytes before its data; safetensors allows none");
        }
        end += tensor.byteSize();
        before = tensor.name();
      }
      if (end != dataStart + dataSize) {
        throw new FileFormatException(
            file,
            before,
            end,
            (dataStart + dataSize - end)
                + " bytes after the last tensor belong to none; safetensors allows none");
      }
    }
  }
}
