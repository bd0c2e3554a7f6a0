package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Overflow;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.reference.ReferenceBackend;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class GoldenConversionsTest {
  @TestFactory
  Stream<DynamicTest> codecReproducesTheRecordedNumbers() {
    return tests(GoldenConversions.quickAll(ConversionEngine.codec()));
  }

  @TestFactory
  Stream<DynamicTest> referenceReproducesTablesAndHalves() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      ConversionEngine engine = ConversionEngine.of(backend);
      return Stream.concat(
          tests(GoldenConversions.decodeTables(engine)), tests(GoldenConversions.halves(engine)));
    }
  }

  private static Stream<DynamicTest> tests(List<GoldenResult> results) {
    return results.stream()
        .map(r -> DynamicTest.dynamicTest(r.name(), () -> assertTrue(r.ok(), r::toString)));
  }

  @Test
  void thirteenConversionsAreRecorded() {
    assertEquals(13, GoldenConversion.values().length);
    for (GoldenConversion conversion : GoldenConversion.values()) {
      assertTrue(GoldenData.checksums("quick").containsKey(conversion.recordedName()));
      assertEquals(256, GoldenData.chunks().get(conversion.recordedName()).length);
    }
  }

  /** One chunk stands for all: a run over 2^32 inputs is for {@code minifloat verify}. */
  @Test
  void aWrongChunkIsNamedWithItsFirstWrongInput() throws InterruptedException {
    ConversionEngine codec = ConversionEngine.codec();
    ConversionEngine wrong =
        (source, to, rounding, overflow, arena) -> {
          var result = codec.convert(source, to, rounding, overflow, arena);
          // 3F800000 … is in the fourth chunk that is run.
          if (source.code(0) == 0x3F800000) {
            PackedElements.set(to, result.data(), 5, 0);
          }
          return result;
        };
    AtomicInteger chunks = new AtomicInteger();
    GoldenExhaustive run =
        new GoldenExhaustive(
            wrong, List.of(GoldenConversion.E4M3_SATURATE), (_, _) -> chunks.incrementAndGet());
    GoldenResult result = run.chunk(GoldenConversion.E4M3_SATURATE, 0x3F);
    assertFalse(result.ok());
    assertTrue(result.toString().contains("inputs 3f"), result::toString);
    assertTrue(result.toString().contains("3f800005"), result::toString);
    assertTrue(run.chunk(GoldenConversion.E4M3_SATURATE, 0x40).ok());
    assertEquals(2, chunks.get());
  }

  @Test
  void overflowOfEachConversionIsAsNamed() {
    for (GoldenConversion conversion : GoldenConversion.values()) {
      boolean saturates = conversion.recordedName().contains("satfin");
      assertEquals(saturates, conversion.overflow() == Overflow.SATURATE, conversion::toString);
    }
  }
}
