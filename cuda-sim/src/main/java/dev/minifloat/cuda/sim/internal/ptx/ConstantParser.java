package dev.minifloat.cuda.sim.internal.ptx;

import java.util.Map;

/** Parses constants and constant expressions (PTX ISA, "Constants"). */
final class ConstantParser {
  private static final Map<String, Integer> PRECEDENCE =
      Map.ofEntries(
          Map.entry("|", 1),
          Map.entry("^", 2),
          Map.entry("&", 3),
          Map.entry("<<", 5),
          Map.entry(">>", 5),
          Map.entry("+", 6),
          Map.entry("-", 6),
          Map.entry("*", 7),
          Map.entry("/", 7),
          Map.entry("%", 7));

  /** Expressions nest no deeper than this, so that a hostile text can't exhaust the stack. */
  private static final int DEEPEST = 200;

  private final TokenCursor cursor;
  private int depth;

  ConstantParser(TokenCursor cursor) {
    this.cursor = cursor;
  }

  /** Whether a constant begins at the cursor. */
  boolean begins() {
    Token token = cursor.peek();
    return token.kind() == Token.Kind.NUMBER
        || token.is("-")
        || token.is("+")
        || token.is("~")
        || token.is("!")
        || token.is("(")
        || token.is("WARP_SZ");
  }

  /** A constant of any form. */
  Operand.Immediate constant() {
    Token first = cursor.peek();
    boolean minus = first.is("-") && isFloat(cursor.peekSecond());
    if (minus) {
      cursor.next();
    }
    Token token = cursor.peek();
    if (!isFloat(token)) {
      return new Operand.Immediate(integer(), Operand.Immediate.Form.INTEGER, first.position());
    }
    cursor.next();
    return floating(token, minus, first.position());
  }

  /** An integer expression. */
  long integer() {
    return binary(0);
  }

  /** An integer expression that must lie in a range. */
  int integer(long least, long most, String what) {
    Token first = cursor.peek();
    long value = integer();
    if (value < least || value > most) {
      throw new PtxException(
          first.position(), what + " is " + value + ", which isn't in " + least + " … " + most);
    }
    return (int) value;
  }

  private long binary(int least) {
    long left = unary();
    while (true) {
      Token token = cursor.peek();
      String operator = token.text();
      if ((operator.equals("<") || operator.equals(">")) && cursor.peekSecond().is(operator)) {
        operator += operator;
      }
      Integer precedence = token.kind() == Token.Kind.SYMBOL ? PRECEDENCE.get(operator) : null;
      if (precedence == null || precedence < least) {
        return left;
      }
      cursor.next();
      if (operator.length() == 2) {
        cursor.next();
      }
      long right = binary(precedence + 1);
      left = apply(operator, left, right, token);
    }
  }

  private static long apply(String operator, long left, long right, Token token) {
    if (right == 0 && (operator.equals("/") || operator.equals("%"))) {
      throw new PtxException(token.position(), "a constant expression divides by zero");
    }
    return switch (operator) {
      case "|" -> left | right;
      case "^" -> left ^ right;
      case "&" -> left & right;
      case "<<" -> left << right;
      case ">>" -> left >> right;
      case "+" -> left + right;
      case "-" -> left - right;
      case "*" -> left * right;
      case "/" -> left / right;
      case "%" -> left % right;
      default -> throw new IllegalStateException("operator " + operator);
    };
  }

  private long unary() {
    Token token = cursor.next();
    if (++depth > DEEPEST) {
      throw new PtxException(token.position(), "a constant expression nests too deeply");
    }
    try {
      if (token.is("-")) {
        return -unary();
      }
      if (token.is("+")) {
        return unary();
      }
      if (token.is("~")) {
        return ~unary();
      }
      if (token.is("!")) {
        return unary() == 0 ? 1 : 0;
      }
      if (token.is("(")) {
        if (cursor.accept(".s64") || cursor.accept(".u64")) {
          cursor.expect(")");
          return unary();
        }
        long value = binary(0);
        cursor.expect(")");
        return value;
      }
      if (token.is("WARP_SZ")) {
        return 32;
      }
      if (token.kind() == Token.Kind.NUMBER && !isFloat(token)) {
        return integerLiteral(token);
      }
      throw TokenCursor.unexpected(token, "an integer constant");
    } finally {
      depth--;
    }
  }

  private static boolean isFloat(Token token) {
    if (token.kind() != Token.Kind.NUMBER) {
      return false;
    }
    String word = token.text();
    if (word.length() > 1 && word.charAt(0) == '0' && "fFdD".indexOf(word.charAt(1)) >= 0) {
      return true;
    }
    boolean hexadecimal = word.startsWith("0x") || word.startsWith("0X");
    return !hexadecimal && (word.contains(".") || word.contains("e") || word.contains("E"));
  }

  private static long integerLiteral(Token token) {
    String word = token.text();
    String digits = word.endsWith("U") ? word.substring(0, word.length() - 1) : word;
    int radix = 10;
    if (digits.startsWith("0x") || digits.startsWith("0X")) {
      radix = 16;
      digits = digits.substring(2);
    } else if (digits.startsWith("0b") || digits.startsWith("0B")) {
      radix = 2;
      digits = digits.substring(2);
    } else if (digits.length() > 1 && digits.startsWith("0")) {
      radix = 8;
      digits = digits.substring(1);
    }
    try {
      return Long.parseUnsignedLong(digits, radix);
    } catch (NumberFormatException e) {
      throw new PtxException(
          token.position(), token.quoted() + " is no integer constant of 64 bits or fewer");
    }
  }

  private static Operand.Immediate floating(Token token, boolean minus, SourcePosition position) {
    String word = token.text();
    char second = word.length() > 1 ? (char) (word.charAt(1) | 32) : ' ';
    try {
      if (word.charAt(0) == '0' && (second == 'f' || second == 'd')) {
        int digits = second == 'f' ? 8 : 16;
        if (word.length() != 2 + digits) {
          throw new NumberFormatException("it has not " + digits + " digits");
        }
        long bits = Long.parseUnsignedLong(word.substring(2), 16);
        long sign = minus ? 1L << (4 * digits - 1) : 0;
        Operand.Immediate.Form form =
            second == 'f' ? Operand.Immediate.Form.F32 : Operand.Immediate.Form.F64;
        return new Operand.Immediate(bits ^ sign, form, position);
      }
      if (!word.matches("[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?")) {
        throw new NumberFormatException("it is no decimal number");
      }
      double value = Double.parseDouble(word);
      return new Operand.Immediate(
          Double.doubleToRawLongBits(minus ? -value : value), Operand.Immediate.Form.F64, position);
    } catch (NumberFormatException e) {
      throw new PtxException(
          token.position(), token.quoted() + " is no floating point constant: " + e.getMessage());
    }
  }
}
