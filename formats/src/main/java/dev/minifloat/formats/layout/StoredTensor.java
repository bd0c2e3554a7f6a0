package dev.minifloat.formats.layout;

import dev.minifloat.Shape;
import dev.minifloat.formats.StorageType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tensors that stand in a file for one quantized tensor.
 *
 * @param data its elements
 * @param scales its scales, if it has any
 * @param globalScale NVFP4's scale of the tensor, one F32
 * @param metadata entries for the file's metadata
 */
public record StoredTensor(
    Part data, Optional<Part> scales, Optional<Part> globalScale, Map<String, String> metadata) {
  /**
   * A tensor of the file.
   *
   * @param name its name
   * @param type its type
   * @param shape its shape
   */
  public record Part(String name, StorageType type, Shape shape) {}

  /** Keeps a copy of the map. */
  public StoredTensor {
    metadata = Map.copyOf(metadata);
  }

  /** All parts: elements, scales, the scale of the tensor. */
  public List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    parts.add(data);
    scales.ifPresent(parts::add);
    globalScale.ifPresent(parts::add);
    return parts;
  }
}
