package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedAccess;
import dev.minifloat.cuda.sim.trace.TracedBlock;
import dev.minifloat.cuda.sim.trace.TracedInstruction;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A warp as a tracer sees it. */
final class WarpView implements TracedWarp {
  private static final int LANES = 32;

  private final Warp warp;

  WarpView(Warp warp) {
    this.warp = warp;
  }

  private LaunchView launch() {
    return warp.block.launch().view();
  }

  private Op op(int lane) {
    return warp.block.launch().ops()[pc(lane)];
  }

  private int pc(int lane) {
    return (warp.group >>> lane & 1) != 0 ? warp.pc : warp.lanePc[lane];
  }

  private Op nextOp() {
    if (warp.group == 0) {
      throw new IllegalStateException("no lane of warp " + warp.index + " is active");
    }
    return warp.block.launch().ops()[warp.pc];
  }

  @Override
  public TracedBlock block() {
    return new BlockView(warp.block);
  }

  @Override
  public int index() {
    return warp.index;
  }

  @Override
  public int active() {
    return warp.group;
  }

  @Override
  public int live() {
    return warp.live;
  }

  @Override
  public int waiting() {
    return warp.waiting;
  }

  @Override
  public TracedInstruction next() {
    return launch().instruction(nextOp());
  }

  @Override
  public TracedInstruction at(int lane) {
    return launch().instruction(op(lane));
  }

  @Override
  public String waitsFor(int lane) {
    return op(lane).waitsFor(warp, lane);
  }

  @Override
  public List<TracedRegister> registers(int lane) {
    return launch().registers(warp.laneFrame[lane].code.code().function());
  }

  @Override
  public long value(TracedRegister register, int lane) {
    Frame frame = warp.laneFrame[lane];
    return register.isPredicate()
        ? frame.predicates[register.index()] >>> lane & 1
        : frame.registers[register.index() * LANES + lane];
  }

  @Override
  public List<Fragment> fragments(TracedInstruction instruction) {
    int lane = Integer.numberOfTrailingZeros(warp.live);
    if (lane == LANES) {
      return List.of();
    }
    Frame frame = warp.laneFrame[lane];
    Code code = frame.code.code();
    Op[] ops = warp.block.launch().ops();
    for (int i = 0; i < code.function().body().size(); i++) {
      Op op = ops[code.firstPc() + i];
      if (launch().instruction(op).equals(instruction)) {
        return op.fragments(warp, frame, launch().registers(code.function()));
      }
    }
    return List.of();
  }

  @Override
  public Optional<TracedAccess> access() {
    Op op = nextOp();
    Instruction instruction = op.instruction();
    for (Operand operand : instruction.operands()) {
      if (operand instanceof Operand.Address address) {
        return access(op, instruction, address);
      }
    }
    return Optional.empty();
  }

  private Optional<TracedAccess> access(Op op, Instruction instruction, Operand.Address address) {
    int bytes = bytes(instruction);
    if (bytes == 0) {
      return Optional.empty();
    }
    List<Long> addresses = new ArrayList<>();
    for (int lane = 0; lane < LANES; lane++) {
      Long base = base(address.base(), lane);
      if (base == null) {
        return Optional.empty();
      }
      addresses.add(base + address.offset());
    }
    int lanes = op.guarded(warp);
    StateSpace space = instruction.space();
    if (space == StateSpace.GENERIC && lanes != 0) {
      space = Addresses.space(addresses.get(Integer.numberOfTrailingZeros(lanes)));
      long window = Addresses.window(space);
      addresses.replaceAll(generic -> generic - window);
    }
    if (space == StateSpace.SHARED || space == StateSpace.SHARED_CLUSTER) {
      addresses.replaceAll(Addresses::offset);
    }
    String name = space.toString().substring(1);
    return Optional.of(new TracedAccess(name, bytes, lanes & rows(instruction), addresses));
  }

  /** Bytes that each lane moves; 0 for an instruction whose address isn't of such an access. */
  private static int bytes(Instruction instruction) {
    return switch (instruction.opcode()) {
      case "ld", "ldu" -> instruction.type().bytes() * elements(instruction.operands().getFirst());
      case "st" -> instruction.type().bytes() * elements(instruction.operands().get(1));
      case "atom", "red" -> instruction.type().bytes();
      case "ldmatrix", "stmatrix" -> 16;
      case "cp" ->
          instruction.has(".async")
                  && instruction.operands().size() > 2
                  && instruction.operands().get(2) instanceof Operand.Immediate size
              ? (int) size.bits()
              : 0;
      default -> 0;
    };
  }

  private static int elements(Operand operand) {
    return operand instanceof Operand.Vector vector ? vector.elements().size() : 1;
  }

  /** The lanes whose address counts: one for each row of a matrix. */
  private static int rows(Instruction instruction) {
    if (!instruction.opcode().endsWith("matrix")) {
      return -1;
    }
    return instruction.has(".x4") ? -1 : instruction.has(".x2") ? 0xFFFF : 0xFF;
  }

  /** A lane's base address; null if its space has none that can be told. */
  private Long base(Operand base, int lane) {
    return switch (base) {
      case Operand.Reg reg ->
          warp.laneFrame[lane] == null
              ? 0L
              : warp.laneFrame[lane].registers[reg.register().index() * LANES + lane];
      case Operand.Symbol symbol when symbol.variable().space() == StateSpace.SHARED ->
          warp.block.launch().sharedOffset(symbol.variable()) + symbol.offset();
      case Operand.Immediate immediate -> immediate.bits();
      default -> null;
    };
  }
}
