package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.List;

/**
 * An instruction made ready to run: operands are offsets into a frame's registers, where each
 * register has 32 places, one a lane. It holds no state, so that launches share it.
 */
abstract class Op {
  /** No guard. */
  static final int ALWAYS = -1;

  private Instruction instruction;
  private int guard = ALWAYS;
  private boolean guardNegated;
  private int kind;

  /** Found when first asked for: only modules with wgmma ask. */
  private RegisterWatch.Accesses accesses;

  /** Says which instruction this is; called once, by the decoder. */
  @SuppressWarnings("EnumOrdinal") // indexes an array of this run's counters
  final void describe(Instruction source) {
    instruction = source;
    kind = InstructionClass.of(source).ordinal();
    if (source.guard() != null) {
      guard = source.guard().register().index();
      guardNegated = source.guard().negated();
    }
  }

  final Instruction instruction() {
    return instruction;
  }

  /** What it does with registers. */
  final RegisterWatch.Accesses accesses() {
    RegisterWatch.Accesses known = accesses;
    if (known == null) {
      known = RegisterWatch.accesses(instruction);
      accesses = known;
    }
    return known;
  }

  final int kind() {
    return kind;
  }

  /** The lanes of the running group whose guard holds. */
  final int guarded(Warp warp) {
    int mask = warp.group;
    if (guard == ALWAYS) {
      return mask;
    }
    int predicate = warp.frame.predicates[guard];
    return mask & (guardNegated ? ~predicate : predicate);
  }

  /** Runs it for the warp's running group and moves the group on. */
  void step(Warp warp) {
    int mask = guarded(warp);
    if (mask != 0) {
      execute(warp, warp.frame, mask);
    }
    warp.pc++;
  }

  /** Runs it for these lanes. */
  void execute(Warp warp, Frame frame, int mask) {
    throw new IllegalStateException(instruction.name() + " runs in steps only");
  }

  /** The matrices that it multiplies, as a frame's registers hold them; none for most. */
  List<Fragment> fragments(Frame frame, List<TracedRegister> names) {
    return List.of();
  }

  /** The same with what a warp reads of its block's shared memory. */
  List<Fragment> fragments(Warp warp, Frame frame, List<TracedRegister> names) {
    return fragments(frame, names);
  }

  /** Undoes nothing and counts nothing: what an instruction does while it waits. */
  String waitsFor(Warp warp, int lane) {
    return "nothing";
  }
}
