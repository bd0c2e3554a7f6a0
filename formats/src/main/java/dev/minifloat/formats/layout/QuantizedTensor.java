package dev.minifloat.formats.layout;

import dev.minifloat.HostTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A quantized tensor and what a file says of it that the tensor itself can't.
 *
 * @param tensor elements and scales
 * @param storedGlobalScale NVFP4's scale of the tensor as it is stored, perhaps inverted: what must
 *     be written for the same file to come out
 */
public record QuantizedTensor(HostTensor tensor, float storedGlobalScale) {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Checks that there is a tensor. */
  public QuantizedTensor {
    Objects.requireNonNull(tensor, "tensor");
  }

  /** A tensor that no file has held yet. */
  public static QuantizedTensor of(HostTensor tensor, QuantizedLayout layout) {
    return new QuantizedTensor(tensor, layout.storedGlobalScale(tensor.globalScale()));
  }

  /** The bytes of each part of {@code stored}, by name, in the order of {@link StoredTensor}. */
  public Map<String, MemorySegment> bytes(StoredTensor stored) {
    Map<String, MemorySegment> bytes = new LinkedHashMap<>();
    bytes.put(stored.data().name(), tensor.data());
    stored.scales().ifPresent(part -> bytes.put(part.name(), tensor.scales()));
    stored.globalScale().ifPresent(part -> bytes.put(part.name(), floatBytes(storedGlobalScale)));
    return bytes;
  }

  /** One F32 as a file holds it. */
  public static MemorySegment floatBytes(float value) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[Float.BYTES]);
    bytes.set(FLOAT, 0, value);
    return bytes;
  }
}
