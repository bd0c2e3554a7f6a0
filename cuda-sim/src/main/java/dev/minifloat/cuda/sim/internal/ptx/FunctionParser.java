package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Parses one function: parameters, declarations, labels and instructions. */
final class FunctionParser {
  /** More registers than this are refused: their frames would not fit in memory. */
  private static final int MOST_REGISTERS = 1 << 20;

  private static final int DEEPEST = 200;

  /** An instruction whose labels are not resolved yet. */
  private record Pending(Instruction instruction, Scope scope) {}

  private final TokenCursor cursor;
  private final ConstantParser constants;
  private final Verifier verifier;
  private final List<Pending> pending = new ArrayList<>();
  private final List<Variable> variables = new ArrayList<>();
  private Scope scope;
  private String name = "";
  private int registers;
  private int predicates;
  private int depth;

  FunctionParser(TokenCursor cursor, int version, List<String> target, Scope scope) {
    this.cursor = cursor;
    this.constants = new ConstantParser(cursor);
    this.verifier = new Verifier(version, PtxTarget.of(target.get(0)));
    this.scope = scope;
  }

  /** {@code .param .u64 name} or {@code .reg .u32 name}. */
  private PtxFunction.Parameter parameter(VariableParser variableParser) {
    Token word = cursor.next();
    if (word.is(".param")) {
      Variable variable = variableParser.parameter("");
      // Prototypes may leave every parameter nameless.
      if (!variable.name().equals("_")) {
        scope.declare(variable);
      }
      return new PtxFunction.Parameter(variable, null);
    }
    if (word.is(".reg")) {
      PtxType type = registerType();
      Token register = cursor.name("a register's name");
      return new PtxFunction.Parameter(null, declareRegister(register, type));
    }
    throw TokenCursor.unexpected(word, ".param or .reg");
  }

  PtxFunction body(
      Token functionName,
      boolean entry,
      Variable.Linkage linkage,
      List<PtxFunction.Parameter> results,
      List<PtxFunction.Parameter> parameters,
      Map<String, List<Integer>> directives) {
    name = functionName.text();
    cursor.expect("{");
    Scope outer = scope;
    block();
    scope = outer;
    List<Instruction> body = new ArrayList<>();
    for (Pending one : pending) {
      body.add(resolved(one));
    }
    return new PtxFunction(
        name,
        entry,
        linkage,
        results,
        parameters,
        List.copyOf(variables),
        registers,
        predicates,
        List.copyOf(body),
        directives,
        functionName.position());
  }

  /** What stands between braces, to the closing one. */
  private void block() {
    if (++depth > DEEPEST) {
      throw new PtxException(cursor.peek().position(), "braces nest too deeply");
    }
    Scope outer = scope;
    scope = new Scope(outer);
    while (!cursor.accept("}")) {
      if (cursor.atEnd()) {
        throw TokenCursor.unexpected(cursor.peek(), "'}'");
      }
      statement();
    }
    scope = outer;
    depth--;
  }

  private void statement() {
    Token token = cursor.peek();
    if (token.kind() == Token.Kind.DOT_WORD) {
      directive();
    } else if (cursor.accept("{")) {
      block();
    } else if (token.is(";")) {
      cursor.next();
    } else if (token.kind() == Token.Kind.NAME && cursor.peekSecond().is(":")) {
      label();
    } else {
      instruction();
    }
  }

  private void label() {
    Token label = cursor.next();
    cursor.expect(":");
    if (cursor.accept(".branchtargets")) {
      List<Operand.Label> targets = new ArrayList<>();
      do {
        Token target = cursor.name("a label");
        targets.add(new Operand.Label(target.text(), target.position()));
      } while (cursor.accept(","));
      cursor.expect(";");
      scope.declareTargets(label, targets);
    } else if (cursor.accept(".callprototype")) {
      scope.declarePrototype(label, callPrototype());
    } else if (cursor.peek().is(".calltargets")) {
      throw new PtxException(
          cursor.peek().position(),
          "lists of a call's targets are not supported; a .callprototype is");
    } else {
      scope.declareLabel(label, pending.size());
    }
  }

  /** {@code (results) _ (parameters);} after {@code .callprototype}; the names mean nothing. */
  private CallPrototype callPrototype() {
    Scope outer = scope;
    scope = new Scope(null);
    List<PtxFunction.Parameter> results = cursor.peek().is("(") ? parameters() : List.of();
    cursor.name("'_'");
    List<PtxFunction.Parameter> parameters = cursor.peek().is("(") ? parameters() : List.of();
    scope = outer;
    while (cursor.accept(".noreturn") || cursor.accept(".abi_preserve_control")) {
      // They allow a compiler to do something, and ask for nothing.
    }
    cursor.expect(";");
    return CallPrototype.of(results, parameters);
  }

