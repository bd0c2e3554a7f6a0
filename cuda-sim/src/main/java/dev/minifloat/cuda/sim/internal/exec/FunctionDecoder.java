package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.CallPrototype;
import dev.minifloat.cuda.sim.internal.ptx.Constants;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes a function's instructions ready to run, and finds places for its variables. */
final class FunctionDecoder {
  /** Where the module's own variables lie. */
  interface Globals {
    /** The address of a global or constant variable. */
    long address(Variable variable);

    /** The address of a function. */
    long address(Operand.FunctionName name);

    /** The functions that a call through an address can reach, by their addresses. */
    Map<Long, PtxFunction> reachable(CallPrototype prototype);

    /** A function that can be called: one with a body, or one that the device defines. */
    PtxFunction function(Operand.FunctionName name);
  }

  private final PtxFunction function;
  private final Globals globals;
  private final int firstPc;
  private final ParameterLayout parameters;
  private final IdentityHashMap<Variable, Integer> locals = new IdentityHashMap<>();
  private final Map<Constant, Integer> constantSlots = new HashMap<>();
  private final List<Constant> constants = new ArrayList<>();
  private final Set<Variable> shared = new LinkedHashSet<>();
  private final Set<String> callees = new LinkedHashSet<>();
  private final List<Op> prelude = new ArrayList<>();
  private int localBytes;
  private int changing;

  FunctionDecoder(PtxFunction function, int firstPc, Globals globals) {
    this.function = function;
    this.firstPc = firstPc;
    this.globals = globals;
    this.parameters = new ParameterLayout(function);
    for (Variable variable : function.variables()) {
      if (variable.space() == StateSpace.LOCAL) {
        localBytes = alignUp(localBytes, variable.align());
        locals.put(variable, localBytes);
        localBytes += (int) variable.bytes();
      }
    }
    localBytes = alignUp(localBytes, 16);
  }

  private static int alignUp(int at, int align) {
    return (at + align - 1) / align * align;
  }

  /** Makes the body ready; {@code ops} takes it from {@code firstPc} on. */
  Code decode(Op[] ops) {
    int at = firstPc;
    for (Instruction instruction : function.body()) {
      ops[at++] = decode(instruction);
    }
    // Falling off the end is leaving.
    ops[at] = ControlOps.ret();
    ops[at].describe(end());
    return new Code(
        function,
        firstPc,
        function.registers() + constants.size(),
        function.predicates(),
        List.copyOf(constants),
        parameters.bytes(),
        localBytes,
        shared,
        callees);
  }

  private Instruction end() {
    return new Instruction(
        "ret",
        List.of(),
        List.of(),
        null,
        List.of(),
        List.of(),
        function.position(),
        "the end of " + function.name());
  }

  PtxFunction function() {
    return function;
  }

  ParameterLayout parameters() {
    return parameters;
  }

  PtxFunction callee(Operand.FunctionName name) {
    PtxFunction callee = globals.function(name);
    if (callee.isDefined()) {
      callees.add(callee.name());
    }
    return callee;
  }

  /** What a call through an address can reach. */
  Map<Long, PtxFunction> reachable(CallPrototype prototype) {
    Map<Long, PtxFunction> found = globals.reachable(prototype);
    found.values().forEach(function -> callees.add(function.name()));
    return found;
  }

  private Op decode(Instruction instruction) {
    prelude.clear();
    Op op = OpDecoder.decode(new Operands(this, instruction), instruction, firstPc);
    op.describe(instruction);
    if (prelude.isEmpty()) {
      return op;
    }
    Op[] before = prelude.toArray(Op[]::new);
    Op whole =
        new Op() {
          @Override
          void step(Warp warp) {
            for (Op one : before) {
              one.execute(warp, warp.frame, warp.group);
            }
            op.step(warp);
          }
        };
    whole.describe(instruction);
    return whole;
  }

  private int constant(Constant constant) {
    return constantSlots.computeIfAbsent(
            constant,
            _ -> {
              constants.add(constant);
              return function.registers() + constants.size() - 1;
            })
        * 32;
  }

  /** A register that nobody reads. */
  int scratch() {
    // No value of a program has this form, so nothing shares it.
    return constant(new Constant.Local(Integer.MIN_VALUE));
  }

  /** The offset of the register that holds an operand. */
  int source(Operand operand, PtxType type) {
    return switch (operand) {
      case Operand.Reg reg -> reg.register().index() * 32;
      case Operand.Immediate immediate ->
          constant(new Constant.Value(Constants.bits(immediate, type)));
      case Operand.Special special -> special(special.register());
      case Operand.Symbol symbol -> symbol(symbol);
      case Operand.FunctionName name -> constant(new Constant.Value(globals.address(name)));
      case Operand.Prototype _,
          Operand.Address _,
          Operand.Vector _,
          Operand.Pair _,
          Operand.Arguments _,
          Operand.Label _,
          Operand.Sink _ ->
          throw new IllegalStateException("no value: " + operand);
    };
  }

  private int special(SpecialRegister register) {
    if (!register.changes()) {
      return constant(new Constant.Special(register));
    }
    // Each use has a register of its own, read anew before the instruction.
    int slot = constant(new Constant.Local(Integer.MIN_VALUE + 1 + changing++));
    prelude.add(new ClockOp(register, slot));
    return slot;
  }

  private int symbol(Operand.Symbol symbol) {
    Variable variable = symbol.variable();
    long offset = symbol.offset();
    return switch (variable.space()) {
      case GLOBAL, CONST -> constant(new Constant.Value(globals.address(variable) + offset));
      case SHARED -> {
        shared.add(variable);
        yield constant(new Constant.Shared(variable, offset));
      }
      case LOCAL -> constant(new Constant.Local(locals.get(variable) + (int) offset));
      case PARAM -> constant(new Constant.Value(parameters.offset(variable) + offset));
      case GENERIC, SHARED_CLUSTER -> throw new IllegalStateException("a variable in no space");
    };
  }
}
