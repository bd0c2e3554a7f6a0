package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Makes operands of {@link Values}, and values of results. */
final class Inputs {
  private Inputs() {}

  /**
   * Values in a format, scaled as {@code spec} says.
   *
   * @param arena owns the memory
   */
  static HostTensor host(VectorBackend backend, Values values, QuantSpec spec, Arena arena) {
    float[] distinct = values.distinct();
    try (Arena own = Arena.ofConfined();
        Tensor source = backend.upload(shaped(values, distinct));
        Tensor quantized = backend.quantize(source, spec)) {
      return repeated(backend.download(quantized, own), values.rows(), arena);
    }
  }

  private static HostTensor shaped(Values values, float[] distinct) {
    return values.rows() == 1
        ? HostTensor.of(distinct, distinct.length)
        : HostTensor.of(distinct, values.period(), values.columns());
  }

  /** A matrix of {@code rows} rows that repeat those of {@code source}, which has fewer or all. */
  private static HostTensor repeated(HostTensor source, int rows, Arena arena) {
    Shape shape = source.shape().rank() == 1 ? source.shape() : source.shape().with(0, rows);
    HostTensor target =
        HostTensor.allocate(arena, source.dtype(), shape, source.scaling(), source.globalScale());
    fill(source.data(), target.data());
    fill(source.scales(), target.scales());
    return target;
  }

  private static void fill(MemorySegment source, MemorySegment target) {
    for (long at = 0; at < target.byteSize(); at += source.byteSize()) {
      long bytes = Math.min(source.byteSize(), target.byteSize() - at);
      MemorySegment.copy(source, 0, target, at, bytes);
    }
  }

  /** All values of a tensor: as {@link HostTensor#toFloats}, but for millions of them. */
  static float[] floats(HostTensor tensor) {
    if (tensor.dtype() == DType.F32) {
      return tensor.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }
    if (tensor.dtype().bits() > 8) {
      return tensor.toFloats();
    }
    float[] decoded = decodeTable(tensor.dtype());
    boolean scaled = !(tensor.scaling() instanceof Scaling.None);
    float[] values = new float[Math.toIntExact(tensor.shape().elements())];
    long block = -1;
    float scale = 1;
    for (int i = 0; i < values.length; i++) {
      if (scaled && tensor.grid().indexOf(i) != block) {
        block = tensor.grid().indexOf(i);
        scale = tensor.scale(i);
      }
      values[i] = scale * decoded[PackedElements.get(tensor.dtype(), tensor.data(), i)];
    }
    return values;
  }

  /** The values of all codes of a type of at most 8 bits. */
  static float[] decodeTable(DType dtype) {
    float[] table = new float[1 << dtype.bits()];
    for (int code = 0; code < table.length; code++) {
      table[code] = Codec.decode(dtype, code);
    }
    return table;
  }
}
