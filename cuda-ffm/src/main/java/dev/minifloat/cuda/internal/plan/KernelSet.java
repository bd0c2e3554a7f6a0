package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The catalog's kernels that a device runs; what was found is remembered. */
public final class KernelSet {
  private final KernelCatalog catalog;
  private final Predicate<KernelEntry> driver;
  private final int capability;
  private final Map<String, KernelEntry> named = new ConcurrentHashMap<>();
  private final Map<Operands, List<KernelEntry>> fitting = new ConcurrentHashMap<>();

  /** What a product's kernels are found by. */
  private record Operands(Operation operation, List<String> types, List<String> scalings) {}

  /**
   * The kernels for a device.
   *
   * @param driver whether the driver knows a kernel's version of PTX; to find out may throw a
   *     {@link dev.minifloat.cuda.CudaException}
   * @param capability of the device: 89 for 8.9
   */
  public KernelSet(KernelCatalog catalog, Predicate<KernelEntry> driver, int capability) {
    this.catalog = catalog;
    this.driver = driver;
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
  List<KernelEntry> products(
      Operation operation, List<DType> types, List<Scaling> scalings, Verdicts verdicts) {
    Operands key =
        new Operands(
            operation,
            types.stream().map(DType::name).toList(),
            scalings.stream().map(KernelSet::kind).toList());
    if (verdicts.areHeard()) {
      catalog
          .refusals(operation, capability, key.types(), key.scalings())
          .forEach((kernel, why) -> verdicts.refuse(kernel, Refusal.of("%s", why)));
    }
    List<KernelEntry> known = fitting.get(key);
    return known != null
        ? known
        : fitting.computeIfAbsent(
            key, k -> catalog.find(operation, capability, k.types(), k.scalings()));
  }

  /**
   * The first of some kernels that doesn't refuse, and whose PTX isn't too new for the driver;
   * empty for none.
   *
   * @param refusal why a kernel doesn't take the product, if so
   * @throws dev.minifloat.cuda.CudaException if finding out fails
   */
  Optional<KernelEntry> first(
      List<KernelEntry> kernels,
      Function<KernelEntry, Optional<Refusal>> refusal,
      Verdicts verdicts) {
    KernelEntry first = null;
    for (KernelEntry kernel : kernels) {
      Optional<Refusal> refused = refusal.apply(kernel);
      if (refused.isPresent()) {
        verdicts.refuse(kernel, refused.get());
      } else if (first != null) {
        verdicts.refuse(kernel, precedes(first, kernel));
      } else if (!driver.test(kernel)) {
        verdicts.refuse(
            kernel, Refusal.of("needs a driver that knows PTX %s", kernel.file().version()));
      } else {
        first = kernel;
        if (!verdicts.areHeard()) {
          break;
        }
      }
    }
    return Optional.ofNullable(first);
  }

  private static Refusal precedes(KernelEntry first, KernelEntry second) {
    boolean isNewer = first.file().target().capability() != second.file().target().capability();
    return Refusal.of(
        "would do, but %s, made for %s, comes first",
        first.entry(), isNewer ? first.file().target() : "fewer types and scalings");
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
        .flatMap(
            operation -> products(operation, List.of(a, b), List.of(), Verdicts.unheard()).stream())
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
