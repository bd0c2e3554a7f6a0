package dev.minifloat.cuda.sim.internal.ptx;

import java.util.stream.Stream;

/**
 * How much memory a function may ask for (PTX ISA, "Kernel Function Parameters"; CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"). An assembler refuses more,
 * and a simulated launch couldn't place it.
 */
final class Limits {
  private static final int PARAMETERS = 4352;

  /** From PTX 8.1 on, on sm_70 and newer. */
  private static final int MORE_PARAMETERS = 32764;

  private static final int MORE_SINCE = 81;
  private static final int LOCAL = 512 << 10;
  private static final int SHARED = 48 << 10;

  private Limits() {}

  static void check(PtxFunction function, int version) {
    Stream<Variable> own = function.parameters().stream().map(PtxFunction.Parameter::variable);
    int most = version >= MORE_SINCE ? MORE_PARAMETERS : PARAMETERS;
    check(function, own.filter(variable -> variable != null), most, "parameters");
    check(function, in(function, StateSpace.PARAM), LOCAL, "parameters for calls");
    check(function, in(function, StateSpace.LOCAL), LOCAL, "local memory");
    check(function, in(function, StateSpace.SHARED), SHARED, "static shared memory");
  }

  private static Stream<Variable> in(PtxFunction function, StateSpace space) {
    return function.variables().stream().filter(variable -> variable.space() == space);
  }

  private static void check(
      PtxFunction function, Stream<Variable> variables, int most, String what) {
    long bytes =
        variables.reduce(
            0L,
            (at, variable) -> PtxFunction.alignUp(at, variable.align()) + variable.bytes(),
            Long::sum);
    if (bytes > most) {
      throw tooMuch(function, bytes, most, what);
    }
  }

  /** What a kernel's own shared variables and those of the functions it calls take together. */
  static void checkShared(PtxFunction kernel, long bytes) {
    if (bytes > SHARED) {
      throw tooMuch(kernel, bytes, SHARED, "static shared memory");
    }
  }

  private static PtxException tooMuch(PtxFunction function, long bytes, int most, String what) {
    return new PtxException(
        function.position(),
        "'%s' uses %d bytes of %s; %d are the most".formatted(function.name(), bytes, what, most));
  }
}
