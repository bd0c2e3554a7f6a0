package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Token by token against the Rust tokenizer, on every assigned code point and on random texts. */
class TokenizerOracleTest {
  private static final Path MODELS = Path.of("target", "models");

  private static byte[] json;
  private static WordPieceTokenizer minilm;
  private static Oracle oracle;
  private static UnicodeDifferences differences;

  @BeforeAll
  static void load() throws IOException {
    Path file = ModelArchive.open(KnownModel.MINILM, MODELS).tokenizerFile();
    json = Files.readAllBytes(file);
    minilm = WordPieceTokenizer.load(file);
    oracle = Oracle.of(json);
    differences = UnicodeDifferences.load();
  }

  @AfterAll
  static void close() {
    oracle.close();
  }

  @Test
  void everyAssignedCodePointAloneAndBetweenLetters() {
    BitSet found = differing(minilm, oracle, List.of(UnaryOperator.identity(), c -> "a" + c + "b"));
    assertListed(differences.minilm(), found);
  }

  @Test
  void everyAssignedCodePointWhereEachIsATokenOfItsOwn() {
    TokenizerJson all = new TokenizerJson();
    assignedCodePoints().stream()
        .mapToObj(Character::toString)
        .forEach(c -> all.token(c).token("##" + c));
    try (Oracle characters = Oracle.of(all.bytes())) {
      WordPieceTokenizer ours = WordPieceTokenizer.parse(all.bytes(), "all characters");
      assertListed(
          differences.characters(), differing(ours, characters, List.of(c -> "a" + c + "b")));
    }
  }

  @Test
  void everyAssignedCodePointBesideATokenThatMustStandAlone() {
    byte[] file = new TokenizerJson().token("x").token("##x").added(5, "<e>", "wlr").bytes();
    try (Oracle theirs = Oracle.of(file)) {
      WordPieceTokenizer ours = WordPieceTokenizer.parse(file, "single word");
      assertListed(
          differences.minilm(),
          differing(ours, theirs, List.of(c -> "x" + c + "<e>x", c -> "x <e>" + c)));
    }
  }

  @Test
  void unassignedCodePointsAreKept() {
    for (int c : new int[] {0x378, 0xFDD0, 0xFFFF, 0x8FFFF, 0x10FFFF}) {
      assertSame(minilm, oracle, "a" + Character.toString(c) + "b");
    }
  }

  @Test
  void twentyThousandRandomTexts() {
    RandomTexts texts = new RandomTexts(new SplittableRandom(20_251), differences.characters());
    for (int i = 0; i < 20_000; i++) {
      assertSame(minilm, oracle, texts.next());
    }
  }

  @Test
  void randomTextsUnderEveryNormalizerSetting() {
    BitSet characters = RandomTexts.commonCodePoints();
    TokenizerJson file = new TokenizerJson();
    characters.stream().mapToObj(Character::toString).forEach(c -> file.token(c).token("##" + c));
    for (int flags = 0; flags < 24; flags++) {
      Boolean strip = flags / 8 == 0 ? null : (Boolean) (flags / 8 == 1);
      byte[] bytes =
          file.normalizer((flags & 1) != 0, (flags & 2) != 0, strip, (flags & 4) != 0).bytes();
      RandomTexts texts = new RandomTexts(new SplittableRandom(flags), differences.characters());
      WordPieceTokenizer ours = WordPieceTokenizer.parse(bytes, "flags " + flags);
      try (Oracle theirs = Oracle.of(bytes)) {
        for (int i = 0; i < 200; i++) {
          assertSame(ours, theirs, texts.next());
        }
      }
    }
  }

