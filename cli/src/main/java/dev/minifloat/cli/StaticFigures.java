package dev.minifloat.cli;

import dev.minifloat.cli.kernels.Assembled;
import dev.minifloat.cli.kernels.Card;
import dev.minifloat.cli.kernels.KernelMeter;
import dev.minifloat.cli.kernels.LoopFigures;
import dev.minifloat.cli.kernels.Roofline;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** What {@code minifloat kernels --static} says of kernels without a card. */
final class StaticFigures {
  /** Cards whose multiprocessors differ in what a block takes of them. */
  private static final List<Card> SIZES = List.of(Card.H100, Card.RTX_4090);

  private final List<Long> shape;
  private final List<Row> rows = new ArrayList<>();

  /** A kernel's figures. */
  private record Row(LoopFigures figures, Assembled assembled) {
    KernelEntry kernel() {
      return figures.kernel();
    }

    int threads() {
      return kernel().threads().getFirst() * kernel().threads().get(1);
    }

    int sharedBytes() {
      return kernel().staticShared() + kernel().dynamicShared();
    }

    String occupancy(Card card) {
      int resident = card.residentBlocks(threads(), assembled.registers(), sharedBytes());
      return "%d, %.0f %%".formatted(resident, 100 * card.occupancy(resident, threads()));
    }
  }

  /**
   * Figures for a product.
   *
   * @param shape M, N, K
   */
  StaticFigures(List<Long> shape) {
    this.shape = shape;
  }

  /** Counts the kernels of a device that are wanted. */
  void measure(int capability, Predicate<KernelEntry> wanted)
      throws IOException, InterruptedException {
    KernelCatalog catalog = KernelCatalog.load();
    Optional<Path> ptxas = Assembled.ptxas();
    List<KernelEntry> running =
        catalog.kernels().stream()
            .filter(kernel -> kernel.file().target().runsOn(capability))
            .filter(wanted)
            .toList();
    try (Progress progress = Progress.of("Counting", running.size(), " kernels")) {
      for (String kind : SimulatedDriver.kinds()) {
        if (!kind.matches("sm_\\d+")) {
          // The same device by another name.
          continue;
        }
        int target = Integer.parseInt(kind.substring("sm_".length()));
        try (KernelMeter meter = new KernelMeter(catalog, kind)) {
          for (KernelEntry kernel : meter.kernels(target)) {
            if (running.contains(kernel)) {
              Assembled assembled =
                  ptxas.isPresent()
                      ? Assembled.by(ptxas.get(), catalog, kernel)
                      : Assembled.recorded(kernel);
              for (KernelMeter.Scales scales : KernelMeter.Scales.values()) {
                if (KernelMeter.takes(kernel, scales)) {
                  rows.add(new Row(meter.measure(kernel, scales), assembled));
                }
              }
              progress.step(1);
            }
          }
        }
      }
    }
  }

  private Optional<Roofline> bound(Row row, Card card) {
    return row.kernel().file().target().runsOn(card.capability())
        ? Optional.of(Roofline.of(row.figures(), card, shape.get(0), shape.get(1), shape.get(2)))
        : Optional.empty();
  }

  void print(PrintWriter out) {
    if (rows.isEmpty()) {
      out.println("No kernel for products with mma takes these types on this device.");
      return;
    }
    out.println(
        "What a tile's loop over K does, counted in the simulator: warp instructions of PTX.");
    out.println();
    figures().print(out);
    out.println();
    out.println(
        "others/mma: instructions that multiply no matrices for each that does. conflicts: bank"
            + " conflicts of the loop.");
    out.println(
        "B/kop: bytes for a thousand operations, read from global memory (and as a multiple of what"
            + " the tiles hold), moved to and from shared memory.");
    out.println(
        "CTAs: blocks that a multiprocessor with 228 or 100 KiB of shared memory holds, and the"
            + " share of its warps. Registers and spills: "
            + rows.getFirst().assembled().source()
            + ".");
    if (rows.stream().map(Row::kernel).distinct().count() == 1) {
      printClasses(out);
    }
    out.println();
    out.println(
        "BOUND for a product of %d × %d × %d: T operations/s, and the share of the tensor cores' rate"
            .formatted(shape.get(0), shape.get(1), shape.get(2)));
    out.println();
    bounds().print(out);
    out.println();
    out.println(
        "Limited by t tensor cores, i instructions, s shared memory, m memory. What is assumed:");
    Roofline.ASSUMPTIONS.forEach(assumption -> out.println("- " + assumption));
  }

