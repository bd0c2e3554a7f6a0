package dev.minifloat.cuda.sim.internal.exec;

/** An instruction to which a function returns. */
interface Caller {
  /** Hands a lane's results from the function that it leaves to the one that called. */
  void giveBack(Frame from, Frame caller, int lane);
}
