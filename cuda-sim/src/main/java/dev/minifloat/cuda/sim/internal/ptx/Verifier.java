package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Holds instructions to the instruction table: forms, then operands. */
final class Verifier {
  private final int version;
  private final PtxTarget target;

  Verifier(int version, PtxTarget target) {
    this.version = version;
    this.target = target;
  }

  /** The form that an opcode with these modifiers has. */
  InstructionForm form(Token opcode, List<Token> written) {
    List<InstructionForm> forms = InstructionTable.standard().forms(opcode.text());
    List<Token> modifiers = isAtomic(opcode) ? inTableOrder(written) : written;
    if (forms.isEmpty()) {
      throw new PtxException(
          opcode.position(), opcode.quoted() + " is no instruction that the simulator knows");
    }
    List<String> words = modifiers.stream().map(Token::text).toList();
    InstructionForm.Attempt attempt = new InstructionForm.Attempt();
    InstructionForm tooNew = null;
    for (InstructionForm form : forms) {
      if (form.matches(words, attempt)) {
        if (form.isFor(version, target)) {
          return form;
        }
        tooNew = tooNew == null ? form : tooNew;
      }
    }
    String name = opcode.text() + String.join("", words);
    if (tooNew != null) {
      throw new PtxException(
          opcode.position(),
          "'%s' needs PTX %d.%d and %s; this module is PTX %d.%d for %s"
              .formatted(
                  name,
                  tooNew.version() / 10,
                  tooNew.version() % 10,
                  tooNew.targets().stream()
                      .map(PtxTarget::toString)
                      .collect(Collectors.joining(" or ")),
                  version / 10,
                  version % 10,
                  target));
    }
    String expected =
        attempt.expected().isEmpty()
            ? "nothing more was expected"
            : "one of " + String.join(" ", attempt.expected()) + " was expected";
    boolean short_ = attempt.furthest() >= modifiers.size();
    throw new PtxException(
        (short_ ? opcode : modifiers.get(attempt.furthest())).position(),
        "'%s': %s; %s"
            .formatted(
                name,
                short_ ? "it ends too early" : modifiers.get(attempt.furthest()).quoted(),
                expected));
  }

  private static boolean isAtomic(Token opcode) {
    return opcode.is("atom") || opcode.is("red");
  }

  /**
   * An atomic's semantics, scope, space and operation may come in any order: {@code
   * atom.global.sys.add} and {@code atom.add.relaxed.gpu} are both written by compilers and
   * libraries, and assemblers take them. The type stays last.
   */
  private static List<Token> inTableOrder(List<Token> modifiers) {
    return modifiers.stream()
        .sorted(Comparator.comparingInt(modifier -> atomicRank(modifier.text())))
        .toList();
  }

  private static int atomicRank(String modifier) {
    return switch (modifier) {
      case ".relaxed", ".acquire", ".release", ".acq_rel" -> 0;
      case ".cta", ".cluster", ".gpu", ".sys" -> 1;
      case ".global", ".shared", ".shared::cta" -> 2;
      case ".noftz" -> 4;
      default -> PtxType.of(modifier) == null ? 3 : 5;
    };
  }

  /** The operands as the form orders them, absent ones null. */
  List<Operand> operands(
      InstructionForm form,
      List<String> modifiers,
      List<PtxType> types,
      List<Operand> found,
      Token opcode,
      Token end) {
    List<OperandRule> rules = form.operands();
    if (rules.size() == 1 && rules.get(0).kind() == OperandRule.Kind.CALL) {
      return found;
    }
    int optional = (int) rules.stream().filter(OperandRule::optional).count();
    boolean without = optional > 0 && found.size() == rules.size() - optional;
    if (found.size() != rules.size() && !without) {
      throw new PtxException(
          (found.isEmpty() ? end.position() : found.get(0).position()),
          "'%s' has %d operands; %s were expected"
              .formatted(
                  opcode.text() + String.join("", modifiers),
                  found.size(),
                  optional > 0
                      ? (rules.size() - optional) + " or " + rules.size()
                      : "" + rules.size()));
    }
    Operand[] ordered = new Operand[rules.size()];
    int at = 0;
    for (int i = 0; i < ordered.length; i++) {
      if (!(without && rules.get(i).optional())) {
        ordered[i] = found.get(at++);
        check(rules.get(i), ordered[i], types, modifiers);
      }
    }
    return Arrays.asList(ordered);
  }

