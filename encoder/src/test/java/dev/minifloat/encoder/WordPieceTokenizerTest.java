package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class WordPieceTokenizerTest {
  private static WordPieceTokenizer minilm;

  @BeforeAll
  static void load() {
    minilm = ModelArchive.open(KnownModel.MINILM, Path.of("target", "models")).tokenizer();
  }

  @Test
  void textIsSurroundedByItsSpecialTokens() {
    Encoding encoding = minilm.encode("Hello, unaffable World!");
    assertArrayEquals(
        new int[] {101, 7592, 1010, 14477, 20961, 3468, 2088, 999, 102}, encoding.ids());
    assertArrayEquals(new int[9], encoding.typeIds());
    assertFalse(encoding.truncated());
  }

  @Test
  void pairGetsTypeIdsOneFromTheSecondTextOn() {
    Encoding encoding = minilm.encode("hello", "world");
    assertArrayEquals(new int[] {101, 7592, 102, 2088, 102}, encoding.ids());
    assertArrayEquals(new int[] {0, 0, 0, 1, 1}, encoding.typeIds());
  }

  @Test
  void emptyTextHasSpecialTokensOnly() {
    assertArrayEquals(new int[] {101, 102}, minilm.encode("").ids());
    assertArrayEquals(new int[] {101, 102}, minilm.encode(" \t\u0000\u200B\u3000").ids());
    assertArrayEquals(new int[] {101, 102, 102}, minilm.encode("", "").ids());
  }

  @Test
  void lengthInTheFileIsIgnoredAndDefaultIs512() {
    Encoding encoding = minilm.encode("word ".repeat(600));
    assertEquals(512, encoding.length());
    assertEquals(102, encoding.id(511));
    assertTrue(encoding.truncated());
    assertEquals(602, minilm.encode("word ".repeat(600), Integer.MAX_VALUE).length());
  }

  @Test
  void truncationKeepsTheSpecialTokens() {
    assertArrayEquals(new int[] {101, 7592, 102}, minilm.encode("hello world", 3).ids());
    assertArrayEquals(new int[] {101, 102}, minilm.encode("hello world", 2).ids());
  }

  @Test
  void maxTokensBelowTheSpecialTokensIsRefused() {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> minilm.encode("hello", 1));
    assertTrue(e.getMessage().startsWith("maxTokens: 1 "), e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> minilm.encode("a", "b", 2));
    assertThrows(IllegalArgumentException.class, () -> minilm.encode("a", -1));
  }

  @Test
  void wordLimitCountsCodePoints() {
    // U+10428 is two chars and four bytes; the vocabulary lacks it, so only length decides.
    TokenizerJson file = new TokenizerJson().token("\uD801\uDC28").token("##\uD801\uDC28");
    WordPieceTokenizer tokenizer = WordPieceTokenizer.parse(file.bytes(), "test");
    assertEquals(102, tokenizer.encode("\uD801\uDC28".repeat(100)).length());
    assertArrayEquals(new int[] {1, 0, 2}, tokenizer.encode("\uD801\uDC28".repeat(101)).ids());
  }

  @Test
  void wordWithOneUnknownPieceIsUnknownAsAWhole() {
    WordPieceTokenizer tokenizer =
        WordPieceTokenizer.parse(new TokenizerJson().token("a").token("##b").bytes(), "test");
    assertArrayEquals(new int[] {1, 3, 4, 4, 0, 2}, tokenizer.encode("abb abc").ids());
  }

  @Test
  void unpairedSurrogatesCountAsReplacementCharacters() {
    assertEquals(minilm.encode("a\uFFFDb"), minilm.encode("a\uD800b"));
    assertEquals(minilm.encode("a\uFFFD\uFFFD"), minilm.encode("a\uDC00\uD800"));
    WordPieceTokenizer keeping =
        WordPieceTokenizer.parse(
            new TokenizerJson().normalizer(false, true, null, true).token("\uFFFD").bytes(),
            "test");
    assertArrayEquals(new int[] {1, 3, 2}, keeping.encode("\uDFFF").ids());
  }

  @Test
  void lowercaseOfFinalSigmaHasNoContext() {
    TokenizerJson file = new TokenizerJson().token("σ").token("##ς").token("##σ").token("##α");
    assertArrayEquals(
        new int[] {1, 3, 6, 5, 2},
        WordPieceTokenizer.parse(file.bytes(), "test").encode("ΣΑΣ").ids());
  }

  @Test
  void longRunsOfMarksAreLinearAndDropped() {
    // In canonical order every second mark moves before all earlier others: quadratic if sorted.
    String marks = "\u0315\u0316".repeat(500_000);
    assertEquals(minilm.encode("ab"), minilm.encode("a" + marks + "b"));
  }

  @Test
  void accentsAreStrippedAcrossThePiecesOfALongText() {
    String text = "e\u0301 Ünïcödé ".repeat(400);
    assertArrayEquals(
        minilm.encode("e unicode ".repeat(400), 10_000).ids(), minilm.encode(text, 10_000).ids());
  }

  @Test
  void tokensAndIdsAreFoundFromEachOther() {
    assertEquals(30522, minilm.vocabularySize());
    assertEquals(30521, minilm.maxId());
    for (int id = 0; id <= minilm.maxId(); id++) {
      assertEquals(OptionalInt.of(id), minilm.id(minilm.token(id)));
    }
    assertEquals("[CLS]", minilm.token(101));
    assertEquals("##ing", minilm.token(minilm.id("##ing").orElseThrow()));
    assertEquals(OptionalInt.empty(), minilm.id("no such token"));
    assertEquals(OptionalInt.empty(), minilm.id(""));
    assertThrows(IllegalArgumentException.class, () -> minilm.token(30522));
    assertThrows(IllegalArgumentException.class, () -> minilm.token(-1));
  }

  @Test
  void idsMayComeInAnyOrderAndWithGaps() {
    String json =
        new TokenizerJson().toString().replace("\"[SEP]\":2", "\"[SEP]\":2,\"z\":900,\"y\":7");
    WordPieceTokenizer tokenizer = WordPieceTokenizer.parse(json.getBytes(UTF_8), "test");
    assertArrayEquals(new int[] {1, 7, 900, 2}, tokenizer.encode("y z").ids());
    assertEquals("z", tokenizer.token(900));
    assertEquals("y", tokenizer.token(7));
    assertEquals(900, tokenizer.maxId());
    assertEquals(5, tokenizer.vocabularySize());
    assertThrows(IllegalArgumentException.class, () -> tokenizer.token(8));
  }

  @Test
  void addedTokensOutsideTheVocabularyHaveIdsToo() {
    WordPieceTokenizer tokenizer =
        WordPieceTokenizer.parse(new TokenizerJson().added(40, "<e>", "").bytes(), "test");
    assertArrayEquals(new int[] {1, 0, 40, 0, 2}, tokenizer.encode("a<e>b").ids());
    assertEquals("<e>", tokenizer.token(40));
    assertEquals(OptionalInt.of(40), tokenizer.id("<e>"));
    assertEquals(40, tokenizer.maxId());
    assertEquals(4, tokenizer.vocabularySize());
  }

  @Test
  void templateIsFollowedAsWritten() {
    String processor =
        """
        {"type":"TemplateProcessing",
         "single":[{"Sequence":{"id":"A","type_id":3}},{"SpecialToken":{"id":"end","type_id":4}}],
         "pair":[{"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"end","type_id":2}},
                 {"Sequence":{"id":"A","type_id":0}}],
         "special_tokens":{"end":{"id":"end","ids":[2,1],"tokens":["[SEP]","[CLS]"]}}}""";
    TokenizerJson file = new TokenizerJson().postProcessor(processor).token("a").token("b");
    WordPieceTokenizer tokenizer = WordPieceTokenizer.parse(file.bytes(), "test");
    Encoding single = tokenizer.encode("a");
    assertArrayEquals(new int[] {3, 2, 1}, single.ids());
    assertArrayEquals(new int[] {3, 4, 4}, single.typeIds());
    Encoding pair = tokenizer.encode("a a", "b", 4);
    assertArrayEquals(new int[] {4, 2, 1, 3}, pair.ids());
    assertArrayEquals(new int[] {1, 2, 2, 0}, pair.typeIds());
    assertTrue(pair.truncated());
  }

  @Test
  void arraysOfAnEncodingAreCopies() {
    Encoding encoding = minilm.encode("hello");
    encoding.ids()[0] = 7;
    encoding.typeIds()[0] = 7;
    assertEquals(minilm.encode("hello"), encoding);
    assertEquals(101, encoding.id(0));
    assertEquals(0, encoding.typeId(0));
  }

  @Test
  void manyThreadsGetTheSameTokens() throws InterruptedException, ExecutionException {
    Encoding expected = minilm.encode("Naïve tokens, 中文 and [MASK]");
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      var results =
          IntStream.range(0, 200)
              .mapToObj(_ -> executor.submit(() -> minilm.encode("Naïve tokens, 中文 and [MASK]")))
              .toList();
      for (var result : results) {
        assertEquals(expected, result.get());
      }
    }
  }

  @Test
  void otherModelsLoad() {
    WordPieceTokenizer bge =
        ModelArchive.open(KnownModel.BGE_SMALL, Path.of("target", "models")).tokenizer();
    assertEquals(minilm.encode("The same vocabulary."), bge.encode("The same vocabulary."));
  }
}
