package dev.minifloat.cuda;

import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;

/**
 * Products of matrices with tensor cores that sum as coarsely as an sm_89's do, as far as that is
 * known: they keep the bounds that the catalog states, though not F32's.
 */
class CoarseSumsContractTest extends ContractOnSimulator {
  CoarseSumsContractTest() {
    super(
        SimulatedDriver.builder().device("sim:sm_89").arithmetic(Arithmetic.HARDWARE_MODEL).build(),
        check ->
            isOfMatrices(check)
                && check.name().matches("gemm/(F8_E|F16|BF16|F4_).* (shapes|long K|batches)"));
  }
}
