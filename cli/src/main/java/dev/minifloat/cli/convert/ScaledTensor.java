package dev.minifloat.cli.convert;

import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorInfo;
import dev.minifloat.formats.layout.QuantizedLayout;
import dev.minifloat.formats.layout.StoredTensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A quantized tensor of a file, of which the file itself has elements and scales apart.
 *
 * @param name its name, as a model knows it
 * @param layout how the file keeps it
 * @param tensor elements and scales; valid as long as the file is open
 * @param elements what the file says of the elements
 * @param parts names of all that the file has of it: elements, scales, scale of the tensor
 */
public record ScaledTensor(
    String name,
    QuantizedLayout layout,
    HostTensor tensor,
    TensorInfo elements,
    List<String> parts) {
  private static final String PACKED = "_packed";

  /**
   * The quantized tensors of a file, by name.
   *
   * @param remarks told of each tensor that seems to be one, but whose parts don't fit
   */
  public static Map<String, ScaledTensor> of(TensorFile file, Consumer<String> remarks) {
    Map<String, ScaledTensor> tensors = new LinkedHashMap<>();
    for (TensorInfo info : file.tensors()) {
      String stored = info.name();
      String name =
          stored.endsWith(PACKED) ? stored.substring(0, stored.length() - PACKED.length()) : stored;
      Optional<QuantizedLayout> layout = layout(file, name).or(() -> layout(file, stored));
      if (layout.isPresent()) {
        String found = layout(file, name).isPresent() ? name : stored;
        try {
          read(file, found, layout.get(), info).ifPresent(tensor -> tensors.put(found, tensor));
        } catch (MinifloatException | IllegalArgumentException e) {
          remarks.accept("tensor \"" + found + "\" is shown as stored: " + e.getMessage());
        }
      }
    }
    return tensors;
  }

  /** The layout whose parts the file has. The plain one says so in the file's metadata. */
  private static Optional<QuantizedLayout> layout(TensorFile file, String name) {
    if (QuantizedLayout.DEEPSEEK_FP8.holds(file, name)) {
      return Optional.of(QuantizedLayout.DEEPSEEK_FP8);
    }
    if (QuantizedLayout.COMPRESSED_TENSORS.holds(file, name)) {
      return Optional.of(QuantizedLayout.COMPRESSED_TENSORS);
    }
    return file.metadata().containsKey("minifloat:" + name)
            && QuantizedLayout.PLAIN.holds(file, name)
        ? Optional.of(QuantizedLayout.PLAIN)
        : Optional.empty();
  }

  private static Optional<ScaledTensor> read(
      TensorFile file, String name, QuantizedLayout layout, TensorInfo info) {
    HostTensor tensor = layout.read(file, name).tensor();
    List<String> parts =
        layout
            .plan(name, tensor.dtype(), tensor.shape(), tensor.scaling(), tensor.globalScale())
            .parts()
            .stream()
            .map(StoredTensor.Part::name)
            .toList();
    // I4 stands as U8 also where nothing is scaled.
    boolean differs =
        !(tensor.scaling() instanceof Scaling.None)
            || !info.type().dtype().equals(Optional.of(tensor.dtype()));
    return Optional.of(new ScaledTensor(name, layout, tensor, info, parts))
        .filter(_ -> differs && parts.getFirst().equals(info.name()));
  }
}
