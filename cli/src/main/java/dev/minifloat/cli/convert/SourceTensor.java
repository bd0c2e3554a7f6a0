package dev.minifloat.cli.convert;

import dev.minifloat.Shape;
import dev.minifloat.formats.TensorInfo;

/**
 * What is to become of one tensor of the input.
 *
 * @param info the tensor in the input
 * @param name its name in the output
 * @param transposed whether its two dimensions change places
 * @param converted whether it is quantized; otherwise its bytes are copied
 */
public record SourceTensor(TensorInfo info, String name, boolean transposed, boolean converted) {
  /** The shape in the output. */
  public Shape shape() {
    Shape shape = info.shape();
    return transposed ? Shape.of(shape.dim(1), shape.dim(0)) : shape;
  }
}