  private Table figures() {
    Table table =
        new Table()
            .text("kernel", "kernel")
            .text("scales", "scales")
            .number("registers", "regs", "%d")
            .number("spilledBytes", "spills", "%d")
            .number("sharedBytes", "shared", "%d")
            .number("othersPerMma", "others/mma", "%.2f")
            .number("conflicts", "conflicts", "%d")
            .number("globalBytes", "global B/kop", "%.2f")
            .number("globalExcess", "×", "%.2f")
            .number("loopSharedBytes", "shared B/kop", "%.2f");
    SIZES.forEach(card -> table.text(card.name(), "CTAs, " + (card == Card.H100 ? 228 : 100)));
    for (Row row : rows) {
      LoopFigures figures = row.figures();
      table.row(
          row.kernel().entry(),
          figures.scales(),
          row.assembled().registers(),
          row.assembled().spilledBytes(),
          row.sharedBytes(),
          figures.othersPerProduct(),
          figures.conflicts(),
          figures.globalBytesPerThousand(),
          figures.globalExcess(),
          figures.sharedBytesPerThousand(),
          row.occupancy(SIZES.getFirst()),
          row.occupancy(SIZES.getLast()));
    }
    return table;
  }

  /** Where the instructions of a kernel go. */
  private void printClasses(PrintWriter out) {
    for (Row row : rows) {
      StringBuilder line =
          new StringBuilder("scales %s, for each mma:".formatted(row.figures().scales()));
      row.figures().others().entrySet().stream()
          .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
          .forEach(
              entry ->
                  line.append(
                      String.format(
                          Locale.ROOT,
                          " %s %.2f",
                          entry.getKey().toLowerCase(Locale.ROOT),
                          (double) entry.getValue() / row.figures().products())));
      out.println(line);
    }
  }

  private Table bounds() {
    Table table = new Table().text("kernel", "kernel").text("scales", "scales");
    for (Card card : Card.values()) {
      table.text(card.name(), card.title());
    }
    for (Row row : rows) {
      List<Object> cells = new ArrayList<>(List.of(row.kernel().entry(), row.figures().scales()));
      for (Card card : Card.values()) {
        cells.add(
            bound(row, card)
                .map(
                    bound ->
                        String.format(
                            Locale.ROOT,
                            "≤ %.0f, %.0f %% %s",
                            bound.operationsPerSecond() / 1e12,
                            100 * bound.ofPeak(),
                            bound.limit().substring(0, 1)))
                .orElse("-"));
      }
      table.row(cells.toArray());
    }
    return table;
  }

  /** Everything, for programs. */
  List<Map<String, Object>> maps() {
    List<Map<String, Object>> maps = new ArrayList<>();
    for (Row row : rows) {
      LoopFigures figures = row.figures();
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("kernel", row.kernel().entry());
      map.put("scales", figures.scales());
      map.put("registers", row.assembled().registers());
      map.put("spilledBytes", row.assembled().spilledBytes());
      map.put("registersFrom", row.assembled().source());
      map.put("sharedBytes", row.sharedBytes());
      map.put("othersPerMma", figures.othersPerProduct());
      map.put("mma", figures.products());
      map.put("others", figures.others());
      map.put("loopConflicts", figures.conflicts());
      map.put("otherConflicts", figures.outsideConflicts());
      map.put("globalBytesPerThousand", figures.globalBytesPerThousand());
      map.put("globalExcess", figures.globalExcess());
      map.put("sharedBytesPerThousand", figures.sharedBytesPerThousand());
      List<Map<String, Object>> bounds = new ArrayList<>();
      for (Card card : Card.values()) {
        bound(row, card).ifPresent(bound -> bounds.add(bound.map()));
      }
      map.put("bounds", bounds);
      maps.add(map);
    }
    return maps;
  }
}
