package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;

/**
 * What a function has that a call through an address reaches (PTX ISA, ".callprototype").
 *
 * @param resultBytes the sizes of its results
 * @param parameterBytes the sizes of its parameters
 */
public record CallPrototype(List<Long> resultBytes, List<Long> parameterBytes) {
  public CallPrototype {
    resultBytes = List.copyOf(resultBytes);
    parameterBytes = List.copyOf(parameterBytes);
  }

  static CallPrototype of(
      List<PtxFunction.Parameter> results, List<PtxFunction.Parameter> parameters) {
    return new CallPrototype(sizes(results), sizes(parameters));
  }

  /** The prototype that a function fits. */
  public static CallPrototype of(PtxFunction function) {
    return of(function.results(), function.parameters());
  }

  private static List<Long> sizes(List<PtxFunction.Parameter> parameters) {
    return parameters.stream().map(PtxFunction.Parameter::bytes).toList();
  }
}
