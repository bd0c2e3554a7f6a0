package dev.minifloat.cuda.sim.internal.ptx;

import java.util.regex.Pattern;

/** A place in a text, and the steps that parsers take from token to token. */
final class TokenCursor {
  private static final Pattern COMMENT = Pattern.compile("//[^\n]*|/\\*(?s:.*?)\\*/");
  private static final Pattern BLANK = Pattern.compile("\\s+");

  private final String text;
  private final Lexer lexer;
  private Token first;
  private Token second;

  /** Where the last token that was taken ends. */
  private int end;

  TokenCursor(String text) {
    this.text = text;
    this.lexer = new Lexer(text);
    this.first = lexer.next();
  }

  Token peek() {
    return first;
  }

  /** The token after the next. */
  Token peekSecond() {
    if (second == null) {
      second = lexer.next();
    }
    return second;
  }

  Token next() {
    Token token = first;
    if (token.kind() != Token.Kind.END) {
      end = token.end();
      first = second == null ? lexer.next() : second;
      second = null;
    }
    return token;
  }

  boolean atEnd() {
    return peek().kind() == Token.Kind.END;
  }

  /** Takes the next token if it is this one. */
  boolean accept(String word) {
    if (peek().is(word)) {
      next();
      return true;
    }
    return false;
  }

  Token expect(String word) {
    Token token = next();
    if (!token.is(word)) {
      throw unexpected(token, "'" + word + "'");
    }
    return token;
  }

  Token expect(Token.Kind kind, String what) {
    Token token = next();
    if (token.kind() != kind) {
      throw unexpected(token, what);
    }
    return token;
  }

  Token name(String what) {
    return expect(Token.Kind.NAME, what);
  }

  /** Skips what is left of a line. */
  void skipLine(int line) {
    while (!atEnd() && peek().line() == line) {
      next();
    }
  }

  /** The text from a token to the last one taken, on one line. */
  String textSince(Token start) {
    String slice = text.substring(start.start(), end);
    return BLANK.matcher(COMMENT.matcher(slice).replaceAll(" ")).replaceAll(" ").strip();
  }

  static PtxException unexpected(Token token, String expected) {
    return new PtxException(
        token.position(), token.quoted() + " stands where " + expected + " was expected");
  }
}
