package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;
import java.util.Map;

/**
 * A kernel or a function.
 *
 * @param name its name
 * @param entry whether it is a kernel
 * @param linkage which modules see it
 * @param results what it returns
 * @param parameters what it takes
 * @param variables what it declares, parameters apart
 * @param registers how many registers that aren't predicates it has
 * @param predicates how many predicates it has
 * @param body its instructions; null for a prototype
 * @param directives its performance directives, such as {@code .maxntid}, with their numbers
 * @param position where its name stands
 */
public record PtxFunction(
    String name,
    boolean entry,
    Variable.Linkage linkage,
    List<Parameter> results,
    List<Parameter> parameters,
    List<Variable> variables,
    int registers,
    int predicates,
    List<Instruction> body,
    Map<String, List<Integer>> directives,
    SourcePosition position) {

  /**
   * A parameter or a result: in parameter memory, or in a register.
   *
   * @param variable the one in memory; null if it is a register
   * @param register the register; null if it is in memory
   */
  public record Parameter(Variable variable, Register register) {
    /** Its size. */
    public long bytes() {
      return register != null ? register.type().bytes() : variable.bytes();
    }
  }

  /**
   * Refuses a kernel whose static shared memory, that of the functions it calls included, is more
   * than a device gives.
   *
   * @throws PtxException if it is
   */
  public void requireShared(long bytes) {
    Limits.checkShared(this, bytes);
  }

  /** Whether it has a body. */
  public boolean isDefined() {
    return body != null;
  }

  /** The bytes of a kernel's parameters, each at its alignment. */
  public int parameterBytes() {
    long at = 0;
    for (Parameter parameter : parameters) {
      if (parameter.variable() != null) {
        at = alignUp(at, parameter.variable().align()) + parameter.variable().bytes();
      }
    }
    return Math.toIntExact(at);
  }

  /** The offset of each parameter among a kernel's parameters. */
  public List<Integer> parameterOffsets() {
    List<Integer> offsets = new java.util.ArrayList<>();
    long at = 0;
    for (Parameter parameter : parameters) {
      if (parameter.variable() != null) {
        at = alignUp(at, parameter.variable().align());
        offsets.add(Math.toIntExact(at));
        at += parameter.variable().bytes();
      }
    }
    return offsets;
  }

  static long alignUp(long at, int align) {
    return (at + align - 1) / align * align;
  }
}