  /** {@code (.param .b32 a, .reg .u64 b)}, of a function or a prototype. */
  List<PtxFunction.Parameter> parameters() {
    VariableParser variableParser = new VariableParser(cursor);
    cursor.expect("(");
    List<PtxFunction.Parameter> found = new ArrayList<>();
    if (cursor.accept(")")) {
      return found;
    }
    do {
      found.add(parameter(variableParser));
    } while (cursor.accept(","));
    cursor.expect(")");
    return found;
  }

  private void directive() {
    Token token = cursor.next();
    switch (token.text()) {
      case ".loc", ".file" -> cursor.skipLine(token.line());
      case ".pragma" -> {
        cursor.expect(Token.Kind.STRING, "a string");
        cursor.expect(";");
      }
      case ".reg" -> registers();
      case ".local", ".shared", ".param", ".global", ".const" ->
          variables(token, Variable.Linkage.NONE);
      case ".extern" -> variables(cursor.expect(".shared"), Variable.Linkage.EXTERN);
      default -> throw TokenCursor.unexpected(token, "a directive of a function's body");
    }
  }

  private void variables(Token word, Variable.Linkage linkage) {
    StateSpace space = StateSpace.of(word.text());
    for (Variable variable : new VariableParser(cursor).declarations(space, linkage, name)) {
      scope.declare(variable);
      variables.add(variable);
    }
  }

  private PtxType registerType() {
    Token token = cursor.next();
    PtxType type = PtxType.of(token.text());
    if (type == null || !type.isFundamental()) {
      throw TokenCursor.unexpected(token, "a type that a register can have");
    }
    return type;
  }

  private void registers() {
    PtxType type = registerType();
    do {
      Token register = cursor.name("a register's name");
      if (cursor.accept("<")) {
        int count = constants.integer(0, MOST_REGISTERS, "the number of registers");
        cursor.expect(">");
        scope.declareRange(register.text(), type, count, allocate(type, count, register));
      } else {
        declareRegister(register, type);
      }
    } while (cursor.accept(","));
    cursor.expect(";");
  }

  private Register declareRegister(Token token, PtxType type) {
    Register register = new Register(token.text(), type, allocate(type, 1, token));
    scope.declare(register, token.position());
    return register;
  }

  private int allocate(PtxType type, int count, Token at) {
    int first = type == PtxType.PRED ? predicates : registers;
    if (first + count > MOST_REGISTERS) {
      throw new PtxException(at.position(), "more than " + MOST_REGISTERS + " registers");
    }
    if (type == PtxType.PRED) {
      predicates += count;
    } else {
      registers += count;
    }
    return first;
  }

  private void instruction() {
    OperandParser operands = new OperandParser(cursor, scope);
    Token first = cursor.peek();
    Operand.Reg guard = cursor.accept("@") ? operands.guard() : null;
    Token opcode = cursor.name("an instruction, a declaration or '}'");
    List<Token> modifiers = new ArrayList<>();
    while (cursor.peek().kind() == Token.Kind.DOT_WORD) {
      modifiers.add(cursor.next());
    }
    InstructionForm form = verifier.form(opcode, modifiers);
    List<Operand> found = opcode.is("call") ? operands.call() : operands.list();
    Token end = cursor.peek();
    cursor.expect(";");
    List<String> words = modifiers.stream().map(Token::text).toList();
    List<PtxType> types = InstructionForm.types(words);
    List<Operand> checked = verifier.operands(form, words, types, found, opcode, end);
    Instruction instruction =
        new Instruction(
            opcode.text(),
            words,
            types,
            guard,
            checked,
            List.of(),
            opcode.position(),
            cursor.textSince(first));
    pending.add(new Pending(instruction, scope));
  }

  private Instruction resolved(Pending one) {
    Instruction instruction = one.instruction();
    List<Integer> targets = new ArrayList<>();
    for (Operand operand : instruction.operands()) {
      if (operand instanceof Operand.Label label) {
        boolean indexed = instruction.opcode().equals("brx");
        for (Operand.Label target : indexed ? targets(label, one.scope()) : List.of(label)) {
          targets.add(index(target, one.scope()));
        }
      }
    }
    if (targets.isEmpty()) {
      return instruction;
    }
    return new Instruction(
        instruction.opcode(),
        instruction.modifiers(),
        instruction.types(),
        instruction.guard(),
        instruction.operands(),
        List.copyOf(targets),
        instruction.position(),
        instruction.text());
  }

  private static List<Operand.Label> targets(Operand.Label label, Scope scope) {
    List<Operand.Label> targets = scope.targets(label.name());
    if (targets == null) {
      throw new PtxException(
          label.position(), "'" + label.name() + "' names no .branchtargets list");
    }
    return targets;
  }

  private static int index(Operand.Label label, Scope scope) {
    Integer index = scope.label(label.name());
    if (index == null) {
      throw new PtxException(
          label.position(), "'" + label.name() + "' stands where a label was expected");
    }
    return index;
  }
}
