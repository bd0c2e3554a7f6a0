package dev.minifloat.formats.layout;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorInfo;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** See {@link QuantizedLayout#PLAIN}. */
final class PlainLayout implements QuantizedLayout.Strategy {
  private static final String SCALES = ".scales";
  private static final String GLOBAL = ".global_scale";

  @Override
  public StoredTensor plan(
      String name, DType dtype, Shape shape, Scaling scaling, float globalScale) {
    StoredTensor.Part data =
        dtype == DType.I4
            ? new StoredTensor.Part(name, StorageType.U8, LayoutParts.packed(name, shape))
            : new StoredTensor.Part(name, StorageType.of(dtype), shape);
    if ((shape.elements() & 7) * dtype.bits() % 8 != 0) {
      throw new IllegalArgumentException(
          "shape: the elements of tensor \""
              + name
              + "\" "
              + shape
              + " don't fill whole bytes at "
              + dtype.bits()
              + " bits each, as safetensors demands; leave the tensor out");
    }
    if (scaling instanceof Scaling.None && dtype != DType.I4) {
      return new StoredTensor(data, Optional.empty(), Optional.empty(), Map.of());
    }
    Optional<StoredTensor.Part> scales =
        scaling instanceof Scaling.None
            ? Optional.empty()
            : Optional.of(
                new StoredTensor.Part(
                    name + SCALES,
                    StorageType.of(scaling.scaleDType()),
                    scaling.grid(shape).shape()));
    Optional<StoredTensor.Part> global =
        scaling instanceof Scaling.NvFp4
            ? Optional.of(new StoredTensor.Part(name + GLOBAL, StorageType.F32, Shape.of(1)))
            : Optional.empty();
    Map<String, String> metadata = new LayoutMetadata(dtype, scaling, globalScale).entry(name);
    return new StoredTensor(data, scales, global, metadata);
  }

  @Override
  public float storedGlobalScale(float globalScale) {
    return globalScale;
  }

  @Override
  public boolean holds(TensorFile file, String name) {
    Optional<TensorInfo> data = file.find(name);
    if (data.isEmpty()) {
      return false;
    }
    return LayoutMetadata.of(file, name).isPresent() || data.get().type().dtype().isPresent();
  }

  @Override
  public QuantizedTensor read(TensorFile file, String name) {
    TensorInfo info = file.info(name);
    Optional<LayoutMetadata> metadata = LayoutMetadata.of(file, name);
    if (metadata.isEmpty()) {
      DType dtype = info.type().dtype().orElseThrow();
      return unscaled(HostTensor.wrap(dtype, info.shape(), file.data(name)));
    }
    DType dtype = metadata.get().dtype();
    Scaling scaling = metadata.get().scaling();
    StorageType type = dtype == DType.I4 ? StorageType.U8 : StorageType.of(dtype);
    MemorySegment data = LayoutParts.data(file, name, name, type, info.shape().elements());
    Shape shape = dtype == DType.I4 ? LayoutParts.unpacked(info.shape()) : info.shape();
    if (!scaling.isValidFor(dtype)) {
      throw LayoutParts.error(file, name, dtype + " has no scaling \"" + scaling + "\"");
    }
    if (scaling instanceof Scaling.None) {
      return unscaled(HostTensor.wrap(dtype, shape, data));
    }
    MemorySegment scales =
        LayoutParts.data(
            file,
            name,
            name + SCALES,
            StorageType.of(scaling.scaleDType()),
            scaling.grid(shape).scales());
    if (scaling instanceof Scaling.NvFp4) {
      float global = LayoutParts.single(file, name, name + GLOBAL);
      return new QuantizedTensor(HostTensor.wrapNvfp4(shape, data, scales, global), global);
    }
    return unscaled(HostTensor.wrap(dtype, shape, scaling, data, scales));
  }

  private static QuantizedTensor unscaled(HostTensor tensor) {
    return new QuantizedTensor(tensor, 1);
  }

  @Override
  public Optional<Map<String, Object>> config(QuantSpec spec, List<String> ignored) {
    return Optional.empty();
  }
}
