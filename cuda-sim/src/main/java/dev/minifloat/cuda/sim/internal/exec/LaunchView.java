package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.Register;
import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.cuda.sim.trace.TracedInstruction;
import dev.minifloat.cuda.sim.trace.TracedLaunch;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A launch as a tracer sees it. */
final class LaunchView implements TracedLaunch {
  private final Launch launch;
  private final PtxFunction function;
  private final IdentityHashMap<Op, TracedInstruction> instructions = new IdentityHashMap<>();
  private final IdentityHashMap<PtxFunction, List<TracedRegister>> registers =
      new IdentityHashMap<>();

  LaunchView(Launch launch, PtxFunction function) {
    this.launch = launch;
    this.function = function;
  }

  static Place place(Dim3 dim) {
    return new Place(dim.x(), dim.y(), dim.z());
  }

  @Override
  public String kernel() {
    return launch.kernel();
  }

  @Override
  public int line() {
    return function.position().line();
  }

  @Override
  public Place grid() {
    return place(launch.grid());
  }

  @Override
  public Place block() {
    return place(launch.blockSize());
  }

  @Override
  public int sharedBytes() {
    return launch.sharedBytes();
  }

  @Override
  public long instructions() {
    return launch.counters().byClass().values().stream().mapToLong(Long::longValue).sum();
  }

  @Override
  public Map<String, Long> byClass() {
    Map<String, Long> found = new LinkedHashMap<>();
    launch.counters().byClass().forEach((kind, count) -> found.put(kind.name(), count));
    return found;
  }

  @Override
  public long bankConflicts() {
    return launch.counters().bankConflicts();
  }

  TracedInstruction instruction(Op op) {
    return instructions.computeIfAbsent(op, LaunchView::describe);
  }

  private static TracedInstruction describe(Op op) {
    Instruction source = op.instruction();
    return new TracedInstruction(
        source.position().line(),
        source.position().column(),
        source.opcode(),
        InstructionClass.of(source).name(),
        named(List.of(source)),
        source.text());
  }

  /** The registers that a function names. */
  List<TracedRegister> registers(PtxFunction of) {
    return registers.computeIfAbsent(of, owner -> named(owner.body()));
  }

  private static List<TracedRegister> named(List<Instruction> body) {
    Set<Register> found = new LinkedHashSet<>();
    for (Instruction instruction : body) {
      if (instruction.guard() != null) {
        found.add(instruction.guard().register());
      }
      for (Operand operand : instruction.operands()) {
        note(operand, found);
      }
    }
    List<TracedRegister> all = new ArrayList<>();
    for (Register register : found) {
      all.add(
          new TracedRegister(
              register.name(),
              register.type().toString(),
              register.type().bits(),
              register.index()));
    }
    return all;
  }

  private static void note(Operand operand, Set<Register> found) {
    switch (operand) {
      case null -> {}
      case Operand.Reg reg -> found.add(reg.register());
      case Operand.Address address -> {
        note(address.base(), found);
        note(address.coordinates(), found);
      }
      case Operand.Vector vector -> vector.elements().forEach(element -> note(element, found));
      case Operand.Arguments all -> all.elements().forEach(element -> note(element, found));
      case Operand.Pair pair -> {
        note(pair.first(), found);
        note(pair.second(), found);
      }
      case Operand.Special _,
          Operand.Immediate _,
          Operand.Symbol _,
          Operand.FunctionName _,
          Operand.Prototype _,
          Operand.Label _,
          Operand.Sink _ -> {}
    }
  }
}
