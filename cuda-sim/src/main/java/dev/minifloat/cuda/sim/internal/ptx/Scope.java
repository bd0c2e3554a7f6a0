package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The names that a pair of braces declares. */
final class Scope {
  /** {@code %r<10>}: the registers %r0 to %r9. */
  private record Range(String prefix, PtxType type, int count, int first) {}

  private final Scope parent;
  private final Map<String, Register> registers = new HashMap<>();
  private final List<Range> ranges = new ArrayList<>();
  private final Map<String, Variable> variables = new HashMap<>();
  private final Map<String, Integer> labels = new HashMap<>();
  private final Map<String, List<Operand.Label>> targetLists = new HashMap<>();
  private final Map<String, CallPrototype> prototypes = new HashMap<>();
  private final Set<String> functions = new HashSet<>();

  Scope(Scope parent) {
    this.parent = parent;
  }

  Scope parent() {
    return parent;
  }

  void declare(Register register, SourcePosition position) {
    checkNew(register.name(), position);
    registers.put(register.name(), register);
  }

  void declareRange(String prefix, PtxType type, int count, int first) {
    ranges.add(new Range(prefix, type, count, first));
  }

  void declare(Variable variable) {
    checkNew(variable.name(), variable.position());
    variables.put(variable.name(), variable);
  }

  void declareLabel(Token name, int index) {
    if (labels.putIfAbsent(name.text(), index) != null) {
      throw new PtxException(name.position(), "the label " + name.quoted() + " stands twice");
    }
  }

  void declareTargets(Token name, List<Operand.Label> targets) {
    if (targetLists.putIfAbsent(name.text(), targets) != null) {
      throw new PtxException(name.position(), "the list " + name.quoted() + " stands twice");
    }
  }

  void declarePrototype(Token name, CallPrototype prototype) {
    if (prototypes.putIfAbsent(name.text(), prototype) != null) {
      throw new PtxException(name.position(), "the prototype " + name.quoted() + " stands twice");
    }
  }

  void declareFunction(String name) {
    functions.add(name);
  }

  private void checkNew(String name, SourcePosition position) {
    if (registers.containsKey(name) || variables.containsKey(name)) {
      throw new PtxException(position, "'" + name + "' is declared twice");
    }
  }

  /** The register of a name, here or around; null if there is none. */
  Register register(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      Register found = scope.registers.get(name);
      if (found == null) {
        found = scope.fromRange(name);
      }
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private Register fromRange(String name) {
    for (Range range : ranges) {
      String digits = name.startsWith(range.prefix) ? name.substring(range.prefix.length()) : "";
      // %r01 isn't %r1.
      if (digits.matches("0|[1-9][0-9]{0,7}") && Integer.parseInt(digits) < range.count) {
        Register register = new Register(name, range.type, range.first + Integer.parseInt(digits));
        registers.put(name, register);
        return register;
      }
    }
    return null;
  }

  /** The variable of a name, here or around; null if there is none. */
  Variable variable(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      Variable found = scope.variables.get(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The index of the instruction after a label, here or around; null if there is none. */
  Integer label(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      Integer found = scope.labels.get(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The prototype of a name, here or around; null if there is none. */
  CallPrototype prototype(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      CallPrototype found = scope.prototypes.get(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** Whether a function of the name was declared. */
  boolean isFunction(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      if (scope.functions.contains(name)) {
        return true;
      }
    }
    return false;
  }

  /** The labels of a {@code .branchtargets} list, here or around; null if there is none. */
  List<Operand.Label> targets(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      List<Operand.Label> found = scope.targetLists.get(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
