/**
 * The suite that every backend must pass, as plain Java: {@code minifloat verify} runs it directly,
 * a module's tests run it through an adapter of a few lines:
 *
 * <pre>{@code
 * class MyBackendContractTest {
 *   private static final Backend BACKEND = new MyBackend();
 *
 *   @AfterAll
 *   static void close() {
 *     BACKEND.close();
 *   }
 *
 *   @TestFactory
 *   Stream<DynamicTest> contract() {
 *     return Contract.checks(BACKEND).stream()
 *         .map(check -> DynamicTest.dynamicTest(check.name(), check::run));
 *   }
 * }
 * }</pre>
 */
package dev.minifloat.contract;
