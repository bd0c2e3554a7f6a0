package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Parses a module's own level (PTX ISA, "PTX Module Directives", "Linking Directives"). */
final class ModuleParser {
  /** The newest PTX version whose forms the instruction table was written from. */
  private static final int NEWEST_VERSION = 90;

  private static final Set<String> PERFORMANCE =
      Set.of(
          ".maxntid",
          ".reqntid",
          ".minnctapersm",
          ".maxnctapersm",
          ".maxnreg",
          ".reqnctapercluster",
          ".maxclusterrank",
          ".explicitcluster",
          ".noreturn",
          ".pragma",
          ".abi_preserve",
          ".abi_preserve_control");

  private final TokenCursor cursor;
  private final ConstantParser constants;
  private final VariableParser variableParser;
  private final Scope scope = new Scope(null);
  private final List<Variable> variables = new ArrayList<>();
  private final Map<String, PtxFunction> functions = new LinkedHashMap<>();
  private int version;
  private List<String> target = List.of();
  private int addressSize = 64;

  ModuleParser(String text) {
    cursor = new TokenCursor(text);
    constants = new ConstantParser(cursor);
    variableParser = new VariableParser(cursor);
  }

  PtxModule parse() {
    Token number = version();
    if (version > NEWEST_VERSION) {
      throw new PtxException(
          number.position(),
          "PTX version " + number.text() + " is newer than 9.0, the newest known here");
    }
    target();
    addressSize();
    while (!cursor.atEnd()) {
      statement();
    }
    return new PtxModule(version, target, addressSize, List.copyOf(variables), functions);
  }

  /** The version that the module states, and no more of it. */
  int readVersion() {
    version();
    return version;
  }

  /** The first word of the target that the module states, and no more of it. */
  String readTarget() {
    version();
    target();
    return target.get(0);
  }

  private Token version() {
    cursor.expect(".version");
    Token number = cursor.expect(Token.Kind.NUMBER, "a version such as 7.0");
    if (!number.text().matches("[0-9]{1,6}\\.[0-9]")) {
      throw TokenCursor.unexpected(number, "a version such as 7.0");
    }
    version = Integer.parseInt(number.text().replace(".", ""));
    return number;
  }

  private void target() {
    cursor.expect(".target");
    List<String> words = new ArrayList<>();
    do {
      Token word = cursor.name("a target such as sm_80");
      boolean architecture = words.isEmpty();
      if (architecture) {
        requireKnown(word);
      }
      if (!architecture
          && !Set.of("debug", "texmode_unified", "texmode_independent", "map_f64_to_f32")
              .contains(word.text())) {
        throw TokenCursor.unexpected(word, "an option of .target");
      }
      words.add(word.text());
    } while (cursor.accept(","));
    target = List.copyOf(words);
  }

  private void addressSize() {
    if (cursor.accept(".address_size")) {
      Token size = cursor.peek();
      addressSize = constants.integer(32, 64, "the address size");
      if (addressSize != 64) {
        throw new PtxException(
            size.position(), "addresses of " + addressSize + " bits are not supported: only 64");
      }
    }
  }

  private void requireKnown(Token word) {
    PtxTarget named = PtxTarget.of(word.text());
    if (named == null) {
      throw TokenCursor.unexpected(word, "a target such as sm_80");
    }
    if (named.version() > version) {
      throw new PtxException(
          word.position(),
          "the target %s needs PTX %d.%d; this module is PTX %d.%d"
              .formatted(
                  named, named.version() / 10, named.version() % 10, version / 10, version % 10));
    }
  }

  private void statement() {
    Token token = cursor.peek();
    switch (token.text()) {
      case ".file" -> cursor.skipLine(token.line());
      case ".section" -> section();
      case ".loc" -> cursor.skipLine(token.line());
      case ".pragma" -> {
        cursor.next();
        cursor.expect(Token.Kind.STRING, "a string");
        cursor.expect(";");
      }
      case ";" -> cursor.next();
      default -> declaration();
    }
  }

