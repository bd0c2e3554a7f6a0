package dev.minifloat.cli.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Counts of product kernels, held to {@code figures.txt}: a kernel that got better gets lower
 * figures there. That none spills registers, the tests of the catalog see to.
 */
class KernelFiguresTest {
  /** A tile's elements and scales are read once, with so much on top. */
  private static final double MOST_EXCESS = 1.05;

  private static final double ROUNDED = 0.005;

  private record Recorded(double othersPerMma, double globalExcess, long outsideConflicts) {}

  private static Map<String, Recorded> recorded() throws IOException {
    Map<String, Recorded> all = new HashMap<>();
    try (InputStream in = KernelFiguresTest.class.getResourceAsStream("figures.txt")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().filter(one -> !one.startsWith("#")).toList()) {
        String[] words = line.split(" ", -1);
        all.put(
            words[0] + " " + words[1],
            new Recorded(
                Double.parseDouble(words[2]),
                Double.parseDouble(words[3]),
                Long.parseLong(words[4])));
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {80, 89, 90, 100})
  void noKernelDoesMoreThanIsRecorded(int capability) throws IOException {
    Map<String, Recorded> recorded = recorded();
    List<String> worse = new ArrayList<>();
    try (KernelMeter meter = new KernelMeter(KernelCatalog.load(), "sm_" + capability)) {
      List<KernelEntry> kernels = meter.kernels(capability);
      assertTrue(kernels.size() >= 4, kernels.toString());
      for (KernelEntry kernel : kernels) {
        for (KernelMeter.Scales scales : KernelMeter.Scales.values()) {
          if (KernelMeter.takes(kernel, scales)) {
            LoopFigures figures = meter.measure(kernel, scales);
            String name = kernel.entry() + " " + scales;
            Recorded most = recorded.get(name);
            if (most == null || isWorse(figures, most)) {
              worse.add(
                  "%s %.2f %.3f %d, conflicts of the loop %d; recorded: %s"
                      .formatted(
                          name,
                          figures.othersPerProduct(),
                          figures.globalExcess(),
                          figures.outsideConflicts(),
                          figures.conflicts(),
                          most));
            }
          }
        }
      }
    }
    assertTrue(worse.isEmpty(), String.join("\n", worse));
  }

  private static boolean isWorse(LoopFigures figures, Recorded most) {
    boolean isUnscaled = figures.scales().equals(KernelMeter.Scales.NONE.toString());
    double excess = isUnscaled ? MOST_EXCESS : Math.max(MOST_EXCESS, most.globalExcess() + ROUNDED);
    return figures.conflicts() != 0
        || figures.othersPerProduct() > most.othersPerMma() + ROUNDED
        || figures.globalExcess() > excess
        || figures.outsideConflicts() > most.outsideConflicts();
  }

  /** A block of 128 × 64, 64 × 32 a warp: counted by hand from the kernel's text. */
  @Test
  void theLoopIsCountedWithoutWhatIsOutside() {
    try (KernelMeter meter = new KernelMeter(KernelCatalog.load(), "sm_80")) {
      KernelEntry kernel = KernelCatalog.load().kernel("gemm_bf16", 80);
      LoopFigures figures = meter.measure(kernel, KernelMeter.Scales.NONE);

      // 4 warps × 4 × 4 products of m16n8k16 for each 16 of K.
      assertEquals(256, figures.depth());
      assertEquals(4 * 16 * 256 / 16, figures.products());
      // Four ldmatrix of A for these, two of B.
      assertEquals(4 * 6 * 256 / 16, figures.others().get("MATRIX_LOAD"));
      // 128 rows of A, 64 of B, 2 bytes an element.
      assertEquals((128 + 64) * 2 * 256, figures.globalBytes());
      assertEquals(1, figures.globalExcess());
      // ldmatrix reads 512 bytes, and tiles are written once.
      assertEquals(4 * 6 * 256L / 16 * 512 + (128 + 64) * 2 * 256, figures.sharedBytes());
      assertEquals(Card.Rate.HALF, figures.rate());
      assertTrue(figures.outside() > 0);
    }
  }

  /** A whole tile of 192 × 128, three warpgroups of 64 rows each. */
  @Test
  void productsOfWarpgroupsAreCountedAsTheirWarpsIssueThem() {
    try (KernelMeter meter = new KernelMeter(KernelCatalog.load(), "sm_90")) {
      KernelEntry kernel = KernelCatalog.load().kernel("gemm_hopper_e4m3_e4m3", 90);
      LoopFigures figures = meter.measure(kernel, KernelMeter.Scales.BLOCKS);

      assertEquals(4 * 128, figures.depth());
      // 12 warps, each with its part of a product of 32 elements of K.
      assertEquals(12 * 4 * 128 / 32, figures.products());
      assertEquals(12 * 64 * 4, figures.others().get("FLOAT"), 8 * 4);
      assertTrue(figures.globalBytes() >= (192 + 128) * 4 * 128, figures.toString());
      assertEquals(Card.Rate.EIGHT, figures.rate());
      // Both tiles are written once; each warpgroup reads its rows of A and all of B.
      assertTrue(figures.sharedBytes() >= 4L * (2 * 192 + (1 + 3) * 128) * 128, figures.toString());
      Roofline bound = Roofline.of(figures, Card.H100, 8192, 8192, 8192);
      assertEquals("shared memory", bound.limit());
      assertTrue(bound.ofPeak() >= 0.85, "a bound of " + bound + ": " + figures);
    }
  }

  @Test
  void blocksShareAMultiprocessor() {
    // 162 registers are 21 units of 256 a warp: 12 warps. 35,840 bytes fit six times, or twice.
    assertEquals(3, Card.H100.residentBlocks(128, 162, 34_816));
    assertEquals(2, Card.RTX_4090.residentBlocks(128, 162, 34_816));
    assertEquals(3.0 * 128 / 2048, Card.H100.occupancy(3, 128));
    assertEquals(24, Card.RTX_4090.residentBlocks(32, 16, 0));
    assertEquals(8, Card.H200.residentBlocks(256, 32, 1024));
  }

  @Test
  void theSlowestResourceIsTheBound() {
    KernelEntry kernel = KernelCatalog.load().kernel("gemm_bf16", 80);
    Map<String, Long> few = Map.of("INTEGER", 100L);
    Map<String, Long> many = Map.of("INTEGER", 1_000_000L);
    LoopFigures light = figures(kernel, few);
    Roofline tensor = Roofline.of(light, Card.RTX_4090, 8192, 8192, 8192);
    assertEquals("tensor cores", tensor.limit());
    assertEquals(1, tensor.ofPeak(), 1e-12);
    assertEquals(165.2e12, tensor.operationsPerSecond(), 1);
    assertEquals("memory", Roofline.of(light, Card.RTX_4090, 64, 64, 8192).limit());
    Roofline issue = Roofline.of(figures(kernel, many), Card.RTX_4090, 8192, 8192, 8192);
    assertEquals("instructions", issue.limit());
    // 64 × 128 tiles, 32 loops of 1,001,024 instructions, 128 multiprocessors × 4 × 2.52 GHz.
    double seconds = 64.0 * 128 * 32 * 1_001_024 / (128 * 4 * 2.52e9);
    assertEquals(2.0 * 8192 * 8192 * 8192 / seconds, issue.operationsPerSecond(), 1e3);
    // An edge costs a whole tile.
    assertEquals(160.0 / 192, Roofline.of(light, Card.RTX_4090, 8192, 160, 8192).ofPeak(), 1e-9);
  }

  private static LoopFigures figures(KernelEntry kernel, Map<String, Long> others) {
    return new LoopFigures(
        kernel, "none", Card.Rate.HALF, 256, 1024, others, 0, 98_304, 98_304, 98_304, 0, 0);
  }
}
