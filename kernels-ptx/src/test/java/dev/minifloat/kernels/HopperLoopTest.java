package dev.minifloat.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a warp that multiplies issues for each 128 bytes of K, in the kernels of sm_90a: the loop
 * from the wait for a stage to the next, as it stands in the PTX.
 */
class HopperLoopTest {
  private static final KernelCatalog CATALOG = KernelCatalog.load();

  /** Of 64 × 128 sums a thread of a warpgroup has so many, and multiplies each by its scales. */
  private static final int SUMS = 64;

  private static Stream<KernelEntry> kernels() {
    return CATALOG.kernels().stream().filter(kernel -> kernel.file().path().startsWith("sm_90a/"));
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void aWarpIssuesHalfMoreThanItsPromotionNeeds(KernelEntry kernel) throws IOException {
    List<String> loop = loop(kernel);

    assertEquals(SUMS, count(loop, "fma.rn.f32"), () -> String.join("\n", loop));
    assertEquals(4, count(loop, "wgmma.mma_async"), () -> String.join("\n", loop));
    assertTrue(
        loop.size() <= SUMS * 3 / 2,
        () -> loop.size() + " instructions:\n" + String.join("\n", loop));
  }

  private static long count(List<String> loop, String instruction) {
    return loop.stream().filter(line -> line.startsWith(instruction)).count();
  }

  /** The instructions of the loop around the only place that multiplies. */
  private static List<String> loop(KernelEntry kernel) throws IOException {
    String body =
        Ptx.parse(new String(CATALOG.open(kernel.file()), StandardCharsets.UTF_8))
            .entries()
            .get(kernel.entry())
            .body();
    List<String> lines = body.lines().map(String::strip).toList();
    int multiplies = lines.indexOf("wgmma.fence.sync.aligned;");
    int from = multiplies;
    while (!lines.get(from).startsWith("$L__")) {
      from--;
    }
    String label = lines.get(from).replace(":", ";");
    int to = multiplies;
    while (!lines.get(to).endsWith(label)) {
      to++;
    }
    return lines.subList(from + 1, to + 1).stream()
        .filter(line -> line.endsWith(";") && !line.startsWith(".") && !line.startsWith("//"))
        .toList();
  }
}
