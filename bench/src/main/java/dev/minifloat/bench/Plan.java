package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** What the quick run measures. */
public final class Plan {
  private static final List<Format> HALVES_AND_QUARTERS =
      List.of(Format.BF16, Format.F16, Format.E4M3, Format.MXFP4, Format.NVFP4, Format.I8);

  /** Peers that do products of any format in F32. */
  static final List<String> WIDENING = List.of("OpenBLAS", "oneDNN");

  /** Operations of a product beyond which time is saved. */
  private static final double LARGE = 1e10;

  private static final int MEBI = 1 << 20;

  /** Rounds of what takes seconds, or of threads, which take a while to spread over the cores. */
  private static final int FEW = 5;

  /** Rounds of everything else. */
  private static final int MANY = 9;

  /**
   * Workloads whose contestants take turns, because they are compared with each other.
   *
   * @param workloads the workloads
   * @param rounds turns of each contestant
   */
  public record Group(List<Workload> workloads, int rounds) {
    /** Keeps a copy. */
    public Group {
      workloads = List.copyOf(workloads);
    }

    /** The group with those of its workloads only that have one of the subjects. */
    Group only(Collection<String> subjects) {
      return new Group(
          workloads.stream().filter(w -> subjects.contains(w.subject())).toList(), rounds);
    }
  }

  private Plan() {}

  /**
   * Whether a contestant is left out, to save time. Libraries that compute everything in F32, after
   * widening it, would do the same at each format and are measured at F32; so is ONNX Runtime,
   * whose model is of F32; Jlama, the slowest, at BF16; the largest products of MXFP4 are there for
   * a bar that only ggml sets.
   */
  static boolean isLeftOut(String contestant, Workload workload) {
    if (workload instanceof Workload.Encode encode) {
      return contestant.equals("ONNX Runtime") && encode.weights() != Format.F32;
    }
    if (!(workload instanceof Workload.Gemm gemm)) {
      return false;
    }
    return switch (contestant) {
      case "OpenBLAS", "oneDNN" -> gemm.type() != Format.F32;
      case "Jlama" -> gemm.type() != Format.BF16;
      case "ggml" -> false;
      default -> gemm.type() == Format.MXFP4 && gemm.work() > LARGE;
    };
  }

  /**
   * The groups of a quick run; those that a bar is for come first, in case time runs out.
   *
   * @param threads the most threads
   */
  public static List<Group> quick(int threads) {
    List<Group> groups = new ArrayList<>();
    for (int n : new int[] {256, 1024, 4096, 65536}) {
      groups.add(
          new Group(
              List.of(Format.values()).stream()
                  .<Workload>map(type -> new Workload.Dot(type, n))
                  .toList(),
              MANY));
    }
    List<Integer> numbers = threads == 1 ? List.of(1) : List.of(1, threads);
    groups.add(cached(HALVES_AND_QUARTERS, 1));
    if (threads > 1) {
      // Two threads of some peers take a thousand times as long for so little work.
      groups.add(cached(List.of(Format.BF16, Format.E4M3, Format.MXFP4), threads));
    }
    if (threads > 1) {
      // For one thread the bandwidth of a core is the limit: a single format tells how far it is.
      groups.add(fromMemory(1, 12288, Format.BF16));
    }
    groups.add(fromMemory(threads, 12288, Format.BF16));
    groups.add(fromMemory(threads, 12288, Format.F16));
    groups.add(fromMemory(threads, 24576, Format.E4M3));
    groups.add(fromMemory(threads, 49152, Format.MXFP4, Format.NVFP4));
    for (int number : numbers) {
      groups.add(new Group(cube(1024, number), number == 1 ? MANY : FEW));
      groups.add(new Group(cube(2048, number), FEW));
    }
    quantization(groups);
    groups.add(
        new Group(
            List.of(
                new Workload.Encode(32, 128, Format.F32, 1),
                new Workload.Encode(32, 128, Format.BF16, 1)),
            FEW));
    conversions(groups);
    for (Workload.Function function : Workload.Function.values()) {
      groups.add(new Group(List.of(new Workload.Norm(function, 512, 384, 1)), MANY));
    }
    for (Workload.Call call : Workload.Call.values()) {
      groups.add(new Group(List.of(new Workload.FfmCall(call)), MANY));
    }
    for (int number : numbers) {
      for (int m : new int[] {1, 4, 16}) {
        groups.add(
            new Group(
                List.of(
                    new Workload.Gemm(Format.F32, m, 2048, 2048, number),
                    new Workload.Gemm(Format.BF16, m, 2048, 2048, number),
                    new Workload.Gemm(Format.E4M3, m, 2048, 2048, number)),
                number == 1 ? MANY - 2 : FEW));
      }
    }
    return groups;
  }

  /** GEMV of weights that stay in the second cache. */
  private static Group cached(List<Format> types, int number) {
    return new Group(
        types.stream().<Workload>map(type -> new Workload.Gemv(type, 128, 4096, number)).toList(),
        number == 1 ? MANY : FEW);
  }

  /** GEMV of at least 384 MiB of weights: more than any cache, and read once in each turn. */
  private static Group fromMemory(int number, int rows, Format... types) {
    return new Group(
        List.of(types).stream()
            .<Workload>map(type -> new Workload.Gemv(type, rows, 16384, number))
            .toList(),
        FEW);
  }

  private static List<Workload> cube(int extent, int number) {
    return List.of(Format.F32, Format.BF16, Format.E4M3, Format.MXFP4).stream()
        .<Workload>map(type -> new Workload.Gemm(type, extent, extent, extent, number))
        .toList();
  }

  /** What reads or writes 64 MB of F32. */
  private static void quantization(List<Group> groups) {
    for (Format type : List.of(Format.E4M3, Format.MXFP4, Format.NVFP4)) {
      groups.add(
          new Group(
              List.of(
                  new Workload.Quantize(type, 4096, 4096, 1),
                  new Workload.Dequantize(type, 4096, 4096, 1)),
              MANY - 2));
    }
  }

  private static void conversions(List<Group> groups) {
    for (DType type : List.of(DType.BF16, DType.F16, DType.F8_E4M3)) {
      groups.add(
          new Group(
              List.of(
                  new Workload.Convert(DType.F32, type, Rounding.NEAREST_EVEN, 16 * MEBI, 1),
                  new Workload.Convert(type, DType.F32, Rounding.NEAREST_EVEN, 16 * MEBI, 1),
                  new Workload.Convert(DType.F32, type, Rounding.stochastic(1), 16 * MEBI, 1)),
              MANY - 2));
    }
  }
}
