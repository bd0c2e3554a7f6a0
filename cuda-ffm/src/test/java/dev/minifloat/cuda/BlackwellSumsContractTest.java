package dev.minifloat.cuda;

import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;

/**
 * Products of FP8, FP6 and FP4 with tensor cores that sum as an sm_120's do, as far as that is
 * known. With {@code -Dcontract.complete=true} all of them.
 */
class BlackwellSumsContractTest extends ContractOnSimulator {
  private static final boolean COMPLETE = Boolean.getBoolean("contract.complete");

  BlackwellSumsContractTest() {
    super(
        SimulatedDriver.builder()
            .device("sim:sm_120f")
            .arithmetic(Arithmetic.HARDWARE_MODEL)
            .build(),
        check ->
            BlockScaleContractTest.isOfBlocks(check)
                && (COMPLETE || check.name().matches(".* (shapes|long K|batches)")));
  }
}
