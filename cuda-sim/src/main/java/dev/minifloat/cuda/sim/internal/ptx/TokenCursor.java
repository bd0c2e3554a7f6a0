package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;

/** A place in a list of tokens, and the steps that parsers take from it. */
final class TokenCursor {
  private final String text;
  private final List<Token> tokens;
  private int at;

  TokenCursor(String text) {
    this.text = text;
    this.tokens = Lexer.tokens(text);
  }

  Token peek() {
    return tokens.get(at);
  }

  /** The token after the next. */
  Token peekSecond() {
    return tokens.get(Math.min(at + 1, tokens.size() - 1));
  }

  Token next() {
    Token token = tokens.get(at);
    if (token.kind() != Token.Kind.END) {
      at++;
    }
    return token;
  }

  boolean atEnd() {
    return peek().kind() == Token.Kind.END;
  }

  /** Takes the next token if it is this one. */
  boolean accept(String word) {
    if (peek().is(word)) {
      at++;
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
      at++;
    }
  }

  /** The text from a token to the last one taken, on one line. */
  String textSince(Token first) {
    String slice = text.substring(first.start(), tokens.get(Math.max(at - 1, 0)).end());
    return slice.replaceAll("//[^\n]*|/\\*(?s:.*?)\\*/", " ").replaceAll("\\s+", " ").strip();
  }

  static PtxException unexpected(Token token, String expected) {
    return new PtxException(
        token.position(), token.quoted() + " stands where " + expected + " was expected");
  }
}
