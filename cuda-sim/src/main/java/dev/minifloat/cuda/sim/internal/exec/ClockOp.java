package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;

/**
 * Reads a register that goes on by itself. The simulated clock ticks once an instruction of the
 * launch, the timer once a nanosecond of simulated time at 1 GHz: both the same on every run.
 */
final class ClockOp extends Op {
  private final SpecialRegister register;
  private final int destination;

  ClockOp(SpecialRegister register, int destination) {
    this.register = register;
    this.destination = destination;
  }

  @Override
  void execute(Warp warp, Frame frame, int mask) {
    long ticks = warp.ticks();
    long value =
        switch (register) {
          case CLOCK64, GLOBALTIMER -> ticks;
          case CLOCK_HI, GLOBALTIMER_HI -> ticks >>> 32;
          default -> ticks & Bits.M32;
        };
    for (int m = mask; m != 0; m &= m - 1) {
      frame.registers[destination + Integer.numberOfTrailingZeros(m)] = value;
    }
  }
}
