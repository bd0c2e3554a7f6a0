package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.reference.ReferenceBackend;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class ReferenceContractTest {
  private static final ReferenceBackend BACKEND = new ReferenceBackend();

  @AfterAll
  static void leavesNoTensorBehind() {
    int left = BACKEND.liveTensors();
    BACKEND.close();
    assertEquals(0, left, "tensors that checks left open");
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    return Contract.checks(BACKEND).stream()
        .map(check -> DynamicTest.dynamicTest(check.name(), check::run));
  }
}
