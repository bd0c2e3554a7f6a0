package dev.minifloat.cli;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.cuda.KernelChoice;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import dev.minifloat.kernels.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Says which CUDA kernel a product would be given, and why none of the others. */
@Command(
    name = "kernels",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Say which CUDA kernel the backend gives a product, and why none of the others.",
      "Without --types, list the kernels of all pairs of types. No GPU is needed: the choice"
          + " follows from types, scalings, extents and strides alone."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat kernels --device sm_90a",
      "  minifloat kernels --device sm_89 --types f8_e4m3,f8_e4m3,bf16 --scalings rows,128x128",
      "  minifloat kernels --types f16,nvfp4 --shape 1,11008,4096",
      "  minifloat kernels --static --types bf16,f4_e2m1 --shape 8192,8192,8192"
    })
final class KernelsCommand extends BaseCommand {
  private static final int EXTENTS = 3;

  @Option(
      names = "--device",
      paramLabel = "sm_XX",
      defaultValue = "sm_89",
      description = "The device, such as sm_80, sm_90a or 8.9 (default: ${DEFAULT-VALUE}).")
  String device;

  @Option(
      names = "--shape",
      paramLabel = "M,N,K",
      split = ",",
      defaultValue = "4096,4096,4096",
      description =
          "Rows of A, columns of B, columns of A; a fourth number before them is a batch's extent"
              + " (default: 4096,4096,4096).")
  List<Long> shape;

  @Option(
      names = "--types",
      paramLabel = "A,B[,OUT]",
      split = ",",
      description =
          "Types of the operands and the result (default: F32); nvfp4 and mxfp4 are known.")
  List<String> types = List.of();

  @Option(
      names = "--scalings",
      paramLabel = "A,B",
      split = ",(?![^(]*\\))",
      description =
          "Scalings of the operands (default: none): none, tensor, rows, columns, RxC, mx,"
              + " nvfp4. B's are those of its storage.")
  List<String> scalings = List.of();

  @Option(
      names = "--layout",
      paramLabel = "LAYOUT",
      defaultValue = "nt",
      description =
          "How A [M, K] and B [K, N] are stored: n as they are, t transposed; weights [N, K] are"
              + " the t of nt (default: ${DEFAULT-VALUE}).")
  String layout;

