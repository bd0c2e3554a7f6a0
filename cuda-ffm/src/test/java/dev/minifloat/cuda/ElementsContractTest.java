package dev.minifloat.cuda;

/** All but products of matrices on an sm_80. */
class ElementsContractTest extends ContractOnSimulator {
  ElementsContractTest() {
    super("sm_80", check -> !isOfMatrices(check));
  }
}
