package dev.minifloat.cuda.sim.trace;

/**
 * Is told before a warp runs an instruction. It is called on the thread that runs the launch, which
 * stands still meanwhile, so that everything may be looked at for as long as the call takes; what
 * it was given is of no use after the call. It must not call the driver.
 */
public interface Tracer {
  /**
   * A kernel begins.
   *
   * @return whether {@link #step} is to be called for it
   */
  boolean begins(TracedLaunch launch);

  /**
   * A warp is about to run an instruction, {@link TracedWarp#next}, for its active lanes.
   *
   * @return whether the launch goes on; if not, it ends with a fault
   */
  boolean step(TracedWarp warp);
}
