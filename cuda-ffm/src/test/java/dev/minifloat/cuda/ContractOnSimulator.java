package dev.minifloat.cuda;

import dev.minifloat.contract.Check;
import dev.minifloat.contract.Contract;
import dev.minifloat.contract.Size;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/**
 * Checks of the contract on a simulated device; in the end nothing is left on it. The classes below
 * share the contract, so that they can run side by side.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ContractOnSimulator {
  /** Half a minute of interpreting; {@code minifloat verify} runs it. */
  private static final String LONG = "gemm/65,537 matrices";

  private final SimulatedBackend simulated;
  private final Predicate<Check> wanted;

  ContractOnSimulator(String device, Predicate<Check> wanted) {
    this(SimulatedDriver.of("sim:" + device), wanted);
  }

  ContractOnSimulator(SimulatedDriver driver, Predicate<Check> wanted) {
    this.simulated = new SimulatedBackend(driver);
    this.wanted = wanted;
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    return Contract.suite(simulated.backend(), simulated::open, Size.QUICK).checks().stream()
        .filter(wanted)
        .filter(check -> !check.name().equals(LONG))
        .map(check -> DynamicTest.dynamicTest(check.name(), check::run));
  }

  @AfterAll
  void close() {
    simulated.close();
  }

  /** Whether a check is one of products of matrices, which are a third of the work. */
  static boolean isOfMatrices(Check check) {
    return check.group().equals("gemm") || check.group().equals("pack");
  }
}
