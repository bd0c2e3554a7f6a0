package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import java.util.List;

/**
 * A function that every module may declare and that the device itself defines (PTX Writer's Guide
 * to Interoperability, "System Calls").
 */
enum SystemFunction {
  /** Format, then the address of the arguments, packed; the number of arguments. */
  VPRINTF("vprintf", List.of(4), List.of(8, 8)),
  /** Bytes; an address, or 0. */
  MALLOC("malloc", List.of(8), List.of(8)),
  FREE("free", List.of(), List.of(8)),
  /** Message, file, line, function, bytes of a character. */
  ASSERT_FAIL("__assertfail", List.of(), List.of(8, 8, 4, 8, 8));

  private final String symbol;
  private final List<Integer> results;
  private final List<Integer> parameters;

  SystemFunction(String symbol, List<Integer> results, List<Integer> parameters) {
    this.symbol = symbol;
    this.results = results;
    this.parameters = parameters;
  }

  /** The one that a function without a body declares; null if it declares none. */
  static SystemFunction of(PtxFunction function) {
    for (SystemFunction candidate : values()) {
      if (!function.isDefined()
          && candidate.symbol.equals(function.name())
          && candidate.results.equals(sizes(function.results()))
          && candidate.parameters.equals(sizes(function.parameters()))) {
        return candidate;
      }
    }
    return null;
  }

  private static List<Integer> sizes(List<PtxFunction.Parameter> parameters) {
    return parameters.stream()
        .map(
            parameter ->
                parameter.register() != null
                    ? parameter.register().type().bytes()
                    : (int) parameter.variable().bytes())
        .toList();
  }
}
