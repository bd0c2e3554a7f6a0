package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What of Hopper's PTX is taken, for which targets, and what is refused. */
class HopperFormsTest {
  private static String forms() throws IOException {
    try (InputStream in = HopperFormsTest.class.getResourceAsStream("/compiled/hopper-forms.ptx")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void everyFormIsTaken() throws IOException {
    Device device = new Device(forms());
    assertEquals("k", device.module.kernel("k").name());
  }

  /** Each line alone for a target that lacks it. */
  @ParameterizedTest
  @CsvSource({
    "sm_80, cp.async.bulk.commit_group;",
    "sm_80, 'mbarrier.try_wait.shared.b64 p, [a], st, n;'",
    "sm_89, fence.proxy.async;",
    "sm_89, barrier.cluster.wait;",
    "sm_90, wgmma.fence.sync.aligned;",
    "sm_90, setmaxnreg.inc.sync.aligned.u32 240;",
    "sm_100a, wgmma.fence.sync.aligned;"
  })
  void olderAndOtherTargetsLackThem(String target, String line) throws IOException {
    List<String> lines = forms().lines().toList();
    int first =
        lines.indexOf(lines.stream().filter(l -> l.contains("bra END")).findFirst().orElseThrow());
    String text =
        String.join("\n", lines.subList(0, first)).replace("sm_90a", target) + line + " ret; }";
    PtxException refused = assertThrows(PtxException.class, () -> new Device(text));
    assertTrue(refused.getMessage().contains("for " + target), refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "'cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [m, {c0}], [b];', 2 coordinates",
    "'cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [m], [b];', 2 coordinates",
    "'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [g, {c0}], 16, [b];', without coordinates",
    "'cp.async.bulk.tensor.6d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [m, {c0}], [b];', .6d",
    "'cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [a], [m, {c0, c1, c2}], [b], {mask};', .im2col",
    "'mbarrier.arrive.shared.b64 v, [a];', one of type .b64",
  })
  void whatDoesNotFitIsRefused(String line, String part) throws IOException {
    String text = forms().replace("bra END;", "bra END;\n" + line);
    PtxException refused = assertThrows(PtxException.class, () -> new Device(text));
    assertTrue(refused.getMessage().contains(part), refused.getMessage());
  }
}
