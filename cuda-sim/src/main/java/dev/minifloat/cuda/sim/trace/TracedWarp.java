package dev.minifloat.cuda.sim.trace;

import java.util.List;
import java.util.Optional;

/** A warp: 32 lanes, each at its place in the code. Sets of lanes are masks, lane 0 lowest. */
public interface TracedWarp {
  /** Its block. */
  TracedBlock block();

  /** Its number in the block. */
  int index();

  /** Lanes that run together now; 0 if none was chosen yet, or the warp has exited. */
  int active();

  /** Lanes that have not exited. */
  int live();

  /** Lanes that wait where they are. */
  int waiting();

  /**
   * The instruction that the active lanes run next.
   *
   * @throws IllegalStateException if no lane is active
   */
  TracedInstruction next();

  /** The instruction at which a lane stands. */
  TracedInstruction at(int lane);

  /** What a waiting lane waits for, in words. */
  String waitsFor(int lane);

  /** The registers of the function that a lane runs, in the order in which the code names them. */
  List<TracedRegister> registers(int lane);

  /** A register's bits in a lane, zero-extended; a predicate has 1 bit. */
  long value(TracedRegister register, int lane);

  /**
   * The matrices A, B, C and D of an instruction that multiplies matrices, as the warp's registers
   * hold them now; none for another instruction.
   *
   * @param instruction of the function that the warp's first living lane runs
   */
  List<Fragment> fragments(TracedInstruction instruction);

  /** What the next instruction accesses, if it is a load, a store, a copy or an atomic. */
  Optional<TracedAccess> access();
}
