package dev.minifloat.encoder;

import java.util.List;

/**
 * Sentences to try an encoder with: of several kinds and lengths, some of them near-paraphrases of
 * each other.
 */
public final class SampleSentences {
  private static final List<String> DOZEN =
      List.of(
          "The night train to Lisbon leaves at ten past eleven from platform four.",
          "Shortly after eleven at night a sleeper departs for Lisbon from the fourth platform.",
          "Knead the dough for ten minutes, then let it rest under a damp cloth until it has"
              + " doubled in size.",
          "After kneading, cover the bread dough with a wet towel and wait until it is twice as"
              + " big.",
          "Heavy rain flooded the underpass, and two bus lines were diverted until the afternoon.",
          "Why does my laptop's fan spin up whenever I join a video call?",
          "Quarterly revenue rose by 7.5 % to $1.2 billion, while operating costs stayed flat.",
          "The defendant's appeal was dismissed because it had been lodged three days too late.",
          "In 1905 Einstein explained the photoelectric effect by assuming that light comes in"
              + " quanta of energy; the same idea, carried further, led to lasers, solar cells and"
              + " the sensors of every digital camera.",
          "Mitochondria carry DNA of their own, which is inherited almost entirely from the"
              + " mother.",
          "Don't forget to water the tomatoes!",
          "A square matrix is invertible exactly if its determinant is not zero.");

  private SampleSentences() {}

  /** Twelve English sentences, of about 10 to 50 tokens. */
  public static List<String> dozen() {
    return DOZEN;
  }
}
