package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sums at which the tensor cores' own stop: each product is 2⁻⁸, and those of FP8 on 8.9 and 9.0
 * lose it beside 64. Kernels that promote in time lose nothing.
 */
class LongSumsTest {
  private static final int ROWS = 20;
  private static final int DEPTH = 32_768;

  @ParameterizedTest
  @ValueSource(strings = {"sim:sm_89", "sim:sm_90a", "sim:sm_100f", "sim:sm_120f"})
  void sumsPassWhereTensorCoresStick(String device) {
    float[] sixteenths = new float[ROWS * DEPTH];
    Arrays.fill(sixteenths, 0.0625f);
    float[] sums = new float[ROWS * ROWS];
    Arrays.fill(sums, DEPTH / 256f);
    SimulatedDriver driver =
        SimulatedDriver.builder().device(device).arithmetic(Arithmetic.HARDWARE_MODEL).build();
    try (SimulatedBackend simulated = new SimulatedBackend(driver);
        Scope scope = simulated.backend().scope()) {
      Tensor x = scope.convert(scope.upload(HostTensor.of(sixteenths, ROWS, DEPTH)), DType.F8_E4M3);
      assertArrayEquals(sums, scope.download(scope.gemm(Gemm.of(x, x.transposed()))).toFloats());
    }
  }
}
