package dev.minifloat.encoder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Texts that are computed together, padded to the longest of them. Padding is id 0 and never
 * counts: attention and pooling stop at each text's length.
 */
final class TokenBatch {
  private final int[] members;
  private final int[] lengths;
  private final int tokens;
  private final int[] ids;
  private final int[] typeIds;

  private TokenBatch(int[] members, int[] lengths, int tokens, int[] ids, int[] typeIds) {
    this.members = members;
    this.lengths = lengths;
    this.tokens = tokens;
    this.ids = ids;
    this.typeIds = typeIds;
  }

  /** Number of texts. */
  int texts() {
    return members.length;
  }

  /** Tokens of the longest text. */
  int tokens() {
    return tokens;
  }

  /** Which of the caller's texts the one at {@code index} is. */
  int member(int index) {
    return members[index];
  }

  /** Tokens of each text. */
  int[] lengths() {
    return lengths;
  }

  /** Row-major [texts, tokens]. */
  int[] ids() {
    return ids;
  }

  /** Row-major [texts, tokens]. */
  int[] typeIds() {
    return typeIds;
  }

  /** Each token's place in its text, row-major [texts, tokens]. */
  int[] positions() {
    return IntStream.range(0, ids.length).map(i -> i % tokens).toArray();
  }

  /**
   * Batches of texts of similar lengths.
   *
   * @param limit tokens of a batch, padding included, unless a single text has more
   */
  static List<TokenBatch> of(List<int[]> ids, List<int[]> typeIds, int limit) {
    int[] order =
        IntStream.range(0, ids.size())
            .boxed()
            .sorted(Comparator.comparingInt(i -> ids.get(i).length))
            .mapToInt(Integer::intValue)
            .toArray();
    List<TokenBatch> batches = new ArrayList<>();
    int from = 0;
    while (from < order.length) {
      int to = from + 1;
      // Texts come by length, so the latest is the longest.
      while (to < order.length && (to + 1L - from) * ids.get(order[to]).length <= limit) {
        to++;
      }
      batches.add(padded(ids, typeIds, Arrays.copyOfRange(order, from, to)));
      from = to;
    }
    return batches;
  }

  private static TokenBatch padded(List<int[]> ids, List<int[]> typeIds, int[] members) {
    int[] lengths = Arrays.stream(members).map(i -> ids.get(i).length).toArray();
    int tokens = Arrays.stream(lengths).max().orElseThrow();
    int[] padded = new int[members.length * tokens];
    int[] paddedTypes = new int[padded.length];
    for (int i = 0; i < members.length; i++) {
      System.arraycopy(ids.get(members[i]), 0, padded, i * tokens, lengths[i]);
      System.arraycopy(typeIds.get(members[i]), 0, paddedTypes, i * tokens, lengths[i]);
    }
    return new TokenBatch(members, lengths, tokens, padded, paddedTypes);
  }
}
