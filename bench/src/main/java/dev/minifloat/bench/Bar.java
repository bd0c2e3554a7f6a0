package dev.minifloat.bench;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * What our own figure must be at least: a factor of another one of the same run.
 *
 * @param factor the factor
 * @param reference what it is a factor of
 */
public record Bar(double factor, Reference reference) {
  /** Another figure of the run. */
  public sealed interface Reference {
    /** How the table calls it. */
    String name();
  }

  /**
   * The fastest of some contestants at a workload, which need not be the one that the bar is for:
   * equal sizes are compared by their time.
   *
   * @param name how the table calls it
   * @param contestants contestants
   * @param workload the workload
   */
  public record Fastest(String name, List<String> contestants, Workload workload)
      implements Reference {}

  /**
   * The limit of a workload that memory limits, as measured in the same rounds if it was, else as
   * {@link Limits#of} has it.
   *
   * @param name how the table calls it
   */
  public record Limit(String name) implements Reference {}

  /**
   * What came of a bar.
   *
   * @param workload what was measured
   * @param bar the bar
   * @param ratio our figure as a multiple of the reference; empty if one of them is missing
   * @param who which contestant the reference turned out to be; the reference's name for a limit
   */
  public record Verdict(Workload workload, Bar bar, OptionalDouble ratio, String who) {
    /** Whether it is reached. */
    public boolean reached() {
      return ratio.isPresent() && ratio.getAsDouble() >= bar.factor;
    }

    /** What is asked for: {@code 0.85 x ggml}. */
    public String wanted() {
      return number(bar.factor) + " x " + bar.reference.name();
    }

    /** What was found: {@code 0.97}, with who it was where several could be. */
    public String measured() {
      if (ratio.isEmpty()) {
        return "not measured";
      }
      String which = who.equals(bar.reference.name()) ? "" : " (" + who + ")";
      return roundedDown(ratio.getAsDouble()) + which;
    }

    /** As the table prints it. */
    public String text() {
      return ratio.isEmpty()
          ? "must be " + wanted() + ": not measured"
          : (reached() ? "reached " : "MISSED ") + wanted() + ": " + measured();
    }
  }

  /** Not to the nearest: what misses a bar by a hair must not read like the bar. */
  private static String roundedDown(double value) {
    double unit = value < 10 ? 100 : 10;
    return number(Math.floor(value * unit) / unit);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 9.995 ? "%.2f" : "%.1f", value);
  }

  /** Compares what was measured. */
  public Verdict verdict(Workload workload, Measurements measured, Limits limits) {
    OptionalDouble ours = measured.of(workload, Ours.NAME);
    return switch (reference) {
      case Limit limit -> {
        RunReport.Row row = RunReport.row(workload, measured, limits);
        OptionalDouble ratio = ours.isEmpty() ? ours : OptionalDouble.of(row.ours() / row.limit());
        yield new Verdict(workload, this, ratio, limit.name);
      }
      case Fastest fastest -> {
        String who = null;
        double best = Double.POSITIVE_INFINITY;
        for (String contestant : fastest.contestants) {
          double seconds =
              measured.of(fastest.workload, contestant).orElse(Double.POSITIVE_INFINITY);
          if (seconds < best) {
            best = seconds;
            who = contestant;
          }
        }
        OptionalDouble ratio =
            ours.isEmpty() || who == null
                ? OptionalDouble.empty()
                : OptionalDouble.of(best / ours.getAsDouble());
        String shown = fastest.contestants.size() == 1 || who == null ? fastest.name : who;
        yield new Verdict(workload, this, ratio, shown);
      }
    };
  }

  private static Bar peer(double factor, String contestant, Workload workload) {
    return new Bar(factor, new Fastest(contestant, List.of(contestant), workload));
  }

  private static Bar peer(double factor, String name, String contestant, Workload workload) {
    return new Bar(factor, new Fastest(name, List.of(contestant), workload));
  }

  /** The bars of a workload, often none. */
  public static List<Bar> of(Workload workload) {
    return switch (workload) {
      case Workload.Dot w -> dot(w);
      case Workload.Gemv w -> gemv(w);
      case Workload.Gemm w -> gemm(w);
      case Workload.Quantize w -> copy(w.to());
      case Workload.Dequantize w -> copy(w.from());
      case Workload.Encode w ->
          w.threads() == 1 && (w.weights() == Format.F32 || w.weights() == Format.BF16)
              ? List.of(
                  peer(
                      1,
                      "ONNX Runtime F32",
                      "ONNX Runtime",
                      new Workload.Encode(w.batch(), w.tokens(), Format.F32, 1)))
              : List.of();
      case Workload.Convert _, Workload.Norm _, Workload.FfmCall _ -> List.of();
    };
  }

  private static List<Bar> dot(Workload.Dot w) {
    return switch (w.type()) {
      case BF16 -> w.n() >= 1024 ? List.of(peer(1, "ggml", w)) : List.of();
      case F16 -> w.n() >= 4096 ? List.of(peer(0.85, "ggml", w)) : List.of();
      case F32 ->
          w.n() == 4096
              ? List.of(peer(1, "Lucene", w), peer(1, "JVector", w), peer(0.8, "ggml", w))
              : List.of();
      case E4M3, E5M2 ->
          w.n() == 4096
              ? List.of(
                  peer(12, Scalar.NAME, w),
                  peer(0.6, "our BF16", Ours.NAME, new Workload.Dot(Format.BF16, w.n())))
              : List.of();
      case I8, MXFP4, NVFP4 -> List.of();
    };
  }

  private static List<Bar> gemv(Workload.Gemv w) {
    if (w.fromMemory()) {
      if (w.threads() == 1) {
        return List.of();
      }
      Reference dram = new Limit("DRAM read");
      return switch (w.weights()) {
        case BF16, F16, E4M3, E5M2 -> List.of(new Bar(0.8, dram));
        case MXFP4, NVFP4 ->
            List.of(
                new Bar(0.5, dram),
                peer(
                    2,
                    "ggml MXFP4",
                    "ggml",
                    new Workload.Gemv(Format.MXFP4, w.rows(), w.k(), w.threads())));
        case F32, I8 -> List.of();
      };
    }
    if (w.threads() != 1) {
      return List.of();
    }
    return switch (w.weights()) {
      case MXFP4 -> List.of(peer(1.4, "ggml", w));
      case NVFP4 -> List.of(peer(2, "ggml", w));
      case F32, F16, BF16, E4M3, E5M2, I8 -> List.of();
    };
  }

  private static List<Bar> gemm(Workload.Gemm w) {
    boolean cube = w.m() == w.n() && w.n() == w.k() && (w.m() == 1024 || w.m() == 2048);
    if (!cube || (w.type() != Format.BF16 && w.type() != Format.E4M3)) {
      return List.of();
    }
    return List.of(
        new Bar(
            1,
            new Fastest(
                "best F32 peer",
                List.of("oneDNN", "OpenBLAS", "ggml", "ggml packed"),
                w.of(Format.F32))),
        peer(3.5, "Jlama BF16", "Jlama", w.of(Format.BF16)),
        peer(4, "ggml MXFP4", "ggml", w.of(Format.MXFP4)));
  }

  private static List<Bar> copy(Format format) {
    return switch (format) {
      case E4M3, MXFP4, NVFP4 -> List.of(new Bar(0.6, new Limit("DRAM copy")));
      case F32, F16, BF16, E5M2, I8 -> List.of();
    };
  }
}
