package dev.minifloat.cuda;

/** Products of matrices on an sm_80. */
class MatricesContractTest extends ContractOnSimulator {
  MatricesContractTest() {
    super("sm_80", ContractOnSimulator::isOfMatrices);
  }
}
