package dev.minifloat.cuda;

import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;

/**
 * Products of FP8, FP4, F16 and BF16 with tensor cores that sum as coarsely as an sm_100's do, as
 * far as that is known. With {@code -Dcontract.complete=true} all of them.
 */
class TensorMemorySumsContractTest extends ContractOnSimulator {
  private static final boolean COMPLETE = Boolean.getBoolean("contract.complete");
  private static final String TYPES = "(F8_E|F4_E|F16|BF16)";

  TensorMemorySumsContractTest() {
    super(
        SimulatedDriver.builder()
            .device("sim:sm_100f")
            .arithmetic(Arithmetic.HARDWARE_MODEL)
            .build(),
        check ->
            check.name().matches("gemm/" + TYPES + "[^×]*(× " + TYPES + ".*)?")
                && (COMPLETE || check.name().matches(".* (shapes|long K|batches|views)")));
  }
}
