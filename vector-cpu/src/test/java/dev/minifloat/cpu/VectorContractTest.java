package dev.minifloat.cpu;

import dev.minifloat.contract.Contract;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The contract, with the numbers of threads in the property {@code contract.threads}, by default
 * one, two and three.
 */
class VectorContractTest {
  private static final List<VectorBackend> OPENED = new ArrayList<>();

  @TestFactory
  Stream<DynamicTest> contract() {
    return Stream.of(System.getProperty("contract.threads", "1,2,3").split(","))
        .map(Integer::valueOf)
        .flatMap(
            threads -> {
              VectorBackend backend = VectorBackend.threads(threads);
              OPENED.add(backend);
              return Contract.checks(backend).stream()
                  .map(
                      check ->
                          DynamicTest.dynamicTest(
                              check.name() + ", threads " + threads, check::run));
            });
  }

  @AfterAll
  static void close() {
    OPENED.forEach(VectorBackend::close);
  }
}
