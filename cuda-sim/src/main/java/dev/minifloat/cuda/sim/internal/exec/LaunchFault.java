package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.SourcePosition;
import java.io.Serial;

/** A launch that could not go on: kernel, block, thread, instruction, registers, and why. */
public final class LaunchFault extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final DeviceFault.Kind kind;
  private final String kernel;
  private final transient Dim3 block;
  private final transient Dim3 thread;
  private final transient SourcePosition position;
  private final transient String output;

  LaunchFault(
      DeviceFault.Kind kind,
      String kernel,
      Dim3 block,
      Dim3 thread,
      SourcePosition position,
      String output,
      String message,
      Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.kernel = kernel;
    this.block = block;
    this.thread = thread;
    this.position = position;
    this.output = output;
  }

  /** What the launch's threads had printed by then. */
  public String output() {
    return output;
  }

  public DeviceFault.Kind kind() {
    return kind;
  }

  public String kernel() {
    return kernel;
  }

  /** The block; null if the fault belongs to none. */
  public Dim3 block() {
    return block;
  }

  /** The thread in its block; null if the fault belongs to none. */
  public Dim3 thread() {
    return thread;
  }

  /** Where the instruction stands in the PTX; null if the fault belongs to none. */
  public SourcePosition position() {
    return position;
  }
}