  /** A debugging section: nothing in it is executed. */
  private void section() {
    while (!cursor.peek().is("{")) {
      if (cursor.atEnd()) {
        throw TokenCursor.unexpected(cursor.peek(), "'{'");
      }
      cursor.next();
    }
    while (!cursor.accept("}")) {
      if (cursor.atEnd()) {
        throw TokenCursor.unexpected(cursor.peek(), "'}'");
      }
      cursor.next();
    }
  }

  private void declaration() {
    Variable.Linkage linkage = linkage();
    Token token = cursor.next();
    switch (token.text()) {
      case ".entry" -> function(true, linkage);
      case ".func" -> function(false, linkage);
      case ".global", ".const", ".shared" -> {
        StateSpace space = StateSpace.of(token.text());
        for (Variable variable : variableParser.declarations(space, linkage, "")) {
          declare(variable);
        }
      }
      default ->
          throw TokenCursor.unexpected(
              token, "a directive of a module (.entry, .func, .global, .const, .shared …)");
    }
  }

  private void declare(Variable variable) {
    Variable known = scope.variable(variable.name());
    boolean redeclared =
        known != null
            && known.space() == variable.space()
            && (known.linkage() == Variable.Linkage.EXTERN
                || variable.linkage() == Variable.Linkage.EXTERN);
    if (!redeclared) {
      scope.declare(variable);
      variables.add(variable);
    } else if (known.linkage() == Variable.Linkage.EXTERN
        && variable.linkage() != Variable.Linkage.EXTERN) {
      throw new PtxException(
          variable.position(), "'" + variable.name() + "' was declared .extern before");
    }
  }

  private Variable.Linkage linkage() {
    Variable.Linkage linkage =
        switch (cursor.peek().text()) {
          case ".visible" -> Variable.Linkage.VISIBLE;
          case ".extern" -> Variable.Linkage.EXTERN;
          case ".weak" -> Variable.Linkage.WEAK;
          case ".common" -> Variable.Linkage.COMMON;
          default -> Variable.Linkage.NONE;
        };
    if (linkage != Variable.Linkage.NONE) {
      cursor.next();
    }
    return linkage;
  }

  private void function(boolean entry, Variable.Linkage linkage) {
    while (cursor.accept(".attribute")) {
      throw TokenCursor.unexpected(cursor.peek(), "no attribute: none of a function is supported");
    }
    Scope own = new Scope(scope);
    List<PtxFunction.Parameter> results = List.of();
    FunctionParser parser = new FunctionParser(cursor, version, target, own);
    if (!entry && cursor.peek().is("(")) {
      results = parser.parameters();
    }
    Token name = cursor.name("the name of a function");
    scope.declareFunction(name.text());
    List<PtxFunction.Parameter> parameters =
        cursor.peek().is("(") ? parser.parameters() : List.of();
    Map<String, List<Integer>> directives = directives();
    PtxFunction function;
    if (cursor.accept(";")) {
      function =
          new PtxFunction(
              name.text(),
              entry,
              linkage,
              results,
              parameters,
              List.of(),
              0,
              0,
              null,
              directives,
              name.position());
    } else {
      function = parser.body(name, entry, linkage, results, parameters, directives);
    }
    Limits.check(function, version);
    PtxFunction known = functions.get(name.text());
    if (known != null && known.isDefined() && function.isDefined()) {
      throw new PtxException(
          name.position(), "the function " + name.quoted() + " is defined twice");
    }
    if (known == null || function.isDefined()) {
      functions.put(name.text(), function);
    }
  }

  private Map<String, List<Integer>> directives() {
    Map<String, List<Integer>> found = new LinkedHashMap<>();
    while (PERFORMANCE.contains(cursor.peek().text())) {
      Token directive = cursor.next();
      List<Integer> numbers = new ArrayList<>();
      if (directive.is(".pragma")) {
        do {
          cursor.expect(Token.Kind.STRING, "a string");
        } while (cursor.accept(","));
        cursor.accept(";");
      } else if (cursor.peek().kind() == Token.Kind.NUMBER) {
        do {
          numbers.add(constants.integer(0, Integer.MAX_VALUE, directive.text()));
        } while (cursor.accept(","));
      }
      found.put(directive.text(), numbers);
    }
    return found;
  }
}
