package dev.minifloat.formats.layout;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** See {@link QuantizedLayout#DEEPSEEK_FP8}. */
final class DeepSeekLayout implements QuantizedLayout.Strategy {
  private static final String SCALES = "_scale_inv";
  private static final int BLOCK = 128;
  private static final Scaling SCALING = Scaling.block(BLOCK, BLOCK);

  @Override
  public StoredTensor plan(
      String name, DType dtype, Shape shape, Scaling scaling, float globalScale) {
    if (dtype != DType.F8_E4M3 || !scaling.equals(SCALING)) {
      throw new IllegalArgumentException(
          "layout: deepseek-fp8 holds F8_E4M3 scaled by "
              + SCALING
              + ", not "
              + dtype
              + " scaled by "
              + scaling);
    }
    LayoutParts.requireMatrix("deepseek-fp8", name, shape);
    StoredTensor.Part scales =
        new StoredTensor.Part(name + SCALES, StorageType.F32, SCALING.grid(shape).shape());
    return new StoredTensor(
        new StoredTensor.Part(name, StorageType.F8_E4M3, shape),
        Optional.of(scales),
        Optional.empty(),
        Map.of());
  }

  @Override
  public float storedGlobalScale(float globalScale) {
    return globalScale;
  }

  @Override
  public boolean holds(TensorFile file, String name) {
    return LayoutParts.has(file, name, StorageType.F8_E4M3) && file.find(name + SCALES).isPresent();
  }

  @Override
  public QuantizedTensor read(TensorFile file, String name) {
    Shape shape = file.info(name).shape();
    if (shape.rank() != 2) {
      throw LayoutParts.error(file, name, shape + " is not a matrix");
    }
    MemorySegment scales =
        LayoutParts.floats(file, name, name + SCALES, SCALING.grid(shape).scales());
    return new QuantizedTensor(
        HostTensor.wrap(DType.F8_E4M3, shape, SCALING, file.data(name), scales), 1);
  }

  @Override
  public Optional<Map<String, Object>> config(QuantSpec spec, List<String> ignored) {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("quant_method", "fp8");
    config.put("fmt", "e4m3");
    config.put("activation_scheme", "dynamic");
    config.put("weight_block_size", List.of(BLOCK, BLOCK));
    if (!ignored.isEmpty()) {
      config.put("modules_to_not_convert", List.copyOf(ignored));
    }
    return Optional.of(config);
  }
}
