package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.IdentityHashMap;

/**
 * Where a function's parameter memory holds what: its results and parameters, then what it declares
 * to call others with. A kernel's own parameters lie apart, at {@link Addresses#KERNEL_PARAMETERS}.
 */
final class ParameterLayout {
  private final IdentityHashMap<Variable, Integer> offsets = new IdentityHashMap<>();
  private int bytes;

  ParameterLayout(PtxFunction function) {
    if (function.entry()) {
      int at = 0;
      for (PtxFunction.Parameter parameter : function.parameters()) {
        Variable variable = parameter.variable();
        at = alignUp(at, variable.align());
        offsets.put(variable, Addresses.KERNEL_PARAMETERS + at);
        at += (int) variable.bytes();
      }
    } else {
      for (PtxFunction.Parameter result : function.results()) {
        place(result.variable());
      }
      for (PtxFunction.Parameter parameter : function.parameters()) {
        place(parameter.variable());
      }
    }
    for (Variable variable : function.variables()) {
      if (variable.space() == StateSpace.PARAM) {
        place(variable);
      }
    }
    // Lanes lie one after the other, each aligned like the first.
    bytes = alignUp(bytes, 16);
  }

  private void place(Variable variable) {
    if (variable != null) {
      bytes = alignUp(bytes, variable.align());
      offsets.put(variable, bytes);
      bytes += (int) variable.bytes();
    }
  }

  private static int alignUp(int at, int align) {
    return (at + align - 1) / align * align;
  }

  int offset(Variable variable) {
    return offsets.get(variable);
  }

  int bytes() {
    return bytes;
  }
}
