package dev.minifloat.cuda;

import dev.minifloat.contract.Check;

/**
 * What an sm_120f computes with kernels that older devices don't have: products of FP8, FP6 and FP4
 * with such, whose blocks the tensor cores scale.
 */
class BlockScaleContractTest extends ContractOnSimulator {
  private static final String BY = " × ";

  BlockScaleContractTest() {
    super("sm_120f", BlockScaleContractTest::isOfBlocks);
  }

  /** Of FP8, FP6 or FP4 on the left and, if the name has a right operand, on the right. */
  static boolean isOfBlocks(Check check) {
    String name = check.name();
    return name.matches("gemm/F[864]_E.*")
        && (!name.contains(BY) || name.matches(".* × F[864]_E.*"));
  }
}
