package dev.minifloat.encoder;

import java.util.List;

/**
 * What surrounds the tokens of a text, such as {@code [CLS] A [SEP]}, or of a pair, such as {@code
 * [CLS] A [SEP] B [SEP]}.
 *
 * @param pieces the parts in their order
 */
record Template(List<Piece> pieces) {
  Template {
    pieces = List.copyOf(pieces);
  }

  /** A part of a template; {@code typeId} is given to each of its tokens. */
  sealed interface Piece {
    int typeId();
  }

  /** The tokens of a text: the first ({@code A}) or, in a pair, the second ({@code B}). */
  record Sequence(boolean second, int typeId) implements Piece {}

  /** A special token. */
  record Special(int id, int typeId) implements Piece {}

  /** The template of BERT's single texts. */
  static Template bertSingle(int cls, int sep) {
    return new Template(List.of(new Special(cls, 0), new Sequence(false, 0), new Special(sep, 0)));
  }

  /** The template of BERT's pairs. */
  static Template bertPair(int cls, int sep) {
    return new Template(
        List.of(
            new Special(cls, 0),
            new Sequence(false, 0),
            new Special(sep, 0),
            new Sequence(true, 1),
            new Special(sep, 1)));
  }

  /** The number of special tokens. */
  int specials() {
    return (int) pieces.stream().filter(Special.class::isInstance).count();
  }

  /** Puts the first {@code firstLength} and {@code secondLength} tokens of two lists in place. */
  Encoding apply(IntList first, int firstLength, IntList second, int secondLength) {
    int length = 0;
    for (Piece piece : pieces) {
      length +=
          switch (piece) {
            case Special _ -> 1;
            case Sequence(boolean isSecond, int _) -> isSecond ? secondLength : firstLength;
          };
    }
    int[] ids = new int[length];
    int[] typeIds = new int[length];
    int at = 0;
    for (Piece piece : pieces) {
      switch (piece) {
        case Special(int id, int typeId) -> {
          ids[at] = id;
          typeIds[at++] = typeId;
        }
        case Sequence(boolean isSecond, int typeId) -> {
          IntList tokens = isSecond ? second : first;
          int count = isSecond ? secondLength : firstLength;
          for (int i = 0; i < count; i++) {
            ids[at] = tokens.get(i);
            typeIds[at++] = typeId;
          }
        }
      }
    }
    boolean truncated = firstLength < first.size() || secondLength < second.size();
    return new Encoding(ids, typeIds, truncated);
  }
}
