package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedInstruction;
import dev.minifloat.cuda.sim.trace.TracedLaunch;
import dev.minifloat.cuda.sim.trace.TracedMbarrier;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a tracer sees of a kernel for 9.0: matrices in shared memory, swizzled, and mbarriers. */
class TracedWarpgroupTest {
  private static final int ROWS = 24;
  private static final int DEPTH = 128;

  /** Whole numbers from -8 to 8, which E4M3 has, and whose products F32 sums exactly. */
  private static float[] numbers(int factor) {
    float[] numbers = new float[ROWS * DEPTH];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = i * factor % 17 - 8;
    }
    return numbers;
  }

  /** Notes what the second warp's first product finds, and what its last one has made. */
  private static final class Notes implements Tracer {
    private final Map<String, Fragment> first = new HashMap<>();
    private final List<Integer> arrivals = new ArrayList<>();
    private TracedInstruction product;
    private Fragment sums;

    @Override
    public boolean begins(TracedLaunch launch) {
      return launch.kernel().startsWith("gemm_hopper");
    }

    @Override
    public boolean step(TracedWarp warp) {
      if (warp.index() != 1 || warp.active() == 0) {
        return true;
      }
      TracedInstruction next = warp.next();
      if (next.text().startsWith("wgmma.mma_async")) {
        if (first.isEmpty()) {
          warp.fragments(next).forEach(fragment -> first.put(fragment.name(), fragment));
          warp.block().mbarriers().stream().map(TracedMbarrier::expected).forEach(arrivals::add);
        }
        product = next;
      } else if (product != null && next.text().startsWith("fma") && sums == null) {
        sums = warp.fragments(product).getLast();
      }
      return true;
    }
  }

  @Test
  void aWarpSeesItsRowsAndAllOfB() {
    Notes notes = new Notes();
    float[] left = numbers(5);
    float[] right = numbers(7);
    SimulatedDriver driver = SimulatedDriver.builder().device("sim:sm_90a").tracer(notes).build();
    try (SimulatedBackend simulated = new SimulatedBackend(driver);
        Scope scope = simulated.backend().scope()) {
      Tensor a = scope.convert(scope.upload(HostTensor.of(left, ROWS, DEPTH)), DType.F8_E4M3);
      Tensor b = scope.convert(scope.upload(HostTensor.of(right, ROWS, DEPTH)), DType.F8_E4M3);
      scope.gemm(Gemm.of(a, b.transposed()));
      simulated.backend().synchronize();
    }
    assertEquals(List.of(129, 129, 129, 129, 12, 12, 12, 12), notes.arrivals);
    // Warp 1 has rows 16 to 31; the product is of the first 32 elements of K.
    Fragment a = notes.first.get("A");
    assertEquals(List.of(16, 32), List.of(a.rows(), a.columns()));
    Fragment b = notes.first.get("B");
    assertEquals(List.of(32, 128), List.of(b.rows(), b.columns()));
    for (int k = 0; k < 32; k++) {
      for (int row = 0; row < 16; row++) {
        double expected = row + 16 < ROWS ? left[(row + 16) * DEPTH + k] : 0;
        assertEquals(expected, a.values().get(row * 32 + k), "A: " + row + ", " + k);
      }
      for (int column = 0; column < 128; column++) {
        double expected = column < ROWS ? right[column * DEPTH + k] : 0;
        assertEquals(expected, b.values().get(k * 128 + column), "B: " + k + ", " + column);
      }
    }
    assertTrue(a.lanes().stream().allMatch(lane -> lane == -1), a.lanes().toString());
    assertFalse(b.registers().stream().anyMatch(String::isEmpty), b.registers().toString());
    // Row 3 of the warp, column 9: lane 4 · 3 + 0 has columns 8 and 9 in its fifth and sixth.
    assertEquals(12, notes.sums.lanes().get(3 * 128 + 9));
    double expected = 0;
    for (int k = 0; k < DEPTH; k++) {
      expected += (double) left[19 * DEPTH + k] * right[9 * DEPTH + k];
    }
    assertEquals(expected, notes.sums.values().get(3 * 128 + 9));
  }
}
