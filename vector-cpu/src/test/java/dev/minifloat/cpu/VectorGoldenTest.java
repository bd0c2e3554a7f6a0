package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.contract.ConversionEngine;
import dev.minifloat.contract.GoldenConversions;
import dev.minifloat.contract.GoldenResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The recorded conversions: every decode table and half, and 6 · 2^20 inputs about ties. */
class VectorGoldenTest {
  @Test
  void conversionsAreThoseOfTheGoldenTables() {
    try (VectorBackend backend = VectorBackend.threads(2)) {
      ConversionEngine engine = ConversionEngine.of(backend);
      check(GoldenConversions.decodeTables(engine));
      check(GoldenConversions.halves(engine));
      List<GoldenResult> quick = GoldenConversions.quick(engine);
      assertEquals(13, quick.size());
      check(quick);
    }
  }

  private static void check(List<GoldenResult> results) {
    results.forEach(result -> assertTrue(result.ok(), result::toString));
  }
}
