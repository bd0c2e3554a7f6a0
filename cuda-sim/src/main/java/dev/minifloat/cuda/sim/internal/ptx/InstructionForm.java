package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One line of the instruction table: an opcode, its modifiers in their order, its operands.
 *
 * @param opcode the word before the first dot
 * @param elements what may follow, in order
 * @param operands the rules of its operands
 * @param version the lowest PTX version times ten; 0 if the table names none
 * @param targets what a module's target must have one of; empty if the table names none
 */
record InstructionForm(
    String opcode,
    List<Element> elements,
    List<OperandRule> operands,
    int version,
    List<PtxTarget> targets) {

  /**
   * One place among the modifiers.
   *
   * @param words what may stand there
   * @param optional whether it may stay empty
   */
  record Element(List<String> words, boolean optional) {}

  /** How far modifiers go along with a form, and what could have followed. */
  static final class Attempt {
    private int furthest = -1;
    private final Set<String> expected = new TreeSet<>();

    private void failed(int at, List<String> words) {
      if (at > furthest) {
        furthest = at;
        expected.clear();
      }
      if (at == furthest) {
        expected.addAll(words);
      }
    }

    /** The index of the first modifier that fits no form. */
    int furthest() {
      return furthest;
    }

    Set<String> expected() {
      return expected;
    }
  }

  /** Whether a module of this version, times ten, for this target may use it. */
  boolean isFor(int moduleVersion, PtxTarget target) {
    return version <= moduleVersion
        && (targets.isEmpty() || targets.stream().anyMatch(target::has));
  }

  /** Whether these modifiers are this form's; if not, the attempt learns how far they went. */
  boolean matches(List<String> modifiers, Attempt attempt) {
    return matches(0, modifiers, 0, attempt);
  }

  private boolean matches(int element, List<String> modifiers, int at, Attempt attempt) {
    if (element == elements.size()) {
      if (at == modifiers.size()) {
        return true;
      }
      attempt.failed(at, List.of());
      return false;
    }
    Element next = elements.get(element);
    if (at < modifiers.size()
        && next.words().contains(modifiers.get(at))
        && matches(element + 1, modifiers, at + 1, attempt)) {
      return true;
    }
    attempt.failed(at, next.words());
    return next.optional() && matches(element + 1, modifiers, at, attempt);
  }

  /** The types among modifiers, in their order. */
  static List<PtxType> types(List<String> modifiers) {
    List<PtxType> types = new ArrayList<>();
    for (String modifier : modifiers) {
      PtxType type = PtxType.of(modifier);
      if (type != null) {
        types.add(type);
      }
    }
    return types;
  }
}
