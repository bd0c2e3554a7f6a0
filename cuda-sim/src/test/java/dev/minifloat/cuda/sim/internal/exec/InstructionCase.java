package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * An instruction and what it must compute.
 *
 * @param code PTX that sets r from a, b, c, d
 * @param types the operands' register types
 * @param result the result's register type
 * @param oracle the result, from the operands' bits
 */
record InstructionCase(String code, String[] types, String result, Oracle oracle) {
  /** A result from operands. */
  interface Oracle {
    long apply(long[] operands);
  }

  private static final int MOST_CASES = 4096;

  /** A case; types are separated by blanks, the result's comes first. */
  static InstructionCase of(String code, String types, Oracle oracle) {
    String[] words = types.split(" ", -1);
    return new InstructionCase(
        code, java.util.Arrays.copyOfRange(words, 1, words.length), words[0], oracle);
  }

  void check() {
    long[][] cases = Scalars.cases(types, MOST_CASES);
    long[] results = Scalars.run(code, types, result, cases);
    for (int n = 0; n < cases.length; n++) {
      long expected = oracle.apply(cases[n]);
      long[] operands = cases[n];
      assertEquals(
          Long.toHexString(expected),
          Long.toHexString(results[n]),
          () ->
              code
                  + " of "
                  + java.util.Arrays.stream(operands).mapToObj(Long::toHexString).toList());
    }
  }

  static Stream<DynamicTest> tests(Stream<InstructionCase> cases) {
    return cases.map(one -> DynamicTest.dynamicTest(one.code(), one::check));
  }
}
