package dev.minifloat.cli.kernels;

import dev.minifloat.DType;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The most that a card can give a product with a kernel, each resource taken alone and used without
 * a gap: a bound, never a measurement, and one that real cards stay below.
 *
 * @param card which
 * @param operationsPerSecond at most so many, a multiply-add counting as two
 * @param ofPeak that as a share of the rate of the tensor cores for these operands
 * @param limit the resource that takes longest
 */
public record Roofline(Card card, double operationsPerSecond, double ofPeak, String limit) {
  /** Warp instructions that a multiprocessor begins in a clock. */
  private static final int ISSUED = 4;

  /** Bytes that shared memory moves in a clock. */
  private static final int SHARED_BYTES = 128;

  /** What the bounds suppose. */
  public static final List<String> ASSUMPTIONS =
      List.of(
          "A bound, not a result: each resource is taken alone, without gaps, and the slowest is"
              + " the bound.",
          "Tensor cores: NVIDIA's dense rate with sums in F32; Hopper and B200 reach theirs with"
              + " wgmma and tcgen05 only: kernels for sm_90a and sm_100f.",
          "Instructions: 4 warp instructions a clock of each multiprocessor, and as many machine"
              + " instructions as there are in PTX; where the assembler makes fewer, more is"
              + " possible.",
          "Shared memory: 128 bytes a clock, and no bank conflicts but those counted.",
          "Memory: A, B and the result move once; the second-level cache holds what tiles share.",
          "Clocks are the highest boost. Tiles at the edges are whole; waves of blocks end"
              + " together.");

  /** The time that each resource takes, in seconds. */
  private record Share(String name, double seconds) {}

  /** The bound for a product of an M × K and a K × N matrix. */
  public static Roofline of(LoopFigures figures, Card card, long m, long n, long k) {
    double loops =
        Math.ceilDiv(k, (long) figures.kernel().tile().get(2))
            * (double) figures.kernel().tile().get(2)
            / figures.depth();
    double tiles =
        (double) Math.ceilDiv(m, (long) figures.kernel().tile().get(0))
            * Math.ceilDiv(n, (long) figures.kernel().tile().get(1));
    double everywhere = card.multiprocessors() * card.clocks();
    double instructions =
        tiles * (figures.outside() + loops * (figures.products() + figures.otherInstructions()));
    double sharedBytes = tiles * (loops * (figures.sharedBytes() + 128.0 * figures.conflicts()));
    DType a = DType.valueOf(figures.kernel().a().getFirst());
    DType b = DType.valueOf(figures.kernel().b().getFirst());
    double memory = a.byteSize(m * k) + b.byteSize(n * k) + 4.0 * m * n;
    double peak = card.peak(figures.rate());
    Share longest =
        List.of(
                new Share("tensor cores", tiles * loops * figures.operations() / peak),
                new Share("instructions", instructions / (everywhere * ISSUED)),
                new Share("shared memory", sharedBytes / (everywhere * SHARED_BYTES)),
                new Share("memory", memory / card.memoryBytes()))
            .stream()
            .max(Comparator.comparingDouble(Share::seconds))
            .orElseThrow();
    double operations = 2.0 * m * n * k / longest.seconds();
    return new Roofline(card, operations, operations / peak, longest.name());
  }

  /** For JSON. */
  public Map<String, Object> map() {
    return Map.of(
        "card",
        card.title(),
        "boundTeraops",
        operationsPerSecond / 1e12,
        "boundOfPeak",
        ofPeak,
        "limit",
        limit);
  }
}
