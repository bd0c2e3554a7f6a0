package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.cuda.internal.driver.KernelCache;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The catalog's kernels that a device runs; what was found is remembered. */
public final class KernelSet {
  private final KernelCache cache;
  private final KernelCatalog catalog;
  private final int capability;
  private final Map<String, KernelEntry> named = new ConcurrentHashMap<>();
  private final Map<Operands, List<KernelEntry>> fitting = new ConcurrentHashMap<>();

  /** What a product's kernels are found by. */
  private record Operands(Operation operation, List<String> types, List<String> scalings) {}

  /**
   * The kernels for a device.
   *
   * @param capability of the device: 89 for 8.9
   */
  public KernelSet(KernelCache cache, int capability) {
    this.cache = cache;
    this.catalog = cache.catalog();
    this.capability = capability;
  }

  /**
   * The kernel of a name, for the newest target that the device runs.
   *
   * @throws IllegalArgumentException if there is none
   */
  public KernelEntry named(String entry) {
    KernelEntry known = named.get(entry);
    return known != null
        ? known
        : named.computeIfAbsent(entry, name -> catalog.kernel(name, capability));
  }

  /** The kernel of an operation for a type, as {@code add_bf16} or {@code softmax_long_f16}. */
  public KernelEntry of(String operation, DType dtype) {
    return named(operation + "_" + dtype.name().toLowerCase(Locale.ROOT));
  }

  /** The kernel of an operation for elements of a width, as {@code copy_b16}. */
  public KernelEntry ofBits(String operation, DType dtype) {
    return named(operation + "_b" + dtype.bits());
  }

  /**
   * The kernels of a product that take these types and scalings, those made for them first.
   *
   * @param types of a, b and the result
   * @param scalings that must be taken
   */
  List<KernelEntry> products(Operation operation, List<DType> types, List<Scaling> scalings) {
    Operands key =
        new Operands(
            operation,
            types.stream().map(DType::name).toList(),
            scalings.stream().map(KernelSet::kind).toList());
    List<KernelEntry> known = fitting.get(key);
    return known != null
        ? known
        : fitting.computeIfAbsent(
            key, k -> catalog.find(operation, capability, k.types(), k.scalings()));
  }

  /**
   * The first of some kernels whose PTX isn't too new for the driver; empty for none.
   *
   * @throws dev.minifloat.cuda.CudaException if finding out fails
   */
  Optional<KernelEntry> first(Stream<KernelEntry> wanted) {
    return wanted.filter(cache::takes).findFirst();
  }

  /** Whether products of any operands can be rounded to a type as they are made. */
  public boolean multipliesTo(DType out) {
    return named("gemm_any").out().contains(out.name());
  }

  /**
   * The largest γ that a kernel for products of these types states for sums of {@code k} products:
   * which one it will be, scalings and extents decide too.
   */
  public double gamma(DType a, DType b, long k) {
    return Stream.of(Operation.GEMM, Operation.SKINNY)
        .flatMap(operation -> products(operation, List.of(a, b), List.of()).stream())
        .mapToDouble(kernel -> kernel.bound().gamma(k))
        .max()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** A scaling's name in the catalog. */
  private static String kind(Scaling scaling) {
    return switch (scaling) {
      case Scaling.None _ -> "none";
      case Scaling.PerTensor _ -> "tensor";
      case Scaling.Rows _ -> "rows";
      case Scaling.Columns _ -> "columns";
      case Scaling.Block _ -> "block";
      case Scaling.Mx _ -> "mx";
      case Scaling.NvFp4 _ -> "nvfp4";
    };
  }
}
