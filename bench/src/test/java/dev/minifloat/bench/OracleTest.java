package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class OracleTest {
  private static Optional<String> fault(
      Workload workload, double tolerance, UnaryOperator<float[]> change) {
    try (FakePeer peer = new FakePeer("fake", new Ours(Path.of("none")), tolerance, change);
        Contestant contestant = peer.prepare(workload).orElseThrow()) {
      contestant.run();
      return new Oracle().fault(workload, contestant);
    }
  }

  private static float[] lastElementOff(float[] result) {
    result[result.length - 1] = result[result.length - 1] * 1.1f + 1;
    return result;
  }

  @TestFactory
  Stream<DynamicTest> aWrongLastElementIsFound() {
    return SmallWorkloads.all().stream()
        .map(
            workload ->
                DynamicTest.dynamicTest(
                    TextTable.title(workload),
                    () -> assertTrue(fault(workload, 0, OracleTest::lastElementOff).isPresent())));
  }

  @Test
  void aNanIsFound() {
    UnaryOperator<float[]> nan =
        result -> {
          result[0] = Float.NaN;
          return result;
        };
    assertTrue(fault(new Workload.Dot(Format.BF16, 256), 0, nan).isPresent());
    assertTrue(fault(new Workload.Dot(Format.BF16, 256), 1e-2, nan).isPresent());
    assertTrue(fault(new Workload.Gemv(Format.I8, 300, 64, 1), 0, nan).isPresent());
    assertTrue(fault(new Workload.Norm(Workload.Function.SILU, 4, 40, 1), 0, nan).isPresent());
  }

  /** BF16 against the F32 values themselves: within its own precision, and not within F32's. */
  @Test
  void anInexactContestantIsHeldToItsOwnTolerance() {
    Workload workload = new Workload.Gemv(Format.BF16, 256, 512, 1);
    assertEquals(Optional.empty(), fault(workload, 0x1p-8, UnaryOperator.identity()));
    assertTrue(fault(workload, 0x1p-14, UnaryOperator.identity()).isPresent());
  }

  @Test
  void aRepeatedRowThatDiffersIsFound() {
    Workload workload = new Workload.Gemv(Format.E4M3, 600, 64, 1);
    UnaryOperator<float[]> change =
        result -> {
          result[300] += 1;
          return result;
        };
    assertTrue(fault(workload, 0, change).isPresent());
  }
}
