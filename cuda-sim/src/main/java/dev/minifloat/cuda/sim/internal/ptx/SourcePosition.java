package dev.minifloat.cuda.sim.internal.ptx;

/**
 * A place in a PTX text.
 *
 * @param line the line, from 1
 * @param column the column in UTF-16 units, from 1
 */
public record SourcePosition(int line, int column) {
  @Override
  public String toString() {
    return line + ":" + column;
  }
}
