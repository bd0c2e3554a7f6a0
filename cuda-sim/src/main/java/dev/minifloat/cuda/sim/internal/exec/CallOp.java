package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.Register;
import dev.minifloat.cuda.sim.internal.ptx.SourcePosition;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.List;

/** A call of a function by its name (PTX ISA, "call"; "Abstracting the ABI"). */
final class CallOp extends Op implements Caller {
  /**
   * One argument or result: a place in the caller and its place in the callee.
   *
   * @param callerRegister its register there; negative if it is in parameter memory
   * @param callerOffset its offset in parameter memory there
   * @param calleeRegister its register there; negative if it is in parameter memory
   * @param calleeOffset its offset in parameter memory there
   * @param bytes its size
   */
  record Passed(
      int callerRegister, int callerOffset, int calleeRegister, int calleeOffset, int bytes) {

    /** The value that the caller passes, for a callee without a frame. */
    long read(Frame caller, int lane) {
      return callerRegister < 0
          ? Bytes.get(caller.parameters, at(caller, callerOffset, lane), bytes)
          : caller.registers[callerRegister + lane];
    }

    /** Hands the caller a value from a callee without a frame. */
    void write(Frame caller, int lane, long value) {
      if (callerRegister < 0) {
        Bytes.put(caller.parameters, at(caller, callerOffset, lane), bytes, value);
      } else {
        caller.registers[callerRegister + lane] = value;
      }
    }

    private static int at(Frame frame, int offset, int lane) {
      return lane * frame.code.code().parameterBytes() + offset;
    }

    void pass(Frame caller, Frame callee, int lane) {
      copy(caller, callerRegister, callerOffset, callee, calleeRegister, calleeOffset, bytes, lane);
    }

    void giveBack(Frame callee, Frame caller, int lane) {
      copy(callee, calleeRegister, calleeOffset, caller, callerRegister, callerOffset, bytes, lane);
    }

    private static void copy(
        Frame from,
        int fromRegister,
        int fromOffset,
        Frame to,
        int toRegister,
        int toOffset,
        int bytes,
        int lane) {
      int fromAt = at(from, fromOffset, lane);
      int toAt = at(to, toOffset, lane);
      if (fromRegister < 0 && toRegister < 0) {
        System.arraycopy(from.parameters, fromAt, to.parameters, toAt, bytes);
        return;
      }
      long value =
          fromRegister < 0
              ? Bytes.get(from.parameters, fromAt, bytes)
              : from.registers[fromRegister + lane];
      if (toRegister < 0) {
        Bytes.put(to.parameters, toAt, bytes, value);
      } else {
        to.registers[toRegister + lane] = value;
      }
    }
  }

  private final String callee;
  private final List<Passed> arguments;
  private final List<Passed> results;

  private CallOp(String callee, List<Passed> arguments, List<Passed> results) {
    this.callee = callee;
    this.arguments = arguments;
    this.results = results;
  }

  static Op decode(Operands o, Instruction i) {
    if (o.get(1) instanceof Operand.Reg) {
      return IndirectCallOp.decode(o);
    }
    Operand.FunctionName name = (Operand.FunctionName) o.get(1);
    PtxFunction callee = o.decoder().callee(name);
    List<Operand> results = ((Operand.Arguments) o.get(0)).elements();
    List<Operand> arguments = ((Operand.Arguments) o.get(2)).elements();
    if (callee.entry()) {
      throw new PtxException(
          name.position(), "'" + name.name() + "' is a kernel: it can't be called");
    }
    SystemFunction system = SystemFunction.of(callee);
    return system == null
        ? of(o, callee, name.position())
        : new SystemCallOp(
            system,
            passed(o, callee, name.position(), arguments, callee.parameters(), "arguments"),
            passed(o, callee, name.position(), results, callee.results(), "results"));
  }

  /** The call of a function with a body, with the operands of a call instruction. */
  static CallOp of(Operands o, PtxFunction callee, SourcePosition position) {
    List<Operand> results = ((Operand.Arguments) o.get(0)).elements();
    List<Operand> arguments = ((Operand.Arguments) o.get(2)).elements();
    return new CallOp(
        callee.name(),
        passed(o, callee, position, arguments, callee.parameters(), "arguments"),
        passed(o, callee, position, results, callee.results(), "results"));
  }

  private static List<Passed> passed(
      Operands o,
      PtxFunction callee,
      SourcePosition position,
      List<Operand> given,
      List<PtxFunction.Parameter> declared,
      String what) {
    ParameterLayout layout = new ParameterLayout(callee);
    if (given.size() != declared.size()) {
      throw new PtxException(
          position,
          "the call has %d %s; '%s' has %d"
              .formatted(given.size(), what, callee.name(), declared.size()));
    }
    java.util.ArrayList<Passed> passed = new java.util.ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      passed.add(passed(o, given.get(i), declared.get(i), layout));
    }
    return List.copyOf(passed);
  }

  private static Passed passed(
      Operands o, Operand given, PtxFunction.Parameter declared, ParameterLayout layout) {
    Register register = declared.register();
    Variable variable = declared.variable();
    int bytes = register != null ? register.type().bytes() : (int) variable.bytes();
    int calleeRegister = register != null ? register.index() * 32 : -1;
    int calleeOffset = variable != null ? layout.offset(variable) : 0;
    return switch (given) {
      case Operand.Symbol symbol when symbol.variable().space() == StateSpace.PARAM -> {
        if (symbol.variable().bytes() != bytes) {
          throw size(given, symbol.variable().bytes(), bytes);
        }
        int offset = o.decoder().parameters().offset(symbol.variable());
        if (offset >= Addresses.KERNEL_PARAMETERS) {
          throw new PtxException(
              given.position(), "a kernel's parameter can't be passed on as it is");
        }
        yield new Passed(-1, offset, calleeRegister, calleeOffset, bytes);
      }
      case Operand.Reg reg -> {
        if (reg.register().isPredicate() || reg.register().type().bytes() != bytes) {
          throw size(given, reg.register().type().bytes(), bytes);
        }
        yield new Passed(reg.register().index() * 32, 0, calleeRegister, calleeOffset, bytes);
      }
      case Operand.Immediate immediate ->
          new Passed(
              o.decoder().source(immediate, register != null ? register.type() : variable.type()),
              0,
              calleeRegister,
              calleeOffset,
              bytes);
      default ->
          throw new PtxException(
              given.position(), "a register, a constant or a variable in .param was expected here");
    };
  }

  private static PtxException size(Operand given, long bytes, int expected) {
    return new PtxException(
        given.position(),
        "%d bytes are passed where the function takes %d".formatted(bytes, expected));
  }

  @Override
  void step(Warp warp) {
    int mask = guarded(warp);
    if (mask == 0) {
      warp.pc++;
    } else {
      call(warp, mask);
    }
  }

  /** Takes these lanes of the group into the function; the rest go on after the call. */
  void call(Warp warp, int mask) {
    CodeInstance instance = warp.block.launch().function(callee);
    Frame caller = warp.frame;
    Frame frame = instance.frame(warp.block, warp.index);
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      for (Passed argument : arguments) {
        argument.pass(caller, frame, lane);
      }
      frame.localBase[lane] = caller.localBase[lane] + caller.code.code().localBytes();
      warp.local.reserve(lane, frame.localBase[lane] + instance.code().localBytes());
      instance.placeLocals(frame, lane);
    }
    warp.enter(mask, frame, instance.code().firstPc());
  }

  @Override
  public void giveBack(Frame from, Frame caller, int lane) {
    for (Passed result : results) {
      result.giveBack(from, caller, lane);
    }
  }
}
