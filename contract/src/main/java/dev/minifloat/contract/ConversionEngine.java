package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.util.Objects;

/** Something that converts unscaled tensors: the codec, or a backend. Any thread may call it. */
@FunctionalInterface
public interface ConversionEngine {
  /**
   * Rounds every element of {@code source} to another type.
   *
   * @param source unscaled
   * @param arena where the result may live
   * @return an unscaled tensor of the same shape
   */
  HostTensor convert(
      HostTensor source, DType to, Rounding rounding, Overflow overflow, Arena arena);

  /** Element by element through {@link Codec}. */
  static ConversionEngine codec() {
    return (source, to, rounding, overflow, arena) -> {
      HostTensor target = HostTensor.allocate(arena, to, source.shape(), Scaling.none());
      long elements = source.shape().elements();
      for (long i = 0; i < elements; i++) {
        double value = Codec.decodeDouble(source.dtype(), source.code(i));
        PackedElements.set(to, target.data(), i, Codec.encode(to, value, rounding, overflow, i));
      }
      return target;
    };
  }

  /** Uploaded, converted and downloaded. */
  static ConversionEngine of(Backend backend) {
    Objects.requireNonNull(backend, "backend");
    return (source, to, rounding, overflow, arena) -> {
      try (Tensor x = backend.upload(source);
          Tensor y = backend.convert(x, to, rounding, overflow)) {
        return backend.download(y, arena);
      }
    };
  }
}
