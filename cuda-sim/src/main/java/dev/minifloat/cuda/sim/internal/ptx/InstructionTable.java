package dev.minifloat.cuda.sim.internal.ptx;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Every instruction that the simulator executes, read from {@code instructions.txt}. */
final class InstructionTable {
  private static final InstructionTable STANDARD = read("instructions.txt");

  private final Map<String, List<InstructionForm>> forms;

  private InstructionTable(Map<String, List<InstructionForm>> forms) {
    this.forms = forms;
  }

  static InstructionTable standard() {
    return STANDARD;
  }

  /** The forms of an opcode; empty if there are none. */
  List<InstructionForm> forms(String opcode) {
    return forms.getOrDefault(opcode, List.of());
  }

  /** All forms, by opcode. */
  Map<String, List<InstructionForm>> all() {
    return forms;
  }

  private static InstructionTable read(String resource) {
    try (InputStream in = InstructionTable.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is not among the module's resources");
      }
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("Reading the instruction table " + resource, e);
    }
  }

  private static InstructionTable parse(String text) {
    Map<String, List<String>> sets = new HashMap<>();
    Map<String, List<InstructionForm>> forms = new HashMap<>();
    for (String line : text.lines().toList()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      if (line.startsWith("set ") && line.contains(" = ")) {
        String[] sides = line.substring(4).split(" = ", 2);
        sets.put(sides[0].strip(), List.of(sides[1].strip().split("\\s+", -1)));
        continue;
      }
      InstructionForm form = form(line, sets);
      forms.computeIfAbsent(form.opcode(), _ -> new ArrayList<>()).add(form);
    }
    return new InstructionTable(forms);
  }

  private static InstructionForm form(String line, Map<String, List<String>> sets) {
    String head = line.substring(0, line.indexOf(" :"));
    String tail = line.substring(line.indexOf(" :") + 2);
    int version = 0;
    List<PtxTarget> targets = new ArrayList<>();
    if (tail.contains("@ ")) {
      String[] needs = tail.substring(tail.indexOf("@ ") + 2).strip().split(" ", -1);
      version = Integer.parseInt(needs[0].replace(".", ""));
      for (String target : Arrays.asList(needs).subList(1, needs.length)) {
        targets.add(PtxTarget.of("sm_" + target));
      }
      tail = tail.substring(0, tail.indexOf("@ "));
    }
    List<OperandRule> operands = new ArrayList<>();
    for (String word : tail.strip().split("\\s+", -1)) {
      if (!word.isEmpty()) {
        operands.add(OperandRule.parse(word));
      }
    }
    String opcode = head.substring(0, (head + " ").indexOf(' '));
    List<InstructionForm.Element> elements = elements(head.substring(opcode.length()), sets);
    return new InstructionForm(
        opcode, elements, List.copyOf(operands), version, List.copyOf(targets));
  }

  /** The words that one of the table stands for: N in .m64nNk16 is 8, 16 … 256. */
  private static List<String> spelled(String word) {
    if (!word.startsWith(".m64nN")) {
      return List.of(word);
    }
    List<String> words = new ArrayList<>();
    for (int n = 8; n <= 256; n += 8) {
      words.add(word.replace("N", Integer.toString(n)));
    }
    return words;
  }

  private static List<InstructionForm.Element> elements(
      String head, Map<String, List<String>> sets) {
    List<InstructionForm.Element> elements = new ArrayList<>();
    List<String> group = null;
    boolean optional = false;
    String spaced = head.replaceAll("([\\[\\]()])", " $1 ").strip();
    for (String word : spaced.isEmpty() ? new String[0] : spaced.split("\\s+", -1)) {
      if (word.equals("(") || word.equals("[")) {
        group = new ArrayList<>();
        optional = word.equals("[");
      } else if (word.equals(")") || word.equals("]")) {
        elements.add(new InstructionForm.Element(List.copyOf(group), optional));
        group = null;
      } else {
        List<String> words = word.startsWith("$") ? sets.get(word.substring(1)) : spelled(word);
        if (group == null) {
          elements.add(new InstructionForm.Element(List.copyOf(words), false));
        } else {
          group.addAll(words);
        }
      }
    }
    return List.copyOf(elements);
  }
}
