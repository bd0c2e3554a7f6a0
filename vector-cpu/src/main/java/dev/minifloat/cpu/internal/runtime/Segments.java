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
   * <p>So a method with a loop over segments begins with this, or with {@link #slice}.
   *
   * @throws IllegalArgumentException if it is not native memory
   */
  public static MemorySegment exact(MemorySegment segment) {
    if (segment.getClass() != NATIVE) {
      throw new IllegalArgumentException("segment: " + segment + " is not of native memory");
    }
    return segment;
  }

  /**
   * {@code bytes} bytes of a segment, of which the compiler knows that they are native memory, as
   * of {@link #exact}.
   *
   * <p>A loop over slices of one length checks its bounds by comparisons in each step, common to
   * all of them. With offsets from somewhere in longer segments the compiler splits the loop into a
   * nest and clamps its limits for each load, a hundred instructions and more before anything is
   * read.
   *
   * <p>A slice costs nothing where this call is inlined; it is not in front of loops so long that
   * they are compiled before their method.
   *
   * @throws IndexOutOfBoundsException if the segment is shorter
   */
  public static MemorySegment slice(MemorySegment segment, long from, long bytes) {
    return exact(segment).asSlice(from, bytes);
  }
}
