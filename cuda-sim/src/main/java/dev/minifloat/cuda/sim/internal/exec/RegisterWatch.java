package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.Register;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Holds a warp to the rules for registers that {@code wgmma.mma_async} uses (PTX ISA,
 * "wgmma.fence", "wgmma.wait_group"): nothing touches an accumulator, or writes a fragment of A,
 * between the multiplication and the wait for it, and a {@code wgmma.fence} stands between other
 * accesses and the multiplication. Nor does anything touch what {@code tcgen05.ld} loads before
 * {@code tcgen05.wait::ld}.
 */
final class RegisterWatch {
  /** Opcodes whose first operand is no register that they write. */
  private static final List<String> WITHOUT_RESULT =
      List.of("st", "red", "bra", "brx", "cp", "bar", "barrier", "fence", "stmatrix", "setmaxnreg");

  /**
   * What an instruction does with registers, by their numbers.
   *
   * @param touched those it reads or writes
   * @param written those it writes
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Accesses(int[] touched, int[] written) {}

  /** What is known of a frame's registers. */
  private static final class State {
    /** Multiplications under way that add to a register, or read it as A. */
    private final int[] accumulating;

    private final int[] reading;

    /** Loads from Tensor Memory under way. */
    private final int[] loading;

    /** The number of the fence after which it was last touched, and last written. */
    private final int[] touched;

    private final int[] written;

    State(int registers) {
      accumulating = new int[registers];
      reading = new int[registers];
      loading = new int[registers];
      touched = new int[registers];
      written = new int[registers];
      Arrays.fill(touched, -1);
      Arrays.fill(written, -1);
    }
  }

  private final Warp warp;
  private final IdentityHashMap<Frame, State> states = new IdentityHashMap<>();
  private Frame lastFrame;
  private State lastState;
  private int fences;

  RegisterWatch(Warp warp) {
    this.warp = warp;
  }

  private State state(Frame frame) {
    if (frame != lastFrame) {
      lastState = states.computeIfAbsent(frame, f -> new State(f.registers.length / 32));
      lastFrame = frame;
    }
    return lastState;
  }

  /** Looks at what an instruction is about to do. */
  void before(Op op) {
    if (op.guarded(warp) == 0) {
      return;
    }
    Accesses of = op.accesses();
    State state = state(warp.frame);
    for (int register : of.touched()) {
      if (state.accumulating[register] != 0) {
        throw fault(
            register,
            "is an accumulator of a wgmma.mma_async that no wgmma.wait_group has waited for");
      }
      if (state.loading[register] != 0) {
        throw fault(register, "is loaded by a tcgen05.ld that no tcgen05.wait::ld has waited for");
      }
      state.touched[register] = fences;
    }
    for (int register : of.written()) {
      if (state.reading[register] != 0) {
        throw fault(
            register,
            "is written while a wgmma.mma_async may still read it: no wgmma.wait_group has waited");
      }
      state.written[register] = fences;
    }
  }

  private DeviceFault fault(int register, String what) {
    warp.lane = Integer.numberOfTrailingZeros(warp.group);
    Instruction instruction = warp.block.launch().ops()[warp.pc].instruction();
    String name = "register " + register;
    List<Register> found = new ArrayList<>();
    instruction.operands().forEach(operand -> registers(operand, found));
    for (Register one : found) {
      if (!one.isPredicate() && one.index() == register) {
        name = one.name();
      }
    }
    return new DeviceFault(DeviceFault.Kind.RACE, name + " " + what);
  }

  /** What an instruction does with registers. */
  static Accesses accesses(Instruction instruction) {
    // Multiplications of warpgroups have rules of their own.
    if (instruction.opcode().equals("wgmma")) {
      return new Accesses(new int[0], new int[0]);
    }
    List<Register> touched = new ArrayList<>();
    instruction.operands().forEach(operand -> registers(operand, touched));
    List<Register> written = new ArrayList<>();
    if (!instruction.operands().isEmpty() && !WITHOUT_RESULT.contains(instruction.opcode())) {
      registers(instruction.operands().getFirst(), written);
    }
    return new Accesses(indices(touched), indices(written));
  }

  private static int[] indices(List<Register> registers) {
    return registers.stream()
        .filter(register -> !register.isPredicate())
        .mapToInt(Register::index)
        .distinct()
        .toArray();
  }

  private static void registers(Operand operand, List<Register> found) {
    switch (operand) {
      case null -> {}
      case Operand.Reg reg -> found.add(reg.register());
      case Operand.Address address -> {
        registers(address.base(), found);
        registers(address.coordinates(), found);
      }
      case Operand.Vector vector -> vector.elements().forEach(one -> registers(one, found));
      case Operand.Arguments arguments ->
          arguments.elements().forEach(one -> registers(one, found));
      case Operand.Pair pair -> {
        registers(pair.first(), found);
        registers(pair.second(), found);
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

  /** wgmma.fence. */
  void fence() {
    fences++;
  }

  /**
   * A multiplication is issued.
   *
   * @param d the offsets of its accumulators
   * @param a those of A's registers; empty if A lies in shared memory
   */
  void issue(Frame frame, int[] d, int[] a) {
    if (fences == 0) {
      warp.lane = 0;
      throw new DeviceFault(
          DeviceFault.Kind.RACE, "no wgmma.fence stands before the first wgmma.mma_async");
    }
    State state = state(frame);
    for (int offset : d) {
      int register = offset / 32;
      if (state.touched[register] == fences) {
        throw fault(register, "is an accumulator that was accessed with no wgmma.fence since");
      }
      if (state.reading[register] != 0) {
        throw fault(register, "is an accumulator, and A of a wgmma.mma_async under way");
      }
      state.accumulating[register]++;
    }
    for (int offset : a) {
      int register = offset / 32;
      if (state.written[register] == fences) {
        throw fault(register, "holds A and was written with no wgmma.fence since");
      }
      if (state.accumulating[register] != 0) {
        throw fault(register, "holds A, and is an accumulator of a wgmma.mma_async under way");
      }
      state.reading[register]++;
    }
  }

  /** A multiplication was waited for. */
  void retire(Frame frame, int[] d, int[] a) {
    State state = state(frame);
    for (int offset : d) {
      state.accumulating[offset / 32]--;
    }
    for (int offset : a) {
      state.reading[offset / 32]--;
    }
  }

  /** A tcgen05.ld into registers of these offsets begins. */
  void load(Frame frame, int[] d) {
    State state = state(frame);
    for (int offset : d) {
      state.loading[offset / 32]++;
    }
  }

  /** It was waited for. */
  void loaded(Frame frame, int[] d) {
    State state = state(frame);
    for (int offset : d) {
      state.loading[offset / 32]--;
    }
  }
}
