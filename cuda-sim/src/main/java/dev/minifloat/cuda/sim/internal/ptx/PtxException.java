package dev.minifloat.cuda.sim.internal.ptx;

import java.io.Serial;

/** A PTX text that the simulator refuses: where, what stands there, what was expected. */
public final class PtxException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient SourcePosition position;

  public PtxException(SourcePosition position, String message) {
    super("PTX line " + position.line() + ", column " + position.column() + ": " + message);
    this.position = position;
  }

  /** Where the offending token begins. */
  public SourcePosition position() {
    return position;
  }
}
