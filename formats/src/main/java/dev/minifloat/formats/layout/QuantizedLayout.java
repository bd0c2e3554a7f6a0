package dev.minifloat.formats.layout;

import dev.minifloat.DType;
import dev.minifloat.MinifloatException;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.formats.TensorFile;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A way to keep a quantized tensor in a safetensors file.
 *
 * <p>The bytes of elements and scales are those of a {@link dev.minifloat.HostTensor} in every
 * layout; layouts differ in names, types and shapes, and in how they keep NVFP4's scale of the
 * tensor.
 */
public enum QuantizedLayout {
  /**
   * Minifloat's own: elements in safetensors' own type under the tensor's name, {@code NAME.scales}
   * in the shape of {@link dev.minifloat.codec.ScaleGrid#shape}, and for NVFP4 {@code
   * NAME.global_scale}, F32 [1]. An entry of the file's metadata, {@code minifloat:NAME}, names
   * element type and scaling. Holds every scaling of every type, in any number of dimensions; I4,
   * which safetensors hasn't, as U8 with two columns a byte.
   */
  PLAIN("plain", new PlainLayout()),

  /**
   * What vLLM and the compressed-tensors package read, for matrices [out, in]: {@code NAME} with
   * {@code NAME_scale} (F8_E4M3 and I8 with scales of the tensor [1], rows [out, 1] or blocks;
   * MXFP8 with E8M0 as U8 [out, in / 32]); for FP4 {@code NAME_packed}, U8 [out, in / 2] with the
   * even column in the low nibble, and {@code NAME_scale} [out, in / 32] (MXFP4, E8M0 as U8) or
   * [out, in / 16] (NVFP4, F8_E4M3), for NVFP4 with {@code NAME_global_scale}, F32 [1], which is
   * stored inverted, as 1 / g.
   *
   * <p>1 / g is rounded, and so is its reciprocal: g itself is kept in the file's metadata, and
   * what is stored is kept by {@link QuantizedTensor}.
   */
  COMPRESSED_TENSORS("compressed-tensors", new CompressedTensorsLayout()),

  /**
   * DeepSeek-V3's FP8 checkpoints, for matrices [out, in]: {@code NAME}, F8_E4M3, with {@code
   * NAME_scale_inv}, F32 [⌈out / 128⌉, ⌈in / 128⌉], which despite its name multiplies.
   */
  DEEPSEEK_FP8("deepseek-fp8", new DeepSeekLayout());

  private final String label;
  private final Strategy strategy;

  QuantizedLayout(String label, Strategy strategy) {
    this.label = label;
    this.strategy = strategy;
  }

  /** What one layout does. */
  interface Strategy {
    StoredTensor plan(String name, DType dtype, Shape shape, Scaling scaling, float globalScale);

    float storedGlobalScale(float globalScale);

    boolean holds(TensorFile file, String name);

    QuantizedTensor read(TensorFile file, String name);

    Optional<Map<String, Object>> config(QuantSpec spec, List<String> ignored);
  }

  /** Its name in commands: {@code compressed-tensors}. */
  public String label() {
    return label;
  }

  /**
   * The layout of a name, case ignored.
   *
   * @throws IllegalArgumentException if there is none, naming those there are
   */
  public static QuantizedLayout parse(String name) {
    String wanted = name.strip().toLowerCase(Locale.ROOT).replace('_', '-');
    for (QuantizedLayout layout : values()) {
      if (layout.label.equals(wanted)) {
        return layout;
      }
    }
    throw new IllegalArgumentException(
        "layout: \""
            + name
            + "\" is none of "
            + Arrays.stream(values())
                .map(QuantizedLayout::label)
                .collect(Collectors.joining(", ")));
  }

  /**
   * The tensors that will stand in the file for one quantized tensor.
   *
   * @param name the tensor's name, as a model knows it: {@code layers.0.q_proj.weight}
   * @param globalScale NVFP4's scale of the tensor; not read with any other scaling
   * @throws IllegalArgumentException if this layout can't hold it; the message says why and what to
   *     do instead
   */
  public StoredTensor plan(
      String name, DType dtype, Shape shape, Scaling scaling, float globalScale) {
    return strategy.plan(name, dtype, shape, scaling, globalScale);
  }

  /** What this layout stores for NVFP4's scale of the tensor: g, or 1 / g. */
  public float storedGlobalScale(float globalScale) {
    return strategy.storedGlobalScale(globalScale);
  }

  /** Whether a file has a quantized tensor of that name in this layout. */
  public boolean holds(TensorFile file, String name) {
    return strategy.holds(file, name);
  }

  /**
   * A tensor as it was quantized. Its segments are the file's wherever types agree, and live as
   * long as the file is open.
   *
   * @throws IllegalArgumentException if the file has no such tensor in this layout
   * @throws MinifloatException if its parts don't fit together
   */
  public QuantizedTensor read(TensorFile file, String name) {
    if (!holds(file, name)) {
      throw new IllegalArgumentException(
          "name: " + file.path() + " has no tensor \"" + name + "\" in the layout " + label);
    }
    return strategy.read(file, name);
  }

  /**
   * The {@code quantization_config} that readers of this layout expect in a model's {@code
   * config.json}: texts, numbers, booleans, lists and maps; a null is JSON's null. Empty for {@link
   * #PLAIN}, which describes itself.
   *
   * @param spec how the tensors were quantized
   * @param ignored names of modules with matrices that were left as they are
   */
  public Optional<Map<String, Object>> quantizationConfig(QuantSpec spec, List<String> ignored) {
    return strategy.config(spec, ignored);
  }
}
