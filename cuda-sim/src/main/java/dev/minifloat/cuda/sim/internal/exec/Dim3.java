package dev.minifloat.cuda.sim.internal.exec;

/**
 * A grid's size in blocks, a block's in threads, or a place in one.
 *
 * @param x along the fastest axis
 * @param y along the middle axis
 * @param z along the slowest axis
 */
public record Dim3(int x, int y, int z) {
  /** How many places there are. */
  public long count() {
    return (long) x * y * z;
  }

  /** The place of a linear index in this size. */
  Dim3 place(long index) {
    long plane = (long) x * y;
    return new Dim3((int) (index % x), (int) (index % plane / x), (int) (index / plane));
  }

  @Override
  public String toString() {
    return "(" + x + "," + y + "," + z + ")";
  }
}
