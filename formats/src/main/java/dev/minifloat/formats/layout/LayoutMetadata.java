package dev.minifloat.formats.layout;

import dev.minifloat.DType;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.formats.TensorFile;
import java.util.Map;
import java.util.Optional;

/**
 * What the file's metadata say of a tensor: {@code minifloat:NAME} is its element type, its
 * scaling, and for NVFP4 its scale of the tensor as a hexadecimal float, with spaces between.
 *
 * @param dtype the element type
 * @param scaling the scaling
 * @param globalScale NVFP4's scale of the tensor, otherwise 1
 */
record LayoutMetadata(DType dtype, Scaling scaling, float globalScale) {
  private static final String PREFIX = "minifloat:";

  /** As an entry for a file. */
  Map<String, String> entry(String name) {
    String text = dtype + " " + scaling;
    if (scaling instanceof Scaling.NvFp4) {
      text += " " + Float.toHexString(globalScale);
    }
    return Map.of(PREFIX + name, text);
  }

  /** The entry of a tensor, if the file has one. */
  static Optional<LayoutMetadata> of(TensorFile file, String name) {
    String text = file.metadata().get(PREFIX + name);
    if (text == null) {
      return Optional.empty();
    }
    String[] words = text.strip().split(" ", -1);
    try {
      if (words.length == 2 || words.length == 3) {
        DType dtype = DType.parse(words[0]);
        Scaling scaling = Scaling.parse(words[1]);
        float global = words.length == 3 ? Float.parseFloat(words[2]) : 1;
        return Optional.of(new LayoutMetadata(dtype, scaling, global));
      }
    } catch (IllegalArgumentException e) {
      throw error(file, name, text, e);
    }
    throw error(file, name, text, null);
  }

  private static MinifloatException error(
      TensorFile file, String name, String text, Exception cause) {
    return new MinifloatException(
        file.path()
            + ": tensor \""
            + name
            + "\": its entry in the metadata, \""
            + text
            + "\", is not \"DTYPE SCALING\"",
        cause);
  }
}
