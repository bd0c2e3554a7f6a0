package dev.minifloat.cuda.sim.trace;

import java.util.List;

/**
 * A matrix that a warp's registers hold together, or a part of shared memory: element (r, c) is at
 * index r · columns + c of the lists.
 *
 * @param name A, B, C or D
 * @param type of its elements, as {@code .e4m3}
 * @param rows its rows
 * @param columns its columns
 * @param values its elements
 * @param lanes which lane holds each; -1 where it lies in shared memory
 * @param registers which register of that lane holds each, empty for one that nobody reads; in
 *     shared memory the offset of its first byte, as 0x400
 */
public record Fragment(
    String name,
    String type,
    int rows,
    int columns,
    List<Double> values,
    List<Integer> lanes,
    List<String> registers) {
  /** Copies the lists. */
  public Fragment {
    values = List.copyOf(values);
    lanes = List.copyOf(lanes);
    registers = List.copyOf(registers);
  }
}
