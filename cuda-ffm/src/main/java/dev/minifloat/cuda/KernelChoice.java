package dev.minifloat.cuda;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.ProductChoice;
import dev.minifloat.cuda.internal.plan.ProductPlan;
import dev.minifloat.cuda.internal.plan.Verdicts;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Which kernel the backend gives a product on a device, and why none of the others: the selection
 * that {@link CudaBackend} itself makes, asked without a device. It supposes operands that fill
 * their storage, and a driver that knows every kernel's version of PTX.
 *
 * @param kernel the kernel's entry in the catalog
 * @param target what its PTX was compiled for
 * @param grid CTAs along x, y and z
 * @param splits shares that K is split into, and added by a second kernel; 1 for none
 * @param steps what was tried before, in order
 * @param refusals why each other kernel for products isn't taken, those for the operands' types
 *     first
 */
public record KernelChoice(
    String kernel,
    String target,
    List<Integer> grid,
    long splits,
    List<String> steps,
    List<Refusal> refusals) {
  /** Copies the lists. */
  public KernelChoice {
    grid = List.copyOf(grid);
    steps = List.copyOf(steps);
    refusals = List.copyOf(refusals);
  }

  /**
   * A kernel that isn't taken.
   *
   * @param kernel its entry in the catalog
   * @param target what its PTX was compiled for
   * @param reason why not
   */
  public record Refusal(String kernel, String target, String reason) {}

  /**
   * An operand as it is stored.
   *
   * @param dtype element type
   * @param scaling of the storage
   * @param turned whether the product sees its transpose, as of weights [N, K] on the right
   */
  public record Operand(DType dtype, Scaling scaling, boolean turned) {
    /**
     * Checks the scaling.
     *
     * @throws IllegalArgumentException if elements of this type can't be scaled so
     */
    public Operand {
      Objects.requireNonNull(dtype, "dtype");
      if (!scaling.isValidFor(dtype)) {
        throw new IllegalArgumentException(
            "scaling: elements of " + dtype + " can't be scaled by " + scaling);
      }
    }

    private DeviceView view(long batch, long rows, long columns) {
      Shape shape = turned ? Shape.of(batch, columns, rows) : Shape.of(batch, rows, columns);
      DeviceView stored = DeviceView.planned(dtype, scaling, shape);
      return turned ? stored.transposed() : stored;
    }
  }

  /**
   * A product out[batch, M, N] = alpha · a[batch, M, K] · b[batch, K, N].
   *
   * @param alpha 0 where the operands aren't read
   */
  public record Product(
      Operand a, Operand b, DType out, long batch, long m, long n, long k, float alpha) {
    /**
     * Checks the extents.
     *
     * @throws IllegalArgumentException if there is nothing to compute
     */
    public Product {
      if (batch < 1 || m < 1 || n < 1 || k < 0) {
        throw new IllegalArgumentException(
            "shape: a product of %d × %d × %d × %d has no kernel".formatted(batch, m, n, k));
      }
    }
  }

  /**
   * The choice for a device.
   *
   * @param capability ten times its major compute capability, plus the minor one: 89 for 8.9
   * @throws IllegalArgumentException if there are kernels for newer devices only
   */
  public static KernelChoice of(int capability, Product product) {
    if (capability < CudaBackend.OLDEST) {
      throw new IllegalArgumentException(
          "capability: the kernels need sm_" + CudaBackend.OLDEST + ", not sm_" + capability);
    }
    KernelSet kernels = new KernelSet(KernelCatalog.load(), _ -> true, capability);
    Verdicts verdicts = Verdicts.heard();
    ProductChoice.Extents extents =
        new ProductChoice.Extents(product.batch(), product.m(), product.n(), product.k());
    ProductPlan plan =
        ProductPlan.of(
            kernels,
            product.a().view(product.batch(), product.m(), product.k()),
            product.b().view(product.batch(), product.k(), product.n()).transposed(),
            product.out(),
            product.alpha(),
            extents,
            verdicts);
    return of(product, plan.choice(), verdicts);
  }

  private static KernelChoice of(Product product, ProductChoice choice, Verdicts verdicts) {
    List<String> types = List.of(product.a().dtype().name(), product.b().dtype().name());
    List<Refusal> refusals = new ArrayList<>();
    List<Refusal> forOtherTypes = new ArrayList<>();
    for (Map.Entry<KernelEntry, String> refused : verdicts.reasons().entrySet()) {
      KernelEntry kernel = refused.getKey();
      if (!kernel.equals(choice.kernel())) {
        boolean takesTypes = kernel.accepts(types, List.of());
        (takesTypes ? refusals : forOtherTypes)
            .add(new Refusal(kernel.entry(), target(kernel), refused.getValue()));
      }
    }
    refusals.addAll(forOtherTypes);
    long splits =
        switch (choice) {
          case ProductChoice.Skinny skinny -> skinny.splits();
          case ProductChoice.Tiled _ -> 1;
        };
    LaunchGrid grid = choice.grid();
    return new KernelChoice(
        choice.kernel().entry(),
        target(choice.kernel()),
        List.of(grid.x(), grid.y(), grid.z()),
        splits,
        verdicts.steps(),
        refusals);
  }

  private static String target(KernelEntry kernel) {
    return kernel.file().target().toString();
  }
}
