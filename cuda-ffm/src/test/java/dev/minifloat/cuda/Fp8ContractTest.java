package dev.minifloat.cuda;

import dev.minifloat.contract.Check;

/**
 * What an sm_89 computes with kernels that an sm_80 doesn't have: products of FP8 and FP8. With
 * {@code -Dcontract.complete=true} all of the contract.
 */
class Fp8ContractTest extends ContractOnSimulator {
  private static final boolean COMPLETE = Boolean.getBoolean("contract.complete");
  private static final String BY = " × ";

  Fp8ContractTest() {
    super("sm_89", check -> COMPLETE || isOfFp8(check));
  }

  /** Of FP8 on the left and, if the name has a right operand, on the right. */
  private static boolean isOfFp8(Check check) {
    String name = check.name();
    return name.startsWith("gemm/F8_E") && (!name.contains(BY) || name.contains(BY + "F8_E"));
  }
}
