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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** See {@link QuantizedLayout#COMPRESSED_TENSORS}. */
final class CompressedTensorsLayout implements QuantizedLayout.Strategy {
  private static final String PACKED = "_packed";
  private static final String SCALES = "_scale";
  private static final String GLOBAL = "_global_scale";

  /** The kinds of tensors that this layout has, by the name of their format. */
  private enum Format {
    FLOAT("float-quantized"),
    INT("int-quantized"),
    MXFP8("mxfp8-quantized"),
    MXFP4("mxfp4-pack-quantized"),
    NVFP4("nvfp4-pack-quantized");

    private final String label;

    Format(String label) {
      this.label = label;
    }

    boolean isPacked() {
      return this == MXFP4 || this == NVFP4;
    }

    /** Type of the scales in the file: E8M0 stands as the bytes that it is. */
    StorageType scaleType() {
      return switch (this) {
        case FLOAT, INT -> StorageType.F32;
        case MXFP8, MXFP4 -> StorageType.U8;
        case NVFP4 -> StorageType.F8_E4M3;
      };
    }

    static Format of(DType dtype, Scaling scaling) {
      return switch (scaling) {
        case Scaling.PerTensor _, Scaling.Rows _ when dtype == DType.I8 -> INT;
        case Scaling.PerTensor _, Scaling.Rows _, Scaling.Block _ when dtype == DType.F8_E4M3 ->
            FLOAT;
        case Scaling.Mx _ when dtype == DType.F8_E4M3 -> MXFP8;
        case Scaling.Mx _ when dtype == DType.F4_E2M1 -> MXFP4;
        case Scaling.NvFp4 _ -> NVFP4;
        case Scaling.None _,
            Scaling.PerTensor _,
            Scaling.Rows _,
            Scaling.Columns _,
            Scaling.Block _,
            Scaling.Mx _ ->
            throw new IllegalArgumentException(
                "layout: compressed-tensors holds F8_E4M3 scaled by tensor, rows, block or mx, I8 by"
                    + " tensor or rows, and F4_E2M1 by mx or nvfp4, not "
                    + dtype
                    + " scaled by "
                    + scaling);
      };
    }
  }

  @Override
  public StoredTensor plan(
      String name, DType dtype, Shape shape, Scaling scaling, float globalScale) {
    Format format = Format.of(dtype, scaling);
    LayoutParts.requireMatrix("compressed-tensors", name, shape);
    requireWholeGroups(name, shape, scaling);
    StoredTensor.Part data =
        format.isPacked()
            ? new StoredTensor.Part(name + PACKED, StorageType.U8, LayoutParts.packed(name, shape))
            : new StoredTensor.Part(name, StorageType.of(dtype), shape);
    Shape scaleShape =
        scaling instanceof Scaling.PerTensor ? Shape.of(1) : scaling.grid(shape).shape();
    Optional<StoredTensor.Part> global =
        format == Format.NVFP4
            ? Optional.of(new StoredTensor.Part(name + GLOBAL, StorageType.F32, Shape.of(1)))
            : Optional.empty();
    return new StoredTensor(
        data,
        Optional.of(new StoredTensor.Part(name + SCALES, format.scaleType(), scaleShape)),
        global,
        new LayoutMetadata(dtype, scaling, globalScale).entry(name));
  }

  /** Readers compute the number of groups as columns / group size. */
  private static void requireWholeGroups(String name, Shape shape, Scaling scaling) {
    long group = groupSize(scaling);
    if (group > 0 && shape.columns() % group != 0) {
      throw new IllegalArgumentException(
          "shape: the columns of tensor \""
              + name
              + "\" "
              + shape
              + " are no multiple of "
              + group
              + ", as compressed-tensors wants for "
              + scaling
              + "; leave the tensor out, or use the plain layout");
    }
  }

  private static int groupSize(Scaling scaling) {
    return switch (scaling) {
      case Scaling.Mx _ -> Scaling.Mx.BLOCK;
      case Scaling.NvFp4 _ -> Scaling.NvFp4.BLOCK;
      case Scaling.None _,
          Scaling.PerTensor _,
          Scaling.Rows _,
          Scaling.Columns _,
          Scaling.Block _ ->
          0;
    };
  }

  @Override
  public float storedGlobalScale(float globalScale) {
    return 1 / globalScale;
  }

  @Override
  public boolean holds(TensorFile file, String name) {
    boolean elements =
        LayoutParts.has(file, name + PACKED, StorageType.U8)
            || LayoutParts.has(file, name, StorageType.F8_E4M3)
            || LayoutParts.has(file, name, StorageType.I8);
    return elements && file.find(name + SCALES).isPresent();
  }

  @Override
  public QuantizedTensor read(TensorFile file, String name) {
    boolean packed = LayoutParts.has(file, name + PACKED, StorageType.U8);
    String part = packed ? name + PACKED : name;
    TensorInfo info = file.info(part);
    if (info.shape().rank() != 2) {
      throw LayoutParts.error(file, name, info.shape() + " is not a matrix");
    }
    MemorySegment data = file.data(part);
    if (!packed) {
      return readUnpacked(file, name, info, data);
    }
    Shape shape = LayoutParts.unpacked(info.shape());
    if (LayoutParts.require(file, name, name + SCALES).type() == StorageType.U8) {
      MemorySegment scales = groupScales(file, name, StorageType.U8, Scaling.mx(), shape);
      return new QuantizedTensor(
          HostTensor.wrap(DType.F4_E2M1, shape, Scaling.mx(), data, scales), 1);
    }
    MemorySegment scales = groupScales(file, name, StorageType.F8_E4M3, Scaling.nvfp4(), shape);
    float stored = LayoutParts.single(file, name, name + GLOBAL);
    return new QuantizedTensor(
        HostTensor.wrapNvfp4(shape, data, scales, globalScale(file, name, stored)), stored);
  }

  /**
   * g as it was, where the metadata know it and the file still has its inverse; else 1 / stored.
   */
  private static float globalScale(TensorFile file, String name, float stored) {
    return LayoutMetadata.of(file, name)
        .map(LayoutMetadata::globalScale)
        .filter(g -> Float.compare(1 / g, stored) == 0)
        .orElse(1 / stored);
  }

  private static MemorySegment groupScales(
      TensorFile file, String name, StorageType type, Scaling scaling, Shape shape) {
    return LayoutParts.data(file, name, name + SCALES, type, scaling.grid(shape).scales());
  }

  private static QuantizedTensor readUnpacked(
      TensorFile file, String name, TensorInfo info, MemorySegment data) {
    DType dtype = info.type().dtype().orElseThrow();
    Shape shape = info.shape();
    TensorInfo scaleInfo = LayoutParts.require(file, name, name + SCALES);
    if (scaleInfo.type() == StorageType.U8) {
      MemorySegment scales = groupScales(file, name, StorageType.U8, Scaling.mx(), shape);
      return new QuantizedTensor(HostTensor.wrap(dtype, shape, Scaling.mx(), data, scales), 1);
    }
    Scaling scaling =
        LayoutMetadata.of(file, name)
            .map(LayoutMetadata::scaling)
            .orElseGet(() -> guess(file, name, shape, scaleInfo.shape()));
    MemorySegment scales =
        LayoutParts.floats(file, name, name + SCALES, scaling.grid(shape).scales());
    return new QuantizedTensor(HostTensor.wrap(dtype, shape, scaling, data, scales), 1);
  }

  /** What a shape of scales means; the file itself doesn't say. */
  private static Scaling guess(TensorFile file, String name, Shape shape, Shape scales) {
    if (scales.rank() < 2 && scales.elements() == 1) {
      return Scaling.tensor();
    }
    if (scales.elements() == shape.dim(0) && scales.dim(0) == shape.dim(0)) {
      return Scaling.rows();
    }
    Scaling block = Scaling.block(128, 128);
    if (block.grid(shape).shape().equals(scales)) {
      return block;
    }
    throw LayoutParts.error(
        file,
        name,
        "scales "
            + scales
            + " for elements "
            + shape
            + " are neither one, nor one a row, nor one for each block of 128 × 128");
  }

  @Override
  public Optional<Map<String, Object>> config(QuantSpec spec, List<String> ignored) {
    Format format = Format.of(spec.dtype(), spec.scaling());
    Map<String, Object> weights = new LinkedHashMap<>();
    weights.put("num_bits", spec.dtype().bits());
    weights.put("type", format == Format.INT ? "int" : "float");
    weights.put("symmetric", true);
    weights.put("dynamic", false);
    weights.put("strategy", strategy(spec.scaling()));
    int group = groupSize(spec.scaling());
    weights.put("group_size", group == 0 ? null : group);
    if (spec.scaling() instanceof Scaling.Block(int rows, int columns)) {
      weights.put("block_structure", List.of(rows, columns));
    }
    if (format.scaleType() == StorageType.U8) {
      weights.put("scale_dtype", "torch.uint8");
    }
    Map<String, Object> scheme = new LinkedHashMap<>();
    scheme.put("targets", List.of("Linear"));
    scheme.put("weights", weights);
    scheme.put("input_activations", null);
    scheme.put("output_activations", null);
    scheme.put("format", format.label);
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("quant_method", "compressed-tensors");
    config.put("format", format.label);
    config.put("quantization_status", "compressed");
    config.put("global_compression_ratio", null);
    config.put("kv_cache_scheme", null);
    config.put("config_groups", Map.of("group_0", scheme));
    config.put("ignore", List.copyOf(ignored));
    return Optional.of(config);
  }

  private static String strategy(Scaling scaling) {
    return switch (scaling) {
      case Scaling.PerTensor _ -> "tensor";
      case Scaling.Rows _ -> "channel";
      case Scaling.Block _ -> "block";
      case Scaling.Mx _ -> "group";
      case Scaling.NvFp4 _ -> "tensor_group";
      case Scaling.None _, Scaling.Columns _ ->
          throw new IllegalArgumentException("scaling: compressed-tensors has no " + scaling);
    };
  }
}