  private static void check(
      OperandRule rule, Operand operand, List<PtxType> types, List<String> modifiers) {
    switch (rule.kind()) {
      case DESTINATION -> destination(rule, operand, types, modifiers);
      case SOURCE -> source(rule, operand, types, modifiers);
      case PREDICATE_SOURCE -> predicate(operand);
      case CONSTANT -> {
        if (!(operand instanceof Operand.Immediate constant)
            || constant.form() != Operand.Immediate.Form.INTEGER) {
          throw wrong(operand, "an integer constant");
        }
      }
      case ADDRESS -> address(rule, operand, modifiers);
      case MATRIX -> {
        if (operand instanceof Operand.Vector) {
          elements(operand, 4, rule).forEach(one -> scalarSource(one, PtxType.B32, false));
        } else {
          scalarSource(operand, PtxType.B64, false);
        }
      }
      case TENSOR_MATRIX -> {
        if (operand instanceof Operand.Address) {
          address(rule, operand, modifiers);
        } else {
          scalarSource(operand, PtxType.B64, false);
        }
      }
      case LABEL -> {
        if (!(operand instanceof Operand.Label)) {
          throw wrong(operand, "a label");
        }
      }
      case MOVE_DESTINATION -> moveOperand(operand, types.get(0), true);
      case MOVE_SOURCE -> moveOperand(operand, types.get(0), false);
      case CALL -> throw new IllegalStateException("call is checked when it is linked");
    }
  }

  private static PtxType type(OperandRule rule, List<PtxType> types) {
    return switch (rule.type()) {
      case "T" -> types.get(0);
      case "T1" -> types.get(1);
      case "W" ->
          switch (types.get(0)) {
            case U16 -> PtxType.U32;
            case S16 -> PtxType.S32;
            case U32 -> PtxType.U64;
            default -> PtxType.S64;
          };
      default -> PtxType.of("." + rule.type());
    };
  }

  private static int vector(OperandRule rule, List<String> modifiers) {
    if (rule.count() >= 0) {
      return rule.count();
    }
    if (rule.count() == OperandRule.HALF_OF_N || rule.count() == OperandRule.QUARTER_OF_N) {
      int n = columns(modifiers);
      return rule.count() == OperandRule.HALF_OF_N ? n / 2 : n / 4;
    }
    if (rule.count() == OperandRule.OF_CELLS) {
      return cells(modifiers);
    }
    return modifiers.contains(".v4") ? 4 : modifiers.contains(".v2") ? 2 : 0;
  }

  /** Registers of a shape such as .16x256b.x4: those of one, and how many there are. */
  private static int cells(List<String> modifiers) {
    int each = modifiers.contains(".16x128b") ? 2 : modifiers.contains(".16x256b") ? 4 : 1;
    for (String modifier : modifiers) {
      if (modifier.startsWith(".x")) {
        return each * Integer.parseInt(modifier.substring(2));
      }
    }
    throw new IllegalStateException("no number of repetitions among " + modifiers);
  }

  /** N of a matrix's shape such as .m64n128k32. */
  private static int columns(List<String> modifiers) {
    for (String modifier : modifiers) {
      if (modifier.startsWith(".m64n")) {
        return Integer.parseInt(modifier.substring(5, modifier.indexOf('k')));
      }
    }
    throw new IllegalStateException("no shape among " + modifiers);
  }