  @Option(
      names = "--static",
      description =
          "Count what kernels on tensor cores do, in the simulator, and print registers, occupancy,"
              + " bytes, bank conflicts and bounds for cards. --types chooses kernels; one alone"
              + " also says what its instructions are.")
  boolean figures;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Target target = parsed("--device", () -> Target.parse(deviceName()));
    if (shape.size() != EXTENTS && shape.size() != EXTENTS + 1) {
      throw usage("--shape: M,N,K or BATCH,M,N,K, not " + shape.size() + " numbers");
    }
    if (!layout.matches("[nt][nt]")) {
      throw usage("--layout: nn, nt, tn or tt, not \"" + layout + "\"");
    }
    if (figures) {
      printFigures(target);
    } else if (types.isEmpty()) {
      if (!scalings.isEmpty()) {
        throw usage("--scalings: say --types too");
      }
      listPairs(target);
    } else {
      explain(target);
    }
    return 0;
  }

  private void printFigures(Target target) throws IOException, InterruptedException {
    if (!scalings.isEmpty() || shape.size() != EXTENTS || types.size() > 2) {
      throw usage("--static goes with --device, --shape M,N,K, --types A,B and --json");
    }
    List<String> names =
        types.stream().map(type -> parsed("--types", () -> DType.parse(type)).name()).toList();
    StaticFigures counted = new StaticFigures(shape);
    counted.measure(target.capability(), kernel -> kernel.accepts(names, List.of()));
    if (json) {
      Json.print(out(), counted.maps());
    } else {
      counted.print(out());
    }
  }

  private String deviceName() {
    String name = device.strip().toLowerCase(Locale.ROOT);
    return name.matches("\\d+\\.\\d") ? "sm_" + name.replace(".", "") : name;
  }

  private KernelChoice choice(
      Target target, KernelChoice.Operand a, KernelChoice.Operand b, DType out) {
    int at = shape.size() - EXTENTS;
    long batch = at == 0 ? 1 : shape.getFirst();
    KernelChoice.Product product =
        parsed(
            "--shape",
            () ->
                new KernelChoice.Product(
                    a, b, out, batch, shape.get(at), shape.get(at + 1), shape.get(at + 2), 1));
    return parsed("--device", () -> KernelChoice.of(target.capability(), product));
  }

  private boolean isTurned(int operand) {
    return layout.charAt(operand) == 't';
  }

  // ---- One product
  // --------------------------------------------------------------------------------

  private void explain(Target target) {
    if (types.size() < 2 || types.size() > 3) {
      throw usage("--types: A,B or A,B,OUT, not " + types.size() + " types");
    }
    if (scalings.size() > 2) {
      throw usage("--scalings: one or two, not " + scalings.size());
    }
    KernelChoice.Operand a = operand(0);
    KernelChoice.Operand b = operand(1);
    DType out =
        types.size() == 2 ? DType.F32 : parsed("--types", () -> DType.parse(types.getLast()));
    KernelChoice choice = choice(target, a, b, out);
    if (json) {
      Json.print(out(), map(target, choice));
      return;
    }
    print(target, choice);
  }

  private KernelChoice.Operand operand(int index) {
    String name = types.get(index).strip().toLowerCase(Locale.ROOT);
    Scaling own =
        switch (name) {
          case "nvfp4" -> Scaling.nvfp4();
          case "mxfp4", "mxfp8" -> Scaling.mx();
          default -> Scaling.none();
        };
    String elements =
        switch (name) {
          case "nvfp4", "mxfp4" -> "f4_e2m1";
          case "mxfp8" -> "f8_e4m3";
          default -> name;
        };
    DType dtype = parsed("--types", () -> DType.parse(elements));
    Scaling scaling =
        index < scalings.size()
            ? parsed("--scalings", () -> Scaling.parse(scalings.get(index)))
            : own;
    return parsed("--scalings", () -> new KernelChoice.Operand(dtype, scaling, isTurned(index)));
  }

  private static KernelEntry entry(Target target, KernelChoice choice) {
    return KernelCatalog.load().kernel(choice.kernel(), target.capability());
  }

  private void print(Target target, KernelChoice choice) {
    KernelEntry kernel = entry(target, choice);
    List<Integer> grid = choice.grid();
    out().println("kernel:      " + choice.kernel() + ", " + kernel.file().path());
    out().println("runs on:     " + kernel.file().target().devices());
    out()
        .println(
            "tile:        "
                + product(kernel.tile())
                + ", %d threads, %,d bytes of shared memory, %d registers a thread"
                    .formatted(
                        kernel.threads().getFirst() * kernel.threads().get(1),
                        kernel.staticShared() + kernel.dynamicShared(),
                        kernel.registers()));
    out().println("grid:        " + product(grid) + " CTAs");
    if (choice.splits() > 1) {
      out().println("shares of K: " + choice.splits() + ", added by skinny_sum");
    }
    out().println("accumulator: " + kernel.accumulator());
    for (String step : choice.steps()) {
      out().println("before:      " + step);
    }
    out().println();
    Table table =
        new Table().text("kernel", "not taken").text("target", "target").text("reason", "why");
    for (KernelChoice.Refusal refusal : choice.refusals()) {
      table.row(refusal.kernel(), refusal.target(), refusal.reason());
    }
    table.print(out());
  }

  private static String product(List<Integer> extents) {
    return String.join(" × ", extents.stream().map(String::valueOf).toList());
  }

  private static Map<String, Object> map(Target target, KernelChoice choice) {
    KernelEntry kernel = entry(target, choice);
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kernel", choice.kernel());
    map.put("target", choice.target());
    map.put("path", kernel.file().path());
    map.put("tile", kernel.tile());
    map.put("threads", kernel.threads().getFirst() * kernel.threads().get(1));
    map.put("sharedBytes", kernel.staticShared() + kernel.dynamicShared());
    map.put("registers", kernel.registers());
    map.put("grid", choice.grid());
    map.put("splits", choice.splits());
    map.put("accumulator", kernel.accumulator());
    map.put("steps", choice.steps());
    List<Map<String, Object>> refusals = new ArrayList<>();
    for (KernelChoice.Refusal refusal : choice.refusals()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("kernel", refusal.kernel());
      one.put("target", refusal.target());
      one.put("reason", refusal.reason());
      refusals.add(one);
    }
    map.put("notTaken", refusals);
    return map;
  }

  // ---- All pairs of types
  // -------------------------------------------------------------------------

  private void listPairs(Target target) {
    Table table =
        new Table()
            .text("a", "a")
            .text("b", "b")
            .text("kernel", "kernel")
            .text("target", "target")
            .text("accumulator", "accumulator");
    for (DType a : multiplied()) {
      for (DType b : multiplied()) {
        KernelChoice choice =
            choice(
                target,
                new KernelChoice.Operand(a, Scaling.none(), isTurned(0)),
                new KernelChoice.Operand(b, Scaling.none(), isTurned(1)),
                DType.F32);
        table.row(
            a.name(),
            b.name(),
            choice.kernel(),
            choice.target(),
            entry(target, choice).accumulator());
      }
    }
    if (json) {
      Json.print(out(), table.maps());
    } else {
      table.print(out());
    }
  }

  /** The types that products take. */
  private static List<DType> multiplied() {
    List<String> taken =
        KernelCatalog.load().kernels().stream()
            .filter(kernel -> kernel.operation() == Operation.GEMM)
            .flatMap(kernel -> kernel.a().stream())
            .distinct()
            .toList();
    return Stream.of(DType.values()).filter(dtype -> taken.contains(dtype.name())).toList();
  }
}
