package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.minifloat.MinifloatException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is refused, and that the message names the file, the place and the fault. */
class TokenizerFileTest {
  private static final String VALID =
      new TokenizerJson().token("a").added(1, "[CLS]", "s").added(9, "<e>", "n").toString();

  private static final String TEMPLATE =
      new TokenizerJson()
          .postProcessor(
              """
              {"type":"TemplateProcessing",\
              "single":[{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}],\
              "pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],\
              "special_tokens":{"[SEP]":{"id":"[SEP]","ids":[2],"tokens":["[SEP]"]}}}""")
          .toString();

  @Test
  void textsThatTheCasesChangeAreThemselvesValid() {
    WordPieceTokenizer.parse(VALID.getBytes(UTF_8), "valid");
    WordPieceTokenizer.parse(TEMPLATE.getBytes(UTF_8), "template");
  }

  /** The text to replace, its replacement, the pointer of the message and a part of the message. */
  static Stream<Arguments> changes() {
    return Stream.of(
        arguments("\"version\":\"1.0\"", "\"version\":\"2.0\"", "/version", "\"1.0\""),
        arguments("\"version\"", "\"versions\"", "/versions", "not known"),
        arguments("\"type\":\"WordPiece\"", "\"type\":\"BPE\"", "/model/type", "\"BPE\""),
        arguments("\"type\":\"WordPiece\",", "", "/model", "\"type\" is missing"),
        arguments("\"unk_token\":\"[UNK]\",", "", "/model", "\"unk_token\" is missing"),
        arguments("\"continuing_subword_prefix\":\"##\",", "", "/model", "is missing"),
        arguments("\"max_input_chars_per_word\":100,", "", "/model", "is missing"),
        arguments("word\":100", "word\":0", "/model/max_input_chars_per_word", "0 is outside 1"),
        arguments("word\":100", "word\":10001", "/model/max_input_chars_per_word", "outside 1"),
        arguments("word\":100", "word\":1e2", "/model/max_input_chars_per_word", "a fraction"),
        arguments("\"unk_token\":\"[UNK]\"", "\"unk_token\":\"?\"", "/model/unk_token", "lacks"),
        arguments("\"a\":3", "\"a\":2", "/model/vocab/a", "2 is given to two tokens"),
        arguments("\"a\":3", "\"a\":-1", "/model/vocab/a", "-1 is outside"),
        arguments("\"a\":3", "\"a\":16777216", "/model/vocab/a", "16777216 is outside"),
        arguments("\"a\":3", "\"a\":18446744073709551616", "/model/vocab/a", "out of range"),
        arguments("\"a\":3", "\"a\":3.0", "/model/vocab/a", "a fraction"),
        arguments("\"a\":3", "\"a\":\"3\"", "/model/vocab/a", "a string"),
        arguments("\"a\":3", "\"a\":null", "/model/vocab/a", "null"),
        arguments("\"a\":3", "\"a\":{\"b\":3}", "/model/vocab/a", "an object"),
        arguments("\"a\":3", "\"a\":3,\"a\":4", "/model/vocab/a", "appears twice"),
        arguments("\"a\":3", "\"\\ud800\":3", "", "urrogate"),
        arguments("\"a\":3", "\"\\udc00x\":3", "", "urrogate"),
        arguments("\"a\":3", "\"\\ud800\\ud800\":3", "", "urrogate"),
        arguments("\"##\"", "\"\\ud800\"", "", "urrogate"),
        arguments("\"##\"", "\"\\udfffx\"", "", "urrogate"),
        arguments("\"vocab\":{", "\"vocab\":[{", "/model/vocab", "an object is expected"),
        arguments("\"unk_token\"", "\"dropout\":null,\"unk_token\"", "/model/dropout", "not known"),
        arguments(
            "\"model\":", "\"model\":null,\"model\":", "/model", "\"WordPiece\" is supported"),
        arguments(
            "\"id\":1,\"content\"", "\"id\":2,\"content\"", "/added_tokens/0", "2 here and 1"),
        arguments("\"id\":9,\"content\"", "\"id\":3,\"content\"", "/added_tokens/1", "to \"a\""),
        arguments("\"id\":9,\"content\"", "\"id\":1,\"content\"", "/added_tokens/1", "two added"),
        arguments("\"id\":9,\"content\"", "\"id\":-9,\"content\"", "/added_tokens/1/id", "-9"),
        arguments("\"content\":\"<e>\"", "\"content\":\"\"", "/added_tokens/1", "empty"),
        arguments("\"content\":\"<e>\"", "\"content\":\"\\u0301\"", "/added_tokens/1", "nothing"),
        arguments("\"content\":\"<e>\"", "\"content\":7", "/added_tokens/1/content", "an integer"),
        arguments("\"lstrip\":false", "\"lstrip\":0", "/added_tokens/0/lstrip", "true or false"),
        arguments("\"rstrip\":false,", "", "/added_tokens/0", "\"rstrip\" is missing"),
        arguments("\"single_word\"", "\"word\"", "/added_tokens/0/word", "not known"),
        arguments("\"added_tokens\":[", "\"added_tokens\":[[],", "/added_tokens/0", "an array"),
        arguments("\"BertNormalizer\"", "\"NFC\"", "/normalizer/type", "\"NFC\""),
        arguments("\"type\":\"BertNormalizer\",", "", "/normalizer", "\"type\" is missing"),
        arguments("\"clean_text\":true,", "", "/normalizer", "\"clean_text\" is missing"),
        arguments("\"strip_accents\":null", "\"strip_accents\":\"\"", "/normalizer", "a string"),
        arguments("\"lowercase\":true", "\"lowercase\":null", "/normalizer/lowercase", "null"),
        arguments("\"normalizer\":", "\"normalizer\":null,\"x\":", "/normalizer", "this is null"),
        arguments("\"BertPreTokenizer\"", "\"Whitespace\"", "/pre_tokenizer/type", "Whitespace"),
        arguments("{\"type\":\"BertPreTokenizer\"}", "{}", "/pre_tokenizer", "is missing"),
        arguments("{\"type\":\"BertPreTokenizer\"}", "null", "/pre_tokenizer", "this is null"),
        arguments(
            "{\"type\":\"BertPreTokenizer\"}",
            "{\"type\":\"BertPreTokenizer\",\"x\":1}",
            "/pre_tokenizer/x",
            "not known"),
        arguments("\"BertProcessing\"", "\"RobertaProcessing\"", "/post_processor/type", "Roberta"),
        arguments("\"type\":\"BertProcessing\",", "", "/post_processor", "\"type\" is missing"),
        arguments("[\"[SEP]\",2]", "[\"[SEP]\",1]", "/post_processor/sep", "the id 1 here and 2"),
        arguments("[\"[SEP]\",2]", "[\"?\",2]", "/post_processor/sep", "none in the vocabulary"),
        arguments("[\"[SEP]\",2]", "[\"[SEP]\"]", "/post_processor/sep", "are expected"),
        arguments("[\"[SEP]\",2]", "[\"[SEP]\",2,3]", "/post_processor/sep/2", "no more"),
        arguments("[\"[SEP]\",2]", "[2,\"[SEP]\"]", "/post_processor/sep/0", "a string is"),
        arguments("\"sep\":[\"[SEP]\",2],", "", "/post_processor", "\"sep\" is missing"),
        arguments("\"sep\":", "\"single\":[],\"sep\":", "/post_processor", "\"single\" is not one"),
        arguments("\"decoder\":null", "\"decoder\":{\"a\":1,\"a\":2}", "/decoder/a", "twice"),
        arguments("\"truncation\":null", "\"truncation\":{\"a\":01}", "", "well-formed"),
        arguments("\"truncation\":null,", "\"truncation\":NaN,", "", "well-formed"),
        arguments("\"padding\":null,", "\"padding\":null,,", "", "well-formed"),
        arguments("\"padding\":null", "'padding':null", "", "well-formed"),
        arguments("\"padding\":null", "/**/\"padding\":null", "", "well-formed"),
        arguments("\"decoder\":null", "\"decoder\":" + "[".repeat(100), "", "depth"),
        arguments("\"a\":3", "\"" + "a".repeat(70_000) + "\":3", "", "length"));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void changedFileIsRefused(String from, String to, String pointer, String part) {
    assertRefused(replaced(VALID, from, to), pointer, part);
  }

  static Stream<Arguments> templateChanges() {
    return Stream.of(
        arguments(
            "\"id\":\"A\",\"type_id\":0}},{\"Sp",
            "\"id\":\"B\",\"type_id\":0}},{\"Sp",
            "/post_processor/single",
            "once"),
        arguments("\"id\":\"B\"", "\"id\":\"A\"", "/post_processor/pair", "once each"),
        arguments("\"id\":\"B\"", "\"id\":\"C\"", "/post_processor/pair/1/Sequence", "A or B"),
        arguments(
            "\"type_id\":1", "\"type_id\":-1", "/post_processor/pair/1/Sequence/type_id", "-1"),
        arguments(",\"type_id\":1", "", "/post_processor/pair/1/Sequence", "is missing"),
        arguments(
            "{\"id\":\"B\",\"type_id\":1}", "{\"type_id\":1}", "/post_processor/pair/1", "\"id\""),
        arguments(
            "{\"id\":\"[SEP]\",\"type_id\"",
            "{\"id\":\"x\",\"type_id\"",
            "/post_processor/single/1",
            "lacks \"x\""),
        arguments("\"ids\":[2]", "\"ids\":[1]", "/post_processor/single/1", "1 here and 2"),
        arguments("\"ids\":[2]", "\"ids\":[]", "/post_processor/special_tokens/[SEP]", "0 ids"),
        arguments("\"ids\":[2]", "\"ids\":[2,2]", "/post_processor/special_tokens/[SEP]", "2 ids"),
        arguments(
            "\"ids\":[2]", "\"ids\":[" + "2,".repeat(64) + "2]", "/special_tokens", "more than 64"),
        arguments(
            "\"tokens\":[\"[SEP]\"]",
            "\"tokens\":[2]",
            "/special_tokens/[SEP]/tokens/0",
            "a string"),
        arguments(
            "{\"[SEP]\":{\"id\":\"[SEP]\"",
            "{\"[SEP]\":{\"id\":\"x\"",
            "/special_tokens/[SEP]",
            "repeat"),
        arguments("\"single\":[", "\"single\":[{},", "/post_processor/single/0", "empty"),
        arguments("\"single\":[", "\"single\":[{\"Text\":1},", "/single/0/Text", "not known"),
        arguments(
            "\"single\":[{",
            "\"single\":[{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":0},",
            "/single/0/Sequence",
            "one thing"),
        arguments(
            "\"single\":[",
            "\"single\":[" + "{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":0}},".repeat(64),
            "/single/",
            "more than 64"),
        arguments(
            ",\"special_tokens\":{\"[SEP]\":{\"id\":\"[SEP]\",\"ids\":[2],\"tokens\":[\"[SEP]\"]}}",
            "",
            "/post_processor",
            "is missing"));
  }

  @ParameterizedTest
  @MethodSource("templateChanges")
  void changedTemplateIsRefused(String from, String to, String pointer, String part) {
    assertRefused(replaced(TEMPLATE, from, to), pointer, part);
  }

  @Test
  void everyPrefixIsRefused() {
    for (int length = 0; length < VALID.length(); length++) {
      assertRefused(VALID.substring(0, length), "", "x.json");
    }
  }

  @Test
  void whatFollowsTheTextIsRefused() {
    assertRefused(VALID + " {}", "", "follows");
    assertRefused(VALID + "]", "", "well-formed");
  }

  @Test
  void everyMissingPartIsNamed() {
    for (String part : new String[] {"normalizer", "pre_tokenizer", "post_processor", "model"}) {
      // The part goes where anything is ignored.
      assertRefused(
          VALID.replace("\"decoder\":null,", "").replace("\"" + part + "\":", "\"decoder\":"),
          "the top",
          "\"" + part + "\" is missing");
    }
  }

  @Test
  void illFormedUtf8IsRefused() {
    byte[][] sequences = {
      {(byte) 0x80},
      {(byte) 0xC0, (byte) 0x80},
      {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
      {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
      {(byte) 0xFF},
      {(byte) 0xE2, (byte) 0x82}
    };
    for (byte[] sequence : sequences) {
      byte[] json = VALID.getBytes(UTF_8);
      int at = VALID.indexOf("\"a\":3") + 1;
      byte[] damaged = new byte[json.length + sequence.length - 1];
      System.arraycopy(json, 0, damaged, 0, at);
      System.arraycopy(sequence, 0, damaged, at, sequence.length);
      System.arraycopy(json, at + 1, damaged, at + sequence.length, json.length - at - 1);
      assertMessage(
          assertThrows(MinifloatException.class, () -> WordPieceTokenizer.parse(damaged, "x.json")),
          "x.json",
          "UTF-8");
    }
  }

  @Test
  void longTokensAreShortenedInMessages() {
    String token = "b".repeat(10_000);
    MinifloatException e =
        assertThrows(
            MinifloatException.class,
            () ->
                WordPieceTokenizer.parse(
                    replaced(VALID, "\"a\":3", "\"" + token + "\":-1").getBytes(UTF_8), "x.json"));
    assertTrue(e.getMessage().length() < 400, e.getMessage());
  }

  @Test
  void missingFileIsNamed(@TempDir Path folder) {
    Path file = folder.resolve("tokenizer.json");
    assertMessage(
        assertThrows(MinifloatException.class, () -> WordPieceTokenizer.load(file)),
        file.toString());
    assertMessage(
        assertThrows(MinifloatException.class, () -> WordPieceTokenizer.load(folder)),
        folder.toString());
  }

  private static String replaced(String json, String from, String to) {
    assertTrue(json.contains(from), () -> "the test's text lacks " + from);
    int at = json.indexOf(from);
    return json.substring(0, at) + to + json.substring(at + from.length());
  }

  private static void assertRefused(String json, String pointer, String part) {
    assertMessage(
        assertThrows(
            MinifloatException.class,
            () -> WordPieceTokenizer.parse(json.getBytes(UTF_8), "x.json")),
        "x.json",
        pointer,
        part);
  }

  private static void assertMessage(Exception e, String... parts) {
    for (String part : parts) {
      assertTrue(e.getMessage().contains(part), () -> "lacks \"" + part + "\": " + e.getMessage());
    }
  }
}
