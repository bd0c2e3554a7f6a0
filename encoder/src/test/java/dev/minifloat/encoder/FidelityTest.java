package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class FidelityTest {
  private static final double SQRT_HALF = Math.sqrt(0.5);

  @Test
  void anglesAndPairsAreComparedByHand() {
    List<float[]> expected = List.of(new float[] {1, 0}, new float[] {0, 2}, new float[] {3, 3});
    List<float[]> actual = List.of(new float[] {5, 0}, new float[] {1, 1}, new float[] {0, 1});
    Fidelity fidelity = Fidelity.of(expected, actual);
    assertEquals(SQRT_HALF, fidelity.minCosine(), 1e-15);
    assertEquals((1 + 2 * SQRT_HALF) / 3, fidelity.meanCosine(), 1e-15);
    // Of the pairs, (0, 1) goes from 0 to √½, (0, 2) from √½ to 0, (1, 2) stays at √½.
    assertEquals(SQRT_HALF, fidelity.worstPairChange(), 1e-15);
  }

  @Test
  void aTextAloneHasNoPair() {
    assertEquals(
        new Fidelity(1, 1, 0), Fidelity.of(List.of(new float[] {2}), List.of(new float[] {3})));
  }

  @Test
  void numbersAndWidthsMustAgree() {
    List<float[]> one = List.of(new float[] {1});
    assertThrows(IllegalArgumentException.class, () -> Fidelity.of(List.of(), List.of()));
    assertThrows(IllegalArgumentException.class, () -> Fidelity.of(one, List.of()));
    assertThrows(
        IllegalArgumentException.class, () -> Fidelity.of(one, List.of(new float[] {1, 2})));
  }
}
