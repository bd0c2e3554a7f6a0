package dev.minifloat.cuda.sim.trace;

/**
 * A block's place in its grid, or an extent of three dimensions.
 *
 * @param x along the dimension that changes first
 * @param y along the second
 * @param z along the third
 */
public record Place(int x, int y, int z) {
  @Override
  public String toString() {
    return "(" + x + ", " + y + ", " + z + ")";
  }
}
