package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.List;

/** Parses operands and resolves the names in them. */
final class OperandParser {
  private final TokenCursor cursor;
  private final ConstantParser constants;
  private final Scope scope;

  OperandParser(TokenCursor cursor, Scope scope) {
    this.cursor = cursor;
    this.constants = new ConstantParser(cursor);
    this.scope = scope;
  }

  /** What follows {@code @}. */
  Operand.Reg guard() {
    boolean negated = cursor.accept("!");
    Token name = cursor.name("a predicate");
    Register register = scope.register(name.text());
    if (register == null || !register.isPredicate()) {
      throw TokenCursor.unexpected(name, "a declared predicate");
    }
    return new Operand.Reg(register, negated, name.position());
  }

  /** Operands separated by commas, up to the semicolon. */
  List<Operand> list() {
    List<Operand> found = new ArrayList<>();
    if (cursor.peek().is(";")) {
      return found;
    }
    do {
      found.add(operand());
    } while (cursor.accept(","));
    return found;
  }

  /**
   * {@code (results), function, (arguments)}: three operands, whatever is written, and a fourth,
   * the prototype, if the function is given by its address.
   */
  List<Operand> call() {
    SourcePosition start = cursor.peek().position();
    Operand.Arguments results = new Operand.Arguments(List.of(), start);
    if (cursor.peek().is("(")) {
      results = arguments();
      cursor.expect(",");
    }
    Token name = cursor.name("the name of a function");
    Operand.Arguments arguments = new Operand.Arguments(List.of(), name.position());
    Register address = scope.register(name.text());
    boolean more = cursor.accept(",");
    if (more && cursor.peek().is("(")) {
      arguments = arguments();
      more = cursor.accept(",");
    }
    if (address == null) {
      if (more) {
        throw TokenCursor.unexpected(cursor.peek(), "';' after a call by name");
      }
      return List.of(results, new Operand.FunctionName(name.text(), name.position()), arguments);
    }
    if (address.type().bits() != 64 || address.type().isFloat()) {
      throw TokenCursor.unexpected(name, "a function, or a register of 64 bits with its address");
    }
    if (!more) {
      throw TokenCursor.unexpected(
          cursor.peek(), "',' and the prototype of a call through an address");
    }
    Operand callee = new Operand.Reg(address, false, name.position());
    return List.of(results, callee, arguments, prototype());
  }

  private Operand.Prototype prototype() {
    Token name = cursor.name("the label of a .callprototype or a .calltargets");
    CallPrototype prototype = scope.prototype(name.text());
    if (prototype == null) {
      throw TokenCursor.unexpected(name, "the label of a .callprototype or a .calltargets");
    }
    return new Operand.Prototype(prototype, name.position());
  }

  private Operand.Arguments arguments() {
    Token open = cursor.expect("(");
    List<Operand> found = new ArrayList<>();
    if (!cursor.accept(")")) {
      do {
        found.add(operand());
      } while (cursor.accept(","));
      cursor.expect(")");
    }
    return new Operand.Arguments(found, open.position());
  }

  private Operand operand() {
    Operand first = simple();
    if (cursor.accept("|")) {
      return new Operand.Pair(first, simple(), first.position());
    }
    return first;
  }

  private Operand simple() {
    Token token = cursor.peek();
    if (token.is("[")) {
      return address();
    }
    if (token.is("{")) {
      return vector();
    }
    if (token.is("_")) {
      cursor.next();
      return new Operand.Sink(token.position());
    }
    if (token.is("!") && cursor.peekSecond().kind() == Token.Kind.NAME) {
      cursor.next();
      Token name = cursor.name("a predicate");
      Register register = scope.register(name.text());
      if (register == null) {
        throw TokenCursor.unexpected(name, "a declared predicate");
      }
      return new Operand.Reg(register, true, token.position());
    }
    if (constants.begins()) {
      return constants.constant();
    }
    if (token.kind() != Token.Kind.NAME) {
      throw TokenCursor.unexpected(token, "an operand");
    }
    return named();
  }

  /** A register, special register, variable with an offset, label or function. */
  private Operand named() {
    Token name = cursor.name("a name");
    Register register = scope.register(name.text());
    if (register != null) {
      return new Operand.Reg(register, false, name.position());
    }
    if (name.text().startsWith("%")) {
      return special(name);
    }
    Variable variable = scope.variable(name.text());
    if (variable != null) {
      return new Operand.Symbol(variable, offset(), name.position());
    }
    if (scope.isFunction(name.text())) {
      return new Operand.FunctionName(name.text(), name.position());
    }
    return new Operand.Label(name.text(), name.position());
  }

  private Operand special(Token name) {
    String full = name.text();
    if (cursor.peek().kind() == Token.Kind.DOT_WORD) {
      full += cursor.next().text();
    }
    SpecialRegister special = SpecialRegister.of(full);
    if (special == null) {
      throw new PtxException(
          name.position(),
          "'" + full + "' is neither a declared register nor a supported special register");
    }
    return new Operand.Special(special, name.position());
  }

  private long offset() {
    if (cursor.peek().is("+") || cursor.peek().is("-")) {
      return constants.integer();
    }
    return 0;
  }

  private Operand vector() {
    Token open = cursor.expect("{");
    List<Operand> elements = new ArrayList<>();
    do {
      elements.add(element());
    } while (cursor.accept(","));
    cursor.expect("}");
    return new Operand.Vector(elements, open.position());
  }

  private Operand element() {
    Token token = cursor.peek();
    if (token.is("{") || token.is("[")) {
      throw TokenCursor.unexpected(token, "a register or a constant");
    }
    return simple();
  }

  private Operand address() {
    Token open = cursor.expect("[");
    Operand base;
    long offset = 0;
    if (constants.begins()) {
      Operand.Immediate constant =
          new Operand.Immediate(
              constants.integer(), Operand.Immediate.Form.INTEGER, open.position());
      base = constant;
    } else {
      Token name = cursor.name("a register, a variable or a constant");
      Register register = scope.register(name.text());
      Variable variable = register == null ? scope.variable(name.text()) : null;
      if (register != null) {
        base = new Operand.Reg(register, false, name.position());
      } else if (variable != null) {
        base = new Operand.Symbol(variable, 0, name.position());
      } else {
        throw TokenCursor.unexpected(name, "a declared register or variable");
      }
      offset = offset();
    }
    Operand.Vector coordinates = null;
    if (cursor.accept(",")) {
      if (!cursor.peek().is("{")) {
        throw TokenCursor.unexpected(cursor.peek(), "coordinates in braces");
      }
      coordinates = (Operand.Vector) vector();
    }
    cursor.expect("]");
    return new Operand.Address(base, offset, coordinates, open.position());
  }
}
