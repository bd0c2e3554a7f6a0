package dev.minifloat.formats;

import dev.minifloat.Shape;
import java.util.Objects;

/**
 * What a file says of one tensor.
 *
 * @param name its name, unique in the file
 * @param type the type of its elements
 * @param shape its extents, outermost first; row-major
 * @param file the file that holds its bytes, which for sharded models and external data is another
 *     than the one that was opened
 * @param offset where its bytes begin in that file. With ONNX's {@code int32_data}, {@code
 *     int64_data} and {@code uint64_data}, which store variable-length integers, this is where the
 *     first of them stands, and the bytes are decoded when asked for
 * @param byteSize how many bytes its elements occupy
 */
public record TensorInfo(
    String name, StorageType type, Shape shape, String file, long offset, long byteSize) {
  /**
   * As many dimensions as a tensor of PyTorch or NumPy can have; a file that claims more is
   * refused.
   */
  static final int MOST_DIMENSIONS = 64;

  /** Checks that nothing is null or negative. */
  public TensorInfo {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(shape, "shape");
    Objects.requireNonNull(file, "file");
    if (offset < 0 || byteSize < 0) {
      throw new IllegalArgumentException("offset: " + offset + ", byteSize: " + byteSize);
    }
  }
}
