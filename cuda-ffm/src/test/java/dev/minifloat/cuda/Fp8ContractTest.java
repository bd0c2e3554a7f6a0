package dev.minifloat.cuda;

/**
 * What an sm_89 computes with kernels of its own: products of FP8 matrices. With {@code
 * -Dcontract.complete=true} all of the contract.
 */
class Fp8ContractTest extends ContractOnSimulator {
  private static final boolean COMPLETE = Boolean.getBoolean("contract.complete");

  Fp8ContractTest() {
    super("sm_89", check -> COMPLETE || (isOfMatrices(check) && check.name().contains("F8_E")));
  }
}
