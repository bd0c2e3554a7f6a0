package dev.minifloat.kernels;

import java.util.List;
import java.util.Optional;

/**
 * A kernel.
 *
 * @param entry its name in the PTX
 * @param file where it is
 * @param operation what it computes
 * @param a the types of the first (or only) operand, as {@code DType} names them
 * @param b the types of the second operand; empty where there is none
 * @param out the types of the result
 * @param scalings how operands may be scaled: {@code none}, {@code tensor}, {@code rows}, {@code
 *     columns}, {@code block}, {@code mx}, {@code nvfp4}
 * @param tile extents of what a CTA makes in one go, [M, N, K] of products; empty where the grid
 *     may be any
 * @param threads of a CTA, [x, y]
 * @param staticShared bytes of shared memory that the PTX declares
 * @param dynamicShared bytes of shared memory to launch with
 * @param registers of a thread, as ptxas counts them for the file's target
 * @param parameters in order
 * @param accumulator what sums are kept in; empty where nothing is summed
 * @param bound of a product's sum; null for other operations
 */
public record KernelEntry(
    String entry,
    KernelFile file,
    Operation operation,
    List<String> a,
    List<String> b,
    List<String> out,
    List<String> scalings,
    List<Integer> tile,
    List<Integer> threads,
    int staticShared,
    int dynamicShared,
    int registers,
    List<KernelParameter> parameters,
    String accumulator,
    ErrorBound bound) {
  private static final List<String> SIDES = List.of("a", "b", "the result");

  /** Copies the lists. */
  public KernelEntry {
    a = List.copyOf(a);
    b = List.copyOf(b);
    out = List.copyOf(out);
    scalings = List.copyOf(scalings);
    tile = List.copyOf(tile);
    threads = List.copyOf(threads);
    parameters = List.copyOf(parameters);
  }

  /** Whether it fetches its operands by tensor maps, which come first among its parameters. */
  public boolean usesTensorMaps() {
    return !parameters.isEmpty() && parameters.getFirst().type() == ParameterType.TENSOR_MAP;
  }

  /** Bytes of all parameters. */
  public int parameterBytes() {
    KernelParameter last = parameters.getLast();
    return last.offset() + (int) last.type().byteSize();
  }

  /**
   * Whether it takes operands of these types and scalings.
   *
   * @param types of the operands and the result, in order, or fewer
   */
  public boolean accepts(List<String> types, List<String> scalings) {
    return refusal(types, scalings).isEmpty();
  }

  /** Why it doesn't take operands of these types and scalings; empty if it does. */
  Optional<String> refusal(List<String> types, List<String> scalings) {
    List<List<String>> sides = List.of(a, b, out);
    for (int i = 0; i < types.size(); i++) {
      if (!sides.get(i).contains(types.get(i))) {
        return Optional.of(
            "%s is %s, not %s"
                .formatted(SIDES.get(i), String.join(" or ", sides.get(i)), types.get(i)));
      }
    }
    return scalings.stream()
        .filter(scaling -> !this.scalings.contains(scaling))
        .findFirst()
        .map(scaling -> "scales are of %s, not %s".formatted(this.scalings, scaling));
  }

  /** How many combinations of types and scalings it takes: the fewer, the more it is made for. */
  public int breadth() {
    return Math.max(1, a.size())
        * Math.max(1, b.size())
        * Math.max(1, out.size())
        * Math.max(1, scalings.size());
  }
}
