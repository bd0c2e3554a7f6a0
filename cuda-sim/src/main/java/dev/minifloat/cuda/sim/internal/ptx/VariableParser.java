package dev.minifloat.cuda.sim.internal.ptx;

import java.util.ArrayList;
import java.util.List;

/** Parses declarations of variables and their initialisers (PTX ISA, "Variables"). */
final class VariableParser {
  /** No variable, and so no initialiser, is larger than this. */
  private static final long LARGEST = Integer.MAX_VALUE - 64;

  private static final int DEEPEST = 16;

  private final TokenCursor cursor;
  private final ConstantParser constants;

  VariableParser(TokenCursor cursor) {
    this.cursor = cursor;
    this.constants = new ConstantParser(cursor);
  }

  /** {@code .align 4 .b8 a[16] = {…}, b;} after the space's word, to the semicolon. */
  List<Variable> declarations(StateSpace space, Variable.Linkage linkage, String scope) {
    Prefix prefix = prefix();
    List<Variable> found = new ArrayList<>();
    do {
      found.add(declarator(space, linkage, scope, prefix));
    } while (cursor.accept(","));
    cursor.expect(";");
    return found;
  }

  /** A parameter after {@code .param}: type, attributes, name and size. */
  Variable parameter(String scope) {
    return declarator(StateSpace.PARAM, Variable.Linkage.NONE, scope, prefix());
  }

  private record Prefix(PtxType type, int vector, int align) {}

  private Prefix prefix() {
    int align = 0;
    int vector = 1;
    PtxType type = null;
    while (cursor.peek().kind() == Token.Kind.DOT_WORD) {
      Token token = cursor.next();
      switch (token.text()) {
        case ".align" -> align = alignment();
        case ".v2" -> vector = 2;
        case ".v4" -> vector = 4;
        case ".attribute" -> skipParenthesised();
        case ".ptr" -> pointerAttributes();
        default -> {
          type = PtxType.of(token.text());
          if (type == null || !type.isFundamental() || type == PtxType.PRED) {
            throw TokenCursor.unexpected(token, "a type that a variable can have");
          }
        }
      }
    }
    if (type == null) {
      throw TokenCursor.unexpected(cursor.peek(), "a type");
    }
    return new Prefix(type, vector, align == 0 ? type.bytes() * vector : align);
  }

  /** What a pointer points to; it changes nothing here: {@code .ptr .global .align 16}. */
  private void pointerAttributes() {
    while (StateSpace.of(cursor.peek().text()) != null || cursor.peek().is(".generic")) {
      cursor.next();
    }
    if (cursor.accept(".align")) {
      alignment();
    }
  }

  private int alignment() {
    Token token = cursor.peek();
    int align = constants.integer(1, 1 << 20, "the alignment");
    if (Integer.bitCount(align) != 1) {
      throw new PtxException(token.position(), "the alignment " + align + " is no power of two");
    }
    return align;
  }

  private void skipParenthesised() {
    cursor.expect("(");
    int depth = 1;
    while (depth > 0) {
      Token token = cursor.next();
      if (token.kind() == Token.Kind.END) {
        throw TokenCursor.unexpected(token, "')'");
      }
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    }
  }

  private Variable declarator(
      StateSpace space, Variable.Linkage linkage, String scope, Prefix prefix) {
    Token name = cursor.name("a variable's name");
    List<Long> dimensions = new ArrayList<>();
    boolean open = false;
    while (cursor.accept("[")) {
      if (cursor.accept("]")) {
        open = true;
        continue;
      }
      dimensions.add((long) constants.integer(0, LARGEST, "the size of " + name.quoted()));
      cursor.expect("]");
    }
    long elementBytes = (long) prefix.type.bytes() * prefix.vector;
    long bytes = elementBytes;
    for (long dimension : dimensions) {
      bytes = checkedSize(bytes * dimension, name);
    }
    Initializer initial = new Initializer(prefix.type);
    if (cursor.accept("=")) {
      if (space != StateSpace.GLOBAL && space != StateSpace.CONST) {
        throw new PtxException(
            name.position(), name.quoted() + " lies in " + space + " and can't be initialised");
      }
      initial.value(0);
      if (open) {
        bytes = checkedSize(alignUp(initial.size(), bytes), name);
      } else if (initial.size() > bytes) {
        throw new PtxException(
            name.position(),
            name.quoted() + " has " + bytes + " bytes, its initialiser " + initial.size());
      }
    } else if (open) {
      bytes = 0;
    }
    return new Variable(
        space,
        name.text(),
        prefix.type,
        prefix.vector,
        prefix.align,
        bytes,
        linkage,
        initial.bytes(),
        List.copyOf(initial.references),
        scope,
        name.position());
  }

  private static long alignUp(long size, long unit) {
    return unit == 0 ? size : (size + unit - 1) / unit * unit;
  }

  private static long checkedSize(long bytes, Token name) {
    if (bytes > LARGEST) {
      throw new PtxException(name.position(), name.quoted() + " is larger than 2 GiB");
    }
    return bytes;
  }

  /** Collects an initialiser's bytes. */
  private final class Initializer {
    private final PtxType type;
    private final java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
    private final List<Variable.Reference> references = new ArrayList<>();

    Initializer(PtxType type) {
      this.type = type;
    }

    long size() {
      return out.size();
    }

    byte[] bytes() {
      return out.toByteArray();
    }

    void value(int depth) {
      if (depth > DEEPEST) {
        throw new PtxException(cursor.peek().position(), "an initialiser nests too deeply");
      }
      if (cursor.accept("{")) {
        if (cursor.accept("}")) {
          return;
        }
        do {
          value(depth + 1);
        } while (cursor.accept(","));
        cursor.expect("}");
      } else if (cursor.peek().kind() == Token.Kind.NAME && !cursor.peek().is("WARP_SZ")) {
        reference();
      } else {
        write(Constants.bits(constants.constant(), type), type.bytes());
      }
    }

    private void reference() {
      Token name = cursor.name("a variable's name");
      boolean generic = name.is("generic") && cursor.accept("(");
      if (generic) {
        name = cursor.name("a variable's name");
        cursor.expect(")");
      }
      long addend = 0;
      if (cursor.peek().is("+") || cursor.peek().is("-")) {
        addend = constants.integer();
      }
      references.add(
          new Variable.Reference(
              out.size(), type.bytes(), name.text(), addend, generic, name.position()));
      write(0, type.bytes());
    }

    private void write(long bits, int bytes) {
      for (int i = 0; i < bytes; i++) {
        out.write((int) (bits >>> (8 * i)));
      }
    }
  }
}
