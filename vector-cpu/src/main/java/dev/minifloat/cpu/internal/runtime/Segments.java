package dev.minifloat.cpu.internal.runtime;

import java.lang.foreign.MemorySegment;

/** What kernels ask of the segments they read and write. */
public final class Segments {
  /** The class of segments of native memory, as an arena allocates them. */
  private static final Class<?> NATIVE = MemorySegment.NULL.getClass();

  private Segments() {}

  /**
   * The same segment, of which the compiler now knows that it is native.
   *
   * <p>The JDK's memory access asks each segment for its heap object, a virtual call that the
   * compiler resolves by a profile which the whole process shares. Once a program has used segments
   * of arrays or mapped files as well, as it does to upload, a kernel's every access tells the
   * kinds apart, and no check leaves the loop, since a store to what may be an array may change the
   * fields that the checks read: loops were seen to run 3 to 12 times slower. A comparison with the
   * one class settles it before the loop, whatever else the process does.
   *
   * <p>So a method with a loop over segments begins with this. A slice made from the result is of
   * unknown class again; use offsets.
   *
   * @throws IllegalArgumentException if it is not native memory
   */
  public static MemorySegment exact(MemorySegment segment) {
    if (segment.getClass() != NATIVE) {
      throw new IllegalArgumentException("segment: " + segment + " is not of native memory");
    }
    return segment;
  }
}
