package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.codec.BlockQuantizer;
import java.lang.foreign.Arena;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class FixturesTest {
  @TestFactory
  Stream<DynamicTest> codecReproducesEachFixture() {
    return Fixture.all().stream()
        .map(
            fixture ->
                DynamicTest.dynamicTest(
                    fixture.name(),
                    () ->
                        fixture.requireSame(
                            BlockQuantizer.quantize(
                                Arena.ofAuto(), fixture.input(), fixture.spec()))));
  }

  @Test
  void everyFileHasCases() {
    for (String file : new String[] {"tensor", "rows", "columns", "block", "mx", "nvfp4"}) {
      assertTrue(Fixture.all().stream().anyMatch(f -> f.name().startsWith(file + ":")), file);
    }
  }
}
