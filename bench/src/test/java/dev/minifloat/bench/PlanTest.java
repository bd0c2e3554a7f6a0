package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlanTest {
  private static Stream<Workload> workloads() {
    return Plan.quick(2).stream().flatMap(group -> group.workloads().stream());
  }

  @Test
  void noWorkloadIsMeasuredTwice() {
    Set<Workload> seen = new HashSet<>();
    workloads().forEach(workload -> assertTrue(seen.add(workload), workload.toString()));
  }

  /** Contestants that are compared take turns, and nobody that a bar needs is left out. */
  @Test
  void whatABarRefersToIsMeasuredInItsGroup() {
    for (Plan.Group group : Plan.quick(2)) {
      for (Workload workload : group.workloads()) {
        for (Bar bar : Bar.of(workload)) {
          if (bar.reference() instanceof Bar.Fastest fastest) {
            assertTrue(group.workloads().contains(fastest.workload()), workload.toString());
            for (String contestant : fastest.contestants()) {
              assertFalse(
                  Plan.isLeftOut(contestant, fastest.workload()), contestant + " " + workload);
            }
          }
        }
      }
    }
  }

  @Test
  void everyPromiseHasItsBars() {
    assertEquals(3 + 2 + 3 + 4, bars("dot"));
    assertEquals(2 + 3 + 4, bars("gemv"));
    assertEquals(2 * 2 * 2 * 3, bars("gemm"));
    assertEquals(3, bars("quantize"));
    assertEquals(3, bars("dequantize"));
    assertEquals(2, bars("encode"));
  }

  private static long bars(String subject) {
    return workloads()
        .filter(workload -> workload.subject().equals(subject))
        .mapToLong(workload -> Bar.of(workload).size())
        .sum();
  }

  @Test
  void streamsAre64MegabytesAndWeightsInMemoryPassEveryCache() {
    workloads()
        .forEach(
            workload -> {
              if (workload instanceof Workload.Quantize w) {
                assertEquals(64 << 20, 4 * w.rows() * w.columns());
              } else if (workload instanceof Workload.Gemv w && w.fromMemory()) {
                assertTrue(w.bytes() >= 384 << 20, w.toString());
              }
            });
  }

  @Test
  void oneThreadIsEnough() {
    assertTrue(
        Plan.quick(1).stream()
            .flatMap(group -> group.workloads().stream())
            .allMatch(workload -> workload.threads() == 1));
  }

  @Test
  void aGroupCanBeCutToSubjects() {
    List<Workload> kept =
        Plan.quick(2).stream()
            .flatMap(group -> group.only(List.of("dequantize")).workloads().stream())
            .toList();
    assertEquals(3, kept.size());
  }
}
