package dev.minifloat.cuda.sim.trace;

import java.util.List;

/**
 * An instruction of a PTX text.
 *
 * @param line its line, from 1
 * @param column its column, from 1
 * @param opcode the word before the first dot
 * @param kind the class in which it is counted, as {@code MATRIX_MULTIPLY}
 * @param registers those it names, in their order, each once
 * @param text it, on one line
 */
public record TracedInstruction(
    int line, int column, String opcode, String kind, List<TracedRegister> registers, String text) {
  /** Copies the list. */
  public TracedInstruction {
    registers = List.copyOf(registers);
  }
}
