package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.LaunchStatistics;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What the main loops of the kernels for scaled blocks cost, counted by the simulator as the
 * difference between two depths of one tile.
 */
class BlockKernelFiguresTest {
  private static final int TILE = 128;
  private static final int DEPTH = 1024;

  /**
   * A kernel's figures.
   *
   * @param others instructions other than matrix multiplications, for each of these at most
   * @param conflicts passes over shared memory that bank conflicts add, for 128 elements of K
   */
  private record Figures(
      String kernel, DType a, DType b, Scaling scaling, double others, long conflicts) {
    @Override
    public String toString() {
      return kernel;
    }
  }

  @TestFactory
  Stream<DynamicTest> loopsCostNoMoreThanTheyDid() {
    Scaling mx = Scaling.mx();
    DType e4m3 = DType.F8_E4M3;
    DType e2m1 = DType.F4_E2M1;
    return Stream.of(
            new Figures("gemm_block_e4m3_e4m3", e4m3, e4m3, mx, 2.8, 0),
            // Elements that are spread lie in half of the banks, or are copied word by word.
            new Figures("gemm_block_e4m3_e2m1", e4m3, e2m1, mx, 3.5, 64),
            new Figures("gemm_block_e4m3_e2m3", e4m3, DType.F6_E2M3, mx, 4.0, 288),
            new Figures("gemm_block_mxf4", e2m1, e2m1, mx, 3.0, 0),
            new Figures("gemm_block_nvf4", e2m1, e2m1, Scaling.nvfp4(), 3.0, 0))
        .map(one -> DynamicTest.dynamicTest(one.toString(), () -> count(one)));
  }

  private static void count(Figures figures) {
    LaunchStatistics once = launch(figures, DEPTH);
    LaunchStatistics twice = launch(figures, 2 * DEPTH);
    assertEquals(figures.kernel(), twice.kernel());
    long multiplies = twice.matrixMultiplies() - once.matrixMultiplies();
    long depthOfOne = 256L / Math.max(figures.a().bits(), figures.b().bits());
    assertEquals(TILE / 16 * TILE / 8 * DEPTH / depthOfOne, multiplies);
    double others = (double) (twice.instructions() - once.instructions()) / multiplies - 1;
    assertTrue(others <= figures.others(), others + " other instructions for a multiplication");
    assertEquals(figures.conflicts() * DEPTH / 128, twice.bankConflicts() - once.bankConflicts());
    int block = figures.scaling().equals(Scaling.mx()) ? 32 : 16;
    long elements = (long) TILE * DEPTH;
    assertEquals(
        elements * (figures.a().bits() + figures.b().bits()) / 8 + 2 * elements / block,
        twice.globalBytesRead() - once.globalBytesRead(),
        "each element and scale is read once");
  }

  private static LaunchStatistics launch(Figures figures, int depth) {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_120f");
        Scope scope = simulated.backend().scope()) {
      Tensor zeros = scope.upload(HostTensor.of(new float[TILE * depth], TILE, depth));
      QuantSpec left = QuantSpec.of(figures.a()).scaling(figures.scaling());
      QuantSpec right = QuantSpec.of(figures.b()).scaling(figures.scaling());
      Tensor a = scope.quantize(zeros, left);
      Tensor b = scope.quantize(zeros, right);
      scope.download(scope.gemm(Gemm.of(a, b.transposed())));
      return simulated.driver().lastLaunch().orElseThrow();
    }
  }
}
