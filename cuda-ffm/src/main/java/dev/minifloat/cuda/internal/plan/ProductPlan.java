package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.cuda.internal.plan.ProductChoice.Extents;
import java.util.Optional;

/**
 * How a product is computed: a kernel, and the operands that are turned for it first. It follows
 * from types, scalings, extents and strides; a product has the same bits each time.
 *
 * @param choice the kernel
 * @param turnA how a is turned; null if it stays as it is
 * @param turnB how b is turned; null if it stays as it is
 */
public record ProductPlan(ProductChoice choice, Turn turnA, Turn turnB) {
  /** Multiplications from which on a copy of an operand, turned, costs less than it spares. */
  private static final long WORTH_TURNING = 1L << 18;

  /**
   * The plan for a[batch…, M, K] and b[batch…, N, K]: the kernel that is made for them as they lie;
   * else the one for what comes of turning an operand without K side by side, if that pays; else
   * the one for any views.
   *
   * @param out type of the result
   * @param alpha factor of the sum: with 0 the operands may not be read
   */
  public static ProductPlan of(
      KernelSet kernels,
      DeviceView a,
      DeviceView b,
      DType out,
      float alpha,
      Extents extents,
      Verdicts verdicts) {
    if (alpha == 0) {
      verdicts.step("alpha is 0, so neither operand is read: the kernel for any views sees to it");
      return new ProductPlan(ProductChoice.any(kernels, a, b, extents), null, null);
    }
    Optional<ProductChoice> direct = made(kernels, a, b, out, extents, verdicts);
    if (direct.isPresent()) {
      return new ProductPlan(direct.get(), null, null);
    }
    return turned(kernels, a, b, out, extents, verdicts)
        .orElseGet(() -> new ProductPlan(ProductChoice.any(kernels, a, b, extents), null, null));
  }

  /** A kernel that is made for these operands. */
  private static Optional<ProductChoice> made(
      KernelSet kernels,
      DeviceView a,
      DeviceView b,
      DType out,
      Extents extents,
      Verdicts verdicts) {
    Optional<ProductChoice> skinny = ProductChoice.skinny(kernels, a, b, extents, verdicts);
    if (skinny.isPresent() && !verdicts.areHeard()) {
      return skinny;
    }
    Optional<ProductChoice> tiled =
        ProductChoice.tensorCores(kernels, a, b, out, extents, verdicts);
    if (skinny.isPresent() && tiled.isPresent()) {
      verdicts.refuse(
          tiled.get().kernel(),
          Refusal.of("would do, but one for few rows reads the weights once"));
    }
    return skinny.or(() -> tiled);
  }

  private static Optional<ProductPlan> turned(
      KernelSet kernels,
      DeviceView a,
      DeviceView b,
      DType out,
      Extents extents,
      Verdicts verdicts) {
    if (a.isDense() && b.isDense()) {
      return Optional.empty();
    }
    long multiplications = extents.batch() * extents.m() * extents.n() * extents.k();
    if (multiplications < WORTH_TURNING) {
      verdicts.step(
          "turning an operand so that K lies side by side pays from %,d multiplications on; these"
              + " are %,d",
          WORTH_TURNING, multiplications);
      return Optional.empty();
    }
    Turn turnA = turn("a", a, verdicts);
    Turn turnB = turn("b", b, verdicts);
    if (turnA == null && turnB == null) {
      return Optional.empty();
    }
    DeviceView wouldBeA = turnA == null ? a : turnA.to(0, 0);
    DeviceView wouldBeB = turnB == null ? b : turnB.to(0, 0);
    Optional<ProductChoice> choice = made(kernels, wouldBeA, wouldBeB, out, extents, verdicts);
    if (choice.isEmpty()) {
      verdicts.step("no kernel is made for what comes of it");
    }
    return choice.map(kernel -> new ProductPlan(kernel, turnA, turnB));
  }

  private static Turn turn(String name, DeviceView x, Verdicts verdicts) {
    if (x.isDense()) {
      return null;
    }
    Optional<Turn> turn = Turn.of(x);
    verdicts.step(
        turn.isPresent()
            ? "%s is copied first, turned so that K lies side by side"
            : "%s can't be turned: its scales, by %s, belong to elements as they lie",
        name,
        x.source().scaling());
    return turn.orElse(null);
  }
}
