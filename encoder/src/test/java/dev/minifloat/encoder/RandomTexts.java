package dev.minifloat.encoder;

import java.util.BitSet;
import java.util.SplittableRandom;

/** Random texts of many scripts: words, accents, ideographs, emoji, controls, special tokens. */
final class RandomTexts {
  private static final String[] WORDS = {
    "the",
    "embedding",
    "Straße",
    "naïve",
    "ÅNGSTRÖM",
    "ΣΊΣΥΦΟΣ",
    "İstanbul",
    "don't",
    "e-mail",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[PAD]",
    "[UNK]",
    "[cls]",
    "[MASK",
    "##ing",
    "unaffable",
    "한국어",
    "日本語",
    "ひらがな",
    "हिन्दी",
    "עברית",
    "مرحبا",
    "ไทย",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "ﬁne",
    "Ǆ",
    "x²",
    "½"
  };

  /** Ranges from which characters are drawn, with more weight on those that BERT treats apart. */
  private static final int[][] RANGES = {
    {0x20, 0x7E},
    {0x61, 0x7A},
    {0x00, 0x1F},
    {0x7F, 0xFF},
    {0x100, 0x24F},
    {0x250, 0x2AF},
    {0x300, 0x36F},
    {0x370, 0x3FF},
    {0x400, 0x52F},
    {0x591, 0x6FF},
    {0x900, 0x97F},
    {0xE00, 0xE7F},
    {0x1100, 0x11FF},
    {0x1E00, 0x1EFF},
    {0x2000, 0x206F},
    {0x20A0, 0x214F},
    {0x3000, 0x30FF},
    {0x3400, 0x3410},
    {0x4E00, 0x4FFF},
    {0x9FF0, 0xA000},
    {0xAC00, 0xAD00},
    {0xE000, 0xE010},
    {0xF900, 0xFAFF},
    {0xFB00, 0xFB4F},
    {0xFE00, 0xFE6F},
    {0xFF00, 0xFFEF},
    {0x10400, 0x1044F},
    {0x1D15E, 0x1D185},
    {0x1F300, 0x1F64F},
    {0x20000, 0x20010},
    {0x2B81E, 0x2B822},
    {0x2B91E, 0x2B922},
    {0x2F800, 0x2FA1F},
    {0xE0100, 0xE0110}
  };

  private final SplittableRandom random;
  private final BitSet excluded;

  RandomTexts(SplittableRandom random, BitSet excluded) {
    this.random = random;
    this.excluded = excluded;
  }

  /** Every assigned code point that can be drawn from a range. */
  static BitSet commonCodePoints() {
    BitSet set = new BitSet();
    for (int[] range : RANGES) {
      for (int c = range[0]; c <= range[1]; c++) {
        set.set(c, Character.isDefined(c));
      }
    }
    return set;
  }

  String next() {
    StringBuilder text = new StringBuilder();
    for (int parts = random.nextInt(12); parts > 0; parts--) {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> text.append(WORDS[random.nextInt(WORDS.length)]);
        case 3, 4, 5 -> fromRange(text, 1 + random.nextInt(8));
        case 6 -> anywhere(text, 1 + random.nextInt(4));
        case 7 -> accents(text, 1 + random.nextInt(5));
        case 8 -> longWord(text);
        default -> text.append("  \t\n".charAt(random.nextInt(4)));
      }
      if (random.nextInt(3) != 0) {
        text.append(' ');
      }
    }
    return text.toString();
  }

  private void fromRange(StringBuilder text, int length) {
    int[] range = RANGES[random.nextInt(RANGES.length)];
    for (int i = 0; i < length; i++) {
      append(text, random.nextInt(range[0], range[1] + 1));
    }
  }

  private void anywhere(StringBuilder text, int length) {
    for (int i = 0; i < length; i++) {
      append(text, random.nextInt(random.nextBoolean() ? 0x3000 : 0x20000));
    }
  }

  private void accents(StringBuilder text, int length) {
    text.append((char) random.nextInt('A', 'z' + 1));
    for (int i = 0; i < length; i++) {
      append(text, random.nextInt(0x300, 0x370));
    }
  }

  /** A word about as long as the limit of 100, of one, two, three or four UTF-8 bytes each. */
  private void longWord(StringBuilder text) {
    int c = new int[] {'a', 0x3C3, 0x3042, 0x10428}[random.nextInt(4)];
    for (int length = random.nextInt(97, 105); length > 0; length--) {
      text.appendCodePoint(random.nextInt(9) == 0 && c == 'a' ? 'n' : c);
    }
  }

  private void append(StringBuilder text, int c) {
    int type = Character.getType(c);
    if (type != Character.UNASSIGNED && type != Character.SURROGATE && !excluded.get(c)) {
      text.appendCodePoint(c);
    }
  }
}
