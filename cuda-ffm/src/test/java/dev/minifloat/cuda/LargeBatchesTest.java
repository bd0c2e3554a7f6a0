package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.SimulatedDriver;
import org.junit.jupiter.api.Test;

/**
 * Batches of more matrices than a grid has layers for; so many products are a check of the
 * contract.
 */
class LargeBatchesTest {
  private static final int MATRICES = 65_537;

  private static HostTensor matrices() {
    float[] values = new float[MATRICES * 6];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    return HostTensor.of(values, MATRICES, 2, 3);
  }

  /** So many CTAs are quicker without the bookkeeping of races, of which one shows as well. */
  private static SimulatedBackend open() {
    return new SimulatedBackend(
        SimulatedDriver.builder().device("sim:sm_80").detectRaces(false).build());
  }

  @Test
  void allAreTurned() {
    try (SimulatedBackend simulated = open();
        Scope scope = simulated.backend().scope()) {
      Tensor x = scope.upload(matrices());
      HostTensor turned = scope.download(scope.copy(x.transposed()));
      assertEquals("transpose_b32", simulated.driver().lastLaunch().orElseThrow().kernel());
      for (int i = 0; i < turned.shape().elements(); i++) {
        int in = i % 6;
        float expected = i - in + in % 2 * 3 + in / 2;
        assertEquals(expected, turned.get(i), "element " + i);
      }
    }
  }

  @Test
  void allHaveTheirSoftmax() {
    try (SimulatedBackend simulated = open();
        Scope scope = simulated.backend().scope()) {
      Tensor x = scope.upload(HostTensor.of(new float[2 * MATRICES], MATRICES, 1, 2));
      HostTensor halves = scope.download(scope.softmax(Softmax.of(x)));
      for (int i = 0; i < 2 * MATRICES; i++) {
        assertEquals(0.5f, halves.get(i), "element " + i);
      }
    }
  }
}
