package dev.minifloat.cuda.sim.internal.memory;

import java.io.Serial;

/** Something that a kernel, or a copy, must not do. */
public final class DeviceFault extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  /** What was done. */
  public enum Kind {
    /** An address that belongs to nothing, or runs over the end of what it belongs to. */
    OUT_OF_BOUNDS,
    /** Memory that was freed before. */
    USE_AFTER_FREE,
    /** An address that isn't a multiple of the access's size. */
    MISALIGNED,
    /** A read of bytes that nobody wrote. */
    UNINITIALIZED_READ,
    /** A write to constants. */
    READ_ONLY,
    /** Two accesses to a byte of shared memory, one of them a write, with nothing between. */
    RACE,
    /** Threads that wait for each other. */
    DEADLOCK,
    /** Operands that the instruction doesn't allow. */
    ILLEGAL_INSTRUCTION,
    /** {@code trap}. */
    TRAP,
    /** A failed {@code assert}. */
    ASSERTION,
    /** More instructions, stack or memory than the launch may use. */
    LIMIT,
    /** The driver was closed while the kernel ran. */
    STOPPED
  }

  private final Kind kind;

  public DeviceFault(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