  @Test
  void addedTokensWithEveryCombinationOfFlags() {
    String[] pieces = {
      "my", "MY", "my name", "name", "Nâme", "ny", "[X]", " ", "  ", "\t", "\u2003", "a", "é", "-",
      "[CLS]", "[X", "]", "中", "\u0301", "1", "\u200B", "_", "<e>", "<ee>"
    };
    SplittableRandom random = new SplittableRandom(7);
    for (int flags = 0; flags < 32; flags++) {
      String set =
          ((flags & 1) != 0 ? "w" : "")
              + ((flags & 2) != 0 ? "l" : "")
              + ((flags & 4) != 0 ? "r" : "")
              + ((flags & 8) != 0 ? "n" : "")
              + ((flags & 16) != 0 ? "s" : "");
      TokenizerJson file = new TokenizerJson().token("my");
      for (String token : List.of("a", "##a", "na", "##me", "-", "1", "e", "中", "[", "]")) {
        file.token(token);
      }
      // The oracle numbers the tokens that the vocabulary lacks in the order of the file.
      int id = file.nextId();
      file.added(1, "[CLS]", "s").added(3, "my", "n").added(id, "my name", set);
      file.added(id + 1, "Name", set).added(id + 2, "[X]", set).added(id + 3, "<e>", set);
      byte[] bytes = file.bytes();
      WordPieceTokenizer ours = WordPieceTokenizer.parse(bytes, "flags " + set);
      try (Oracle theirs = Oracle.of(bytes)) {
        for (int i = 0; i < 400; i++) {
          StringBuilder text = new StringBuilder();
          for (int k = random.nextInt(12); k >= 0; k--) {
            text.append(pieces[random.nextInt(pieces.length)]);
          }
          assertSame(ours, theirs, text.toString());
        }
      }
    }
  }

  @Test
  void pairsAndTruncation() {
    RandomTexts texts = new RandomTexts(new SplittableRandom(3), differences.characters());
    for (int max : new int[] {4, 5, 6, 7, 8, 13, 64, 512}) {
      try (Oracle theirs = Oracle.truncating(json, max)) {
        for (int i = 0; i < 200; i++) {
          String a = texts.next();
          String b = texts.next();
          assertEquals(theirs.encode(a), minilm.encode(a, max), () -> max + " of " + shown(a));
          assertEquals(
              theirs.encode(a, b),
              minilm.encode(a, b, max),
              () -> max + " of " + shown(a) + " and " + shown(b));
        }
      }
    }
  }

  /** All that Unicode assigns and the private use of the BMP, and some of the other private use. */
  private static BitSet assignedCodePoints() {
    BitSet set = new BitSet();
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      int type = Character.getType(c);
      boolean skipped =
          type == Character.UNASSIGNED
              || type == Character.SURROGATE
              || (type == Character.PRIVATE_USE && c > 0xFFFF && c % 64 != 0 && c % 65536 < 65532);
      set.set(c, !skipped);
    }
    return set;
  }

  private static BitSet differing(
      WordPieceTokenizer ours, Oracle theirs, List<UnaryOperator<String>> forms) {
    BitSet differing = new BitSet();
    assignedCodePoints().stream()
        .filter(
            c ->
                forms.stream()
                    .map(form -> form.apply(Character.toString(c)))
                    .anyMatch(text -> !Arrays.equals(theirs.ids(text), ours.encode(text).ids())))
        .forEach(differing::set);
    return differing;
  }

  private static void assertListed(BitSet listed, BitSet found) {
    BitSet unlisted = (BitSet) found.clone();
    unlisted.andNot(listed);
    BitSet agreeing = (BitSet) listed.clone();
    agreeing.andNot(found);
    if (!unlisted.isEmpty() || !agreeing.isEmpty()) {
      fail(
          "differ and are not listed: "
              + UnicodeDifferences.ranges(unlisted)
              + "\nare listed and don't differ: "
              + UnicodeDifferences.ranges(agreeing));
    }
  }

  private static void assertSame(WordPieceTokenizer ours, Oracle theirs, String text) {
    int[] expected = theirs.ids(text);
    int[] actual = ours.encode(text, Integer.MAX_VALUE).ids();
    if (!Arrays.equals(expected, actual)) {
      fail(
          shown(text)
              + "\nis    "
              + Arrays.stream(actual).mapToObj(ours::token).collect(Collectors.joining(" "))
              + "\nnot   "
              + Arrays.stream(expected).mapToObj(ours::token).collect(Collectors.joining(" ")));
    }
  }

  private static String shown(String text) {
    return text.codePoints()
        .mapToObj(c -> c >= ' ' && c < 0x7F ? Character.toString(c) : "<%X>".formatted(c))
        .collect(Collectors.joining());
  }
}
