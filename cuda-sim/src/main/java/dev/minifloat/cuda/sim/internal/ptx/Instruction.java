package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;

/**
 * One instruction, its names resolved and its form checked.
 *
 * @param opcode the word before the first dot
 * @param modifiers the words after it, each with its dot
 * @param types the types among the modifiers, in their order
 * @param guard the predicate before it; null if there is none
 * @param operands its operands, as the instruction table orders them; an absent optional one is
 *     null
 * @param targets the indices of the instructions that its labels name
 * @param position where its opcode stands
 * @param text it, on one line
 */
public record Instruction(
    String opcode,
    List<String> modifiers,
    List<PtxType> types,
    Operand.Reg guard,
    List<Operand> operands,
    List<Integer> targets,
    SourcePosition position,
    String text) {

  /** Whether a modifier is among its own; the word begins with a dot. */
  public boolean has(String modifier) {
    return modifiers.contains(modifier);
  }

  /** The first of these modifiers that it has; the empty word if it has none. */
  public String oneOf(String... words) {
    for (String word : words) {
      if (modifiers.contains(word)) {
        return word;
      }
    }
    return "";
  }

  /** The type that its name ends with, as the operands have it. */
  public PtxType type() {
    return types.get(0);
  }

  /** Its opcode and modifiers. */
  public String name() {
    return opcode + String.join("", modifiers);
  }

  /** The space that its name states; generic if it states none. */
  public StateSpace space() {
    for (String modifier : modifiers) {
      StateSpace space = StateSpace.of(modifier);
      if (space != null) {
        return space;
      }
    }
    return StateSpace.GENERIC;
  }
}
