package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import java.util.List;
import java.util.Optional;

/**
 * Which kernel multiplies a[batch…, M, K] and b[batch…, N, K], and how. Everything here follows
 * from types, scalings and extents: a product has the same bits each time.
 */
public sealed interface ProductChoice {
  /** Rows of a up to which weights are read once and not tile by tile. */
  int SKINNY_ROWS = 16;

  /** CTAs that K is split for: some for each multiprocessor of a large device. */
  int SKINNY_CTAS = 512;

  /**
   * Few rows of a: shares of K, which {@code skinny_sum} adds.
   *
   * @param kernel makes the shares
   * @param splits how many shares
   * @param grid of the shares
   */
  record Skinny(KernelEntry kernel, long splits, LaunchGrid grid) implements ProductChoice {}

  /**
   * Tiles, on tensor cores or without.
   *
   * @param kernel multiplies and does what follows
   * @param grid its CTAs
   */
  record Tiled(KernelEntry kernel, LaunchGrid grid) implements ProductChoice {}

  /**
   * A product's extents.
   *
   * @param batch matrices
   * @param m rows of a
   * @param n rows of b
   * @param k columns of both
   */
  record Extents(long batch, long m, long n, long k) {}

  /** The kernel. */
  KernelEntry kernel();

  /** Its CTAs. */
  LaunchGrid grid();

  /** The kernel that is made for few rows, if these are few and b lies as it wants. */
  static Optional<ProductChoice> skinny(
      KernelSet kernels, DeviceView a, DeviceView b, Extents of, Verdicts verdicts) {
    List<DType> types = List.of(a.dtype(), b.dtype());
    return kernels
        .first(
            kernels.products(Operation.SKINNY, types, List.of(b.source().scaling()), verdicts),
            kernel -> refuses(kernel, b, of),
            verdicts)
        .map(kernel -> skinny(kernel, of));
  }

  private static Optional<Refusal> refuses(KernelEntry kernel, DeviceView b, Extents of) {
    int rows = kernel.tile().getFirst();
    if (of.m() > SKINNY_ROWS) {
      return Optional.of(Refusal.of("is for %d rows of a at most, not %,d", SKINNY_ROWS, of.m()));
    }
    if (rows != (of.m() == 1 ? 1 : 8)) {
      return Optional.of(Refusal.of("takes %d rows of a at once, and there are %d", rows, of.m()));
    }
    if (groups(kernel, of) > LaunchGrid.MAX_YZ) {
      return Optional.of(
          Refusal.of(
              "a grid has %,d CTAs along z, not %,d", LaunchGrid.MAX_YZ, groups(kernel, of)));
    }
    return b.refusesGranules("b", Granules.SKINNY);
  }

  private static long groups(KernelEntry kernel, Extents of) {
    return Math.ceilDiv(of.m(), (long) kernel.tile().getFirst()) * of.batch();
  }

  private static ProductChoice skinny(KernelEntry kernel, Extents of) {
    long columns = Math.ceilDiv(of.n(), (long) kernel.tile().get(1));
    long groups = groups(kernel, of);
    long slices = Math.max(1, Math.ceilDiv(of.k(), (long) kernel.tile().get(2)));
    long splits = Math.clamp(SKINNY_CTAS / (columns * groups), 1, Math.min(slices, 64));
    return new Skinny(kernel, splits, LaunchGrid.of(columns, splits, groups));
  }

  /** The kernel for the tensor cores that is made for these types, if both operands lie so. */
  static Optional<ProductChoice> tensorCores(
      KernelSet kernels, DeviceView a, DeviceView b, DType out, Extents of, Verdicts verdicts) {
    List<DType> types = List.of(a.dtype(), b.dtype(), out);
    List<Scaling> scalings = List.of(a.source().scaling(), b.source().scaling());
    return kernels
        .first(
            kernels.products(Operation.GEMM, types, scalings, verdicts),
            kernel -> refuses(kernel, a, b),
            verdicts)
        .map(kernel -> new Tiled(kernel, grid(kernel, of)));
  }

  private static Optional<Refusal> refuses(KernelEntry kernel, DeviceView a, DeviceView b) {
    if (!Granules.usesTensorCores(kernel)) {
      return Optional.of(Refusal.of("is for what no other kernel takes: no tensor cores"));
    }
    int granule = Granules.of(kernel);
    Optional<Refusal> granules =
        a.refusesGranules("a", granule).or(() -> b.refusesGranules("b", granule));
    if (!kernel.usesTensorMaps()) {
      return granules;
    }
    Optional<Refusal> copies =
        granules.or(() -> TensorCopies.refuses("a", a)).or(() -> TensorCopies.refuses("b", b));
    // Others take each row's scales as they are.
    return kernel.scalings().contains("block")
        ? copies
            .or(() -> a.refusesBlocks("a", 1, granule))
            .or(() -> b.refusesBlocks("b", kernel.tile().get(1), granule))
        : copies;
  }

  /** The kernel that takes any views. */
  static ProductChoice any(KernelSet kernels, DeviceView a, DeviceView b, Extents of) {
    boolean floats = a.dtype() == DType.F32 && b.dtype() == DType.F32;
    KernelEntry kernel = kernels.named(floats ? "gemm_f32" : "gemm_any");
    return new Tiled(kernel, grid(kernel, of));
  }

  private static LaunchGrid grid(KernelEntry kernel, Extents of) {
    if (kernel.usesTensorMaps()) {
      // Its CTAs go from tile to tile; a launch has no more of them than there are multiprocessors.
      long rows = Math.ceilDiv(of.m(), (long) kernel.tile().getFirst());
      long columns = Math.ceilDiv(of.n(), (long) kernel.tile().get(1));
      return LaunchGrid.of(Math.min(rows * columns * of.batch(), Integer.MAX_VALUE));
    }
    return LaunchGrid.of(
        Math.ceilDiv(of.n(), (long) kernel.tile().get(1)),
        Math.ceilDiv(of.m(), (long) kernel.tile().getFirst()),
        Math.min(of.batch(), LaunchGrid.MAX_YZ));
  }
}
