package dev.minifloat.cuda.sim.internal.driver;

import java.io.Serial;

/** A call's way to say no: becomes the call's result. It is no error of the simulator's own. */
final class CudaFailure extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final CuResult result;

  CudaFailure(CuResult result, String message) {
    super(message, null, false, false);
    this.result = result;
  }

  CuResult result() {
    return result;
  }
}
