package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;

/**
 * A variable in memory.
 *
 * @param space where it lies
 * @param name as written
 * @param type the type of an element
 * @param vector elements of a vector: 1, 2 or 4
 * @param align its alignment in bytes
 * @param bytes its size; 0 for an {@code .extern} array whose size a launch decides
 * @param linkage which modules see it
 * @param initial its first bytes, zero-filled after them; empty if none are given
 * @param references addresses of other variables that stand in its first bytes
 * @param scope the function that declares it; empty at a module's level
 * @param position where it is declared
 */
@SuppressWarnings("ArrayRecordComponent") // compared by identity only
public record Variable(
    StateSpace space,
    String name,
    PtxType type,
    int vector,
    int align,
    long bytes,
    Linkage linkage,
    byte[] initial,
    List<Reference> references,
    String scope,
    SourcePosition position) {

  /** Which modules see a name. */
  public enum Linkage {
    NONE,
    VISIBLE,
    WEAK,
    COMMON,
    EXTERN
  }

  /**
   * An address within an initialiser.
   *
   * @param offset where in the variable's bytes it stands
   * @param size how many bytes it takes
   * @param symbol whose address
   * @param addend added to it
   * @param generic whether as a generic address
   * @param position where it is written
   */
  public record Reference(
      int offset, int size, String symbol, long addend, boolean generic, SourcePosition position) {}

  /** Whether it is dynamic shared memory. */
  public boolean isDynamic() {
    return space == StateSpace.SHARED && linkage == Linkage.EXTERN && bytes == 0;
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