  private static void destination(
      OperandRule rule, Operand operand, List<PtxType> types, List<String> modifiers) {
    PtxType type = type(rule, types);
    Operand first = operand;
    if (operand instanceof Operand.Pair pair) {
      if (!rule.paired()) {
        throw wrong(operand, "a single destination");
      }
      predicateDestination(pair.second());
      first = pair.first();
    }
    if (rule.sink() && first instanceof Operand.Sink) {
      return;
    }
    // A pair's first half may be left out as well.
    if (first instanceof Operand.Sink && operand instanceof Operand.Pair) {
      return;
    }
    int count = vector(rule, modifiers);
    if (count == 0) {
      register(first, type, rule.wider());
      return;
    }
    for (Operand element : elements(first, count, rule)) {
      if (!(element instanceof Operand.Sink)) {
        register(element, type, rule.wider());
      }
    }
  }

  private static List<Operand> elements(Operand operand, int count, OperandRule rule) {
    // One register needs no braces, though nvcc writes them.
    if (rule.count() == 1 && operand instanceof Operand.Reg) {
      return List.of(operand);
    }
    if (!(operand instanceof Operand.Vector vector) || vector.elements().size() != count) {
      throw wrong(operand, "a vector of " + count);
    }
    return vector.elements();
  }

  private static void predicateDestination(Operand operand) {
    if (!(operand instanceof Operand.Sink)) {
      register(operand, PtxType.PRED, false);
    }
  }

  private static void source(
      OperandRule rule, Operand operand, List<PtxType> types, List<String> modifiers) {
    PtxType type = type(rule, types);
    int count = vector(rule, modifiers);
    if (count == 0) {
      scalarSource(operand, type, rule.wider());
      return;
    }
    for (Operand element : elements(operand, count, rule)) {
      scalarSource(element, type, rule.wider());
    }
  }

  private static void scalarSource(Operand operand, PtxType type, boolean wider) {
    switch (operand) {
      case Operand.Reg reg -> register(reg, type, wider);
      case Operand.Immediate constant -> {
        if (type == PtxType.PRED) {
          throw wrong(operand, "a predicate");
        }
        Constants.bits(constant, type);
      }
      case Operand.Special special -> {
        if ((type.bits() != special.register().type().bits() && !wider) || type.isFloat()) {
          throw wrong(operand, "an operand of type " + type);
        }
      }
      case Operand.Symbol _ -> {
        if (type.bits() < 32 || type.isFloat()) {
          throw wrong(operand, "an operand of type " + type);
        }
      }
      case Operand.FunctionName _,
          Operand.Prototype _,
          Operand.Address _,
          Operand.Vector _,
          Operand.Pair _,
          Operand.Arguments _,
          Operand.Label _,
          Operand.Sink _ ->
          throw wrong(operand, "a register or a constant of type " + type);
    }
  }

  private static void predicate(Operand operand) {
    if (operand instanceof Operand.Immediate constant
        && constant.form() == Operand.Immediate.Form.INTEGER) {
      return;
    }
    if (!(operand instanceof Operand.Reg reg) || !reg.register().isPredicate()) {
      throw wrong(operand, "a predicate");
    }
  }

  private static void register(Operand operand, PtxType type, boolean wider) {
    if (!(operand instanceof Operand.Reg reg)) {
      throw wrong(operand, "a register of type " + type);
    }
    PtxType declared = reg.register().type();
    boolean width = declared.bits() == type.bits() || (wider && declared.bits() > type.bits());
    if (!width
        || (!type.agreesWith(declared) && !wider)
        || (reg.negated() && type != PtxType.PRED)) {
      throw new PtxException(
          operand.position(),
          "'%s' is a register of type %s; one of type %s was expected"
              .formatted(reg.register().name(), declared, type));
    }
    if (reg.negated()) {
      throw wrong(operand, "a predicate that isn't negated");
    }
  }

