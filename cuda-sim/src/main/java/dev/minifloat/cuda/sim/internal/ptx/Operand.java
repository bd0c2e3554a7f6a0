package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;

/** What stands after an opcode (PTX ISA, "Instruction Operands"). */
public sealed interface Operand {
  /** Where it is written. */
  SourcePosition position();

  /** A register; {@code negated} for {@code !p}. */
  record Reg(Register register, boolean negated, SourcePosition position) implements Operand {}

  /** A register that a launch sets. */
  record Special(SpecialRegister register, SourcePosition position) implements Operand {}

  /**
   * A constant.
   *
   * @param bits an integer's value, or a floating point number's bits in its own width
   * @param form how it was written
   */
  record Immediate(long bits, Form form, SourcePosition position) implements Operand {
    /** How a constant is written. */
    public enum Form {
      INTEGER,
      /** 0f and eight digits. */
      F32,
      /** 0d and sixteen digits, or a decimal fraction. */
      F64
    }
  }

  /** What a call through an address says of the function it reaches. */
  record Prototype(CallPrototype prototype, SourcePosition position) implements Operand {}

  /** The address of a variable plus bytes. */
  record Symbol(Variable variable, long offset, SourcePosition position) implements Operand {}

  /** The name of a function. */
  record FunctionName(String name, SourcePosition position) implements Operand {}

  /**
   * A place in memory: {@code [base+offset]}; the base is a register, a symbol or a constant.
   *
   * @param coordinates of a tensor map's box, as in {@code [map, {x, y}]}; null if there are none
   */
  record Address(Operand base, long offset, Vector coordinates, SourcePosition position)
      implements Operand {}

  /** {@code {a, b, c, d}}. */
  record Vector(List<Operand> elements, SourcePosition position) implements Operand {
    public Vector {
      elements = List.copyOf(elements);
    }
  }

  /** Two destinations: {@code d|p}. */
  record Pair(Operand first, Operand second, SourcePosition position) implements Operand {}

  /** The results or the arguments of a call. */
  record Arguments(List<Operand> elements, SourcePosition position) implements Operand {
    public Arguments {
      elements = List.copyOf(elements);
    }
  }

  /** A place in the code; targets of {@code brx.idx} and prototypes are named the same way. */
  record Label(String name, SourcePosition position) implements Operand {}

  /** {@code _}: a result that nobody wants. */
  record Sink(SourcePosition position) implements Operand {}
}
