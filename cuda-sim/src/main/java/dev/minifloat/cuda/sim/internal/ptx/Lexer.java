package dev.minifloat.cuda.sim.internal.ptx;

import java.util.HashMap;
import java.util.Map;

/**
 * Splits a PTX text into tokens (PTX ISA, "Source Format" and "Lexical"), one at a time: a list of
 * all would take many times the text's memory. Comments and white space vanish; a terminating NUL,
 * as C strings carry one, ends the text.
 */
final class Lexer {
  private static final String SYMBOLS = ",;{}()[]|+-!@<>=:~*/&^%?";

  private final String text;
  private final Map<String, String> words = new HashMap<>();
  private int at;
  private int line = 1;
  private int lineStart;

  Lexer(String text) {
    this.text = text;
  }

  /** The next token; the end's again and again after the last. */
  Token next() {
    if (!skipBlank()) {
      return token(Token.Kind.END, at, "");
    }
    int start = at;
    char c = text.charAt(at);
    if (c == '.' && at + 1 < text.length() && isWord(text.charAt(at + 1))) {
      at++;
      skipWord();
      while (text.startsWith("::", at)) {
        at += 2;
        skipWord();
      }
      return token(Token.Kind.DOT_WORD, start, text.substring(start, at));
    }
    if (Character.isDigit(c) && c < 128) {
      number();
      return token(Token.Kind.NUMBER, start, text.substring(start, at));
    }
    if (isNameStart(c) || (c == '%' && at + 1 < text.length() && isWord(text.charAt(at + 1)))) {
      at++;
      skipWord();
      return token(Token.Kind.NAME, start, text.substring(start, at));
    }
    if (c == '"') {
      return string();
    }
    if (SYMBOLS.indexOf(c) < 0) {
      throw new PtxException(
          here(), "the character '" + c + "' (U+%04X) begins no token".formatted((int) c));
    }
    at++;
    return token(Token.Kind.SYMBOL, start, String.valueOf(c));
  }

  /** Opcodes, modifiers and registers come again and again: each word is kept once. */
  private Token token(Token.Kind kind, int start, String word) {
    boolean repeats = kind == Token.Kind.DOT_WORD || kind == Token.Kind.NAME;
    String kept = repeats ? words.computeIfAbsent(word, same -> same) : word;
    return new Token(kind, kept, line, start - lineStart + 1, start, at);
  }

  private SourcePosition here() {
    return new SourcePosition(line, at - lineStart + 1);
  }

  /** Moves to the next token's first character; false at the end. */
  private boolean skipBlank() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\n') {
        at++;
        line++;
        lineStart = at;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        at++;
      } else if (text.startsWith("//", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (text.startsWith("/*", at)) {
        blockComment();
      } else {
        return c != 0;
      }
    }
    return false;
  }

  private void blockComment() {
    int end = text.indexOf("*/", at + 2);
    if (end < 0) {
      throw new PtxException(here(), "the comment that begins here has no end");
    }
    for (; at < end; at++) {
      if (text.charAt(at) == '\n') {
        line++;
        lineStart = at + 1;
      }
    }
    at = end + 2;
  }

  /** A number as far as its characters go: 12U, 0x1F, 0b1, 017, 0f3F800000, 0d…, 1.5e-3. */
  private void number() {
    boolean decimal = !isPrefixed();
    while (at < text.length()) {
      char c = text.charAt(at);
      boolean fraction = decimal && c == '.' && nextIsDigitOrEnd();
      boolean exponentSign = decimal && (c == '+' || c == '-') && (text.charAt(at - 1) | 32) == 'e';
      if (!isWord(c) && !fraction && !exponentSign) {
        return;
      }
      at++;
    }
  }

  private boolean isPrefixed() {
    return text.charAt(at) == '0'
        && at + 1 < text.length()
        && "xXbBfFdD".indexOf(text.charAt(at + 1)) >= 0;
  }

  private boolean nextIsDigitOrEnd() {
    return at + 1 >= text.length() || !Character.isLetter(text.charAt(at + 1));
  }

  private Token string() {
    int start = at;
    StringBuilder word = new StringBuilder();
    for (at++; ; at++) {
      if (at >= text.length() || text.charAt(at) == '\n') {
        at = start;
        throw new PtxException(here(), "the string that begins here has no end on its line");
      }
      char c = text.charAt(at);
      if (c == '"') {
        break;
      }
      if (c == '\\' && at + 1 < text.length() && text.charAt(at + 1) != '\n') {
        word.append(c);
        at++;
      }
      word.append(text.charAt(at));
    }
    at++;
    return token(Token.Kind.STRING, start, word.toString());
  }

  private void skipWord() {
    while (at < text.length() && isWord(text.charAt(at))) {
      at++;
    }
  }

  private static boolean isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  }

  private static boolean isWord(char c) {
    return isNameStart(c) || (c >= '0' && c <= '9');
  }
}