  private static void address(OperandRule rule, Operand operand, List<String> modifiers) {
    if (!(operand instanceof Operand.Address address)) {
      throw wrong(operand, "an address in brackets");
    }
    coordinates(rule, address, modifiers);
    if (address.base() instanceof Operand.Reg reg) {
      PtxType type = reg.register().type();
      if ((type.bits() != 64 && type.bits() != 32) || type.isFloat()) {
        throw new PtxException(
            reg.position(),
            "'%s' is a register of type %s; an address has 64 or 32 bits"
                .formatted(reg.register().name(), type));
      }
    } else if (address.base() instanceof Operand.Symbol symbol) {
      List<StateSpace> stated = new ArrayList<>();
      for (String modifier : modifiers) {
        StateSpace space = StateSpace.of(modifier);
        if (space != null) {
          stated.add(space);
        }
      }
      StateSpace space = symbol.variable().space();
      boolean map = rule.type().equals("tensor");
      if (!stated.isEmpty() && !map && stated.stream().noneMatch(one -> one.covers(space))) {
        throw new PtxException(
            symbol.position(),
            "'%s' lies in %s; an address in %s was expected"
                .formatted(symbol.variable().name(), symbol.variable().space(), stated.get(0)));
      }
    }
  }

  /** A tensor's address has as many coordinates as the instruction says, any other one none. */
  private static void coordinates(
      OperandRule rule, Operand.Address address, List<String> modifiers) {
    if (!rule.type().equals("tensor")) {
      if (address.coordinates() != null) {
        throw wrong(address.coordinates(), "an address without coordinates");
      }
      return;
    }
    int rank = 1;
    while (!modifiers.contains("." + rank + "d")) {
      rank++;
    }
    if (address.coordinates() == null || address.coordinates().elements().size() != rank) {
      throw wrong(address, "a tensor map's address with " + rank + " coordinates");
    }
    for (Operand element : address.coordinates().elements()) {
      scalarSource(element, PtxType.S32, false);
    }
  }

  private static void moveOperand(Operand operand, PtxType type, boolean destination) {
    switch (operand) {
      case Operand.Reg reg -> register(reg, type, false);
      case Operand.Vector vector -> {
        int count = vector.elements().size();
        int bits = type.bits() / count;
        if (type.kind() != PtxType.Kind.BITS || (count != 2 && count != 4) || bits < 8) {
          throw wrong(operand, "an operand of type " + type);
        }
        PtxType part = bits == 8 ? PtxType.B8 : bits == 16 ? PtxType.B16 : PtxType.B32;
        for (Operand element : vector.elements()) {
          boolean sink = destination && element instanceof Operand.Sink;
          boolean constant = !destination && element instanceof Operand.Immediate;
          if (!sink && !constant) {
            register(element, part, false);
          }
        }
      }
      case Operand.Immediate constant when !destination -> Constants.bits(constant, type);
      case Operand.Special special when !destination -> {
        if (type.isFloat() || type.bits() < 32 || type == PtxType.PRED) {
          throw wrong(special, "an operand of type " + type);
        }
      }
      case Operand.Symbol symbol when !destination -> {
        if (type.isFloat() || type.bits() < 32) {
          throw wrong(symbol, "an operand of type " + type);
        }
      }
      case Operand.FunctionName name when !destination -> {
        if (type.isFloat() || type.bits() != 64) {
          throw wrong(name, "an operand of type " + type);
        }
      }
      default ->
          throw wrong(operand, (destination ? "a destination" : "an operand") + " of type " + type);
    }
  }

  private static PtxException wrong(Operand operand, String expected) {
    String what =
        switch (operand) {
          case Operand.Reg reg -> (reg.negated() ? "'!" : "'") + reg.register().name() + "'";
          case Operand.Special special -> "'" + special.register() + "'";
          case Operand.Immediate _ -> "a constant";
          case Operand.Symbol symbol -> "the variable '" + symbol.variable().name() + "'";
          case Operand.FunctionName name -> "the function '" + name.name() + "'";
          case Operand.Prototype _ -> "a prototype";
          case Operand.Address _ -> "an address";
          case Operand.Vector vector -> "a vector of " + vector.elements().size();
          case Operand.Pair _ -> "a pair";
          case Operand.Arguments _ -> "a list of arguments";
          case Operand.Label label -> "'" + label.name() + "'";
          case Operand.Sink _ -> "'_'";
        };
    return new PtxException(
        operand.position(), what + " stands where " + expected + " was expected");
  }
}
