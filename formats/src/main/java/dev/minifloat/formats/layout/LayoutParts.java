package dev.minifloat.formats.layout;

import dev.minifloat.MinifloatException;
import dev.minifloat.Shape;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorInfo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads the parts of a tensor, with complaints that name file and tensor. */
final class LayoutParts {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private LayoutParts() {}

  static boolean has(TensorFile file, String name, StorageType type) {
    return file.find(name).filter(info -> info.type() == type).isPresent();
  }

  static MinifloatException error(TensorFile file, String name, String problem) {
    return new MinifloatException(file.path() + ": tensor \"" + name + "\": " + problem);
  }

  /** The info of a part that must be there. */
  static TensorInfo require(TensorFile file, String name, String part) {
    return file.find(part)
        .orElseThrow(() -> error(file, name, "its part \"" + part + "\" is missing"));
  }

  /** The bytes of a part of a given type with a given number of elements. */
  static MemorySegment data(
      TensorFile file, String name, String part, StorageType type, long elements) {
    TensorInfo info = require(file, name, part);
    if (info.type() != type || info.shape().elements() != elements) {
      throw error(
          file,
          name,
          "its part \""
              + part
              + "\" is "
              + info.type()
              + " "
              + info.shape()
              + ", where "
              + elements
              + " elements of "
              + type
              + " were expected");
    }
    return file.data(part);
  }

  /** F32 scales of a part: the file's own bytes, or a widened copy of F16 or BF16. */
  static MemorySegment floats(TensorFile file, String name, String part, long elements) {
    TensorInfo info = require(file, name, part);
    if (info.type() != StorageType.F16 && info.type() != StorageType.BF16) {
      return data(file, name, part, StorageType.F32, elements);
    }
    MemorySegment narrow = data(file, name, part, info.type(), elements);
    float[] wide = new float[Math.toIntExact(elements)];
    MemorySegment target = MemorySegment.ofArray(wide);
    for (int i = 0; i < wide.length; i++) {
      // Set through the layout: its bytes are little-endian whatever the machine is.
      target.set(FLOAT, 4L * i, (float) info.type().decode(narrow, i));
    }
    return target;
  }

  /** One F32. */
  static float single(TensorFile file, String name, String part) {
    return floats(file, name, part, 1).get(FLOAT, 0);
  }

  /** A shape whose last extent counts bytes of two elements each. */
  static Shape unpacked(Shape packed) {
    return packed.with(-1, Math.multiplyExact(packed.dim(-1), 2L));
  }

  /**
   * A shape with two columns in a byte.
   *
   * @throws IllegalArgumentException if the number of columns is odd
   */
  static Shape packed(String name, Shape shape) {
    if (shape.rank() == 0 || shape.columns() % 2 != 0) {
      throw new IllegalArgumentException(
          "shape: tensor \""
              + name
              + "\" "
              + shape
              + " has an odd number of columns, and this layout keeps two in a byte; leave the"
              + " tensor out");
    }
    return shape.with(-1, shape.columns() / 2);
  }

  /** Complains unless a tensor is a matrix. */
  static void requireMatrix(String layout, String name, Shape shape) {
    if (shape.rank() != 2) {
      throw new IllegalArgumentException(
          "shape: tensor \""
              + name
              + "\" "
              + shape
              + " is not a matrix, and "
              + layout
              + " holds matrices only; leave it out, or use the plain layout");
    }
  }
}
