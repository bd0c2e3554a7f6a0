package dev.minifloat.encoder;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The {@code post_processor} of a tokenizer file: a TemplateProcessing, which spells its templates
 * out, or a BertProcessing, which names two tokens. What it says about token ids is compared with
 * the vocabulary when a template is asked for.
 */
final class PostProcessor {
  private static final int MAX_PIECES = 64;
  private static final String TEMPLATE = "TemplateProcessing";
  private static final String BERT = "BertProcessing";

  /** The id of a token, or −1. */
  interface Names {
    int id(String token);
  }

  /** A piece as the file has it: a sequence (A or B) or the name of special tokens. */
  private record RawPiece(boolean sequence, String id, int typeId) {}

  /** Tokens and the ids that the file gives them. */
  private record RawSpecial(List<String> tokens, IntList ids) {}

  private String type;
  private List<RawPiece> single;
  private List<RawPiece> pair;
  private Map<String, RawSpecial> specials;
  private RawSpecial cls;
  private RawSpecial sep;

  private PostProcessor() {}

  /** Reads the object that the cursor is on. */
  static PostProcessor read(JsonCursor json) {
    PostProcessor result = new PostProcessor();
    if (json.isNull()) {
      throw json.error("only " + TEMPLATE + " and " + BERT + " are supported, this is null");
    }
    json.object(
        name -> {
          switch (name) {
            case "type" -> result.type = type(json);
            case "single" -> result.single = pieces(json);
            case "pair" -> result.pair = pieces(json);
            case "special_tokens" -> result.specials = specials(json);
            case "cls" -> result.cls = named(json);
            case "sep" -> result.sep = named(json);
            default -> throw json.unknownField();
          }
        });
    result.checkComplete(json);
    return result;
  }

  /** The template of a single text. */
  Template single(JsonCursor json, Names names) {
    if (type.equals(BERT)) {
      return Template.bertSingle(bertId(json, names, "cls", cls), bertId(json, names, "sep", sep));
    }
    return template(json, names, "/post_processor/single", single, false);
  }

  /** The template of a pair of texts. */
  Template pair(JsonCursor json, Names names) {
    if (type.equals(BERT)) {
      return Template.bertPair(bertId(json, names, "cls", cls), bertId(json, names, "sep", sep));
    }
    return template(json, names, "/post_processor/pair", pair, true);
  }

  private static String type(JsonCursor json) {
    String type = json.string();
    if (!type.equals(TEMPLATE) && !type.equals(BERT)) {
      throw json.error(
          "only \""
              + TEMPLATE
              + "\" and \""
              + BERT
              + "\" are supported, this is \""
              + JsonCursor.shortened(type)
              + "\"");
    }
    return type;
  }

  private static List<RawPiece> pieces(JsonCursor json) {
    List<RawPiece> pieces = new ArrayList<>();
    json.array(
        () -> {
          limit(json, pieces.size());
          int before = pieces.size();
          json.object(
              kind -> {
                if (pieces.size() > before) {
                  throw json.error("one piece of a template is one thing");
                }
                switch (kind) {
                  case "Sequence" -> pieces.add(piece(json, true));
                  case "SpecialToken" -> pieces.add(piece(json, false));
                  default -> throw json.unknownField();
                }
              });
          if (pieces.size() == before) {
            throw json.error("a piece of a template is empty");
          }
        });
    return pieces;
  }

  private static RawPiece piece(JsonCursor json, boolean sequence) {
    String[] id = new String[1];
    int[] typeId = {-1};
    json.object(
        name -> {
          switch (name) {
            case "id" -> id[0] = json.string();
            case "type_id" -> typeId[0] = json.integer(0, Vocabulary.ID_LIMIT - 1);
            default -> throw json.unknownField();
          }
        });
    if (id[0] == null) {
      throw TokenizerFile.missing(json, "id");
    }
    if (typeId[0] < 0) {
      throw TokenizerFile.missing(json, "type_id");
    }
    if (sequence && !id[0].equals("A") && !id[0].equals("B")) {
      throw json.error("a sequence is A or B, not \"" + JsonCursor.shortened(id[0]) + "\"");
    }
    return new RawPiece(sequence, id[0], typeId[0]);
  }

  private static Map<String, RawSpecial> specials(JsonCursor json) {
    Map<String, RawSpecial> specials = new HashMap<>();
    json.object(name -> specials.put(name, special(json, name)));
    return specials;
  }

  private static RawSpecial special(JsonCursor json, String key) {
    String[] id = new String[1];
    IntList ids = new IntList();
    List<String> tokens = new ArrayList<>();
    json.object(
        name -> {
          switch (name) {
            case "id" -> id[0] = json.string();
            case "ids" ->
                json.array(
                    () -> {
                      limit(json, ids.size());
                      ids.add(json.integer(0, Vocabulary.ID_LIMIT - 1));
                    });
            case "tokens" ->
                json.array(
                    () -> {
                      limit(json, tokens.size());
                      tokens.add(json.string());
                    });
            default -> throw json.unknownField();
          }
        });
    if (!key.equals(id[0])) {
      throw json.error("the field \"id\" does not repeat this name");
    }
    if (ids.size() == 0 || ids.size() != tokens.size()) {
      throw json.error(
          "there are " + ids.size() + " ids and " + tokens.size() + " tokens, not as many of each");
    }
    return new RawSpecial(tokens, ids);
  }

  /** A pair such as {@code ["[SEP]", 102]}. */
  private static RawSpecial named(JsonCursor json) {
    IntList ids = new IntList();
    List<String> tokens = new ArrayList<>();
    json.array(
        () -> {
          if (tokens.isEmpty()) {
            tokens.add(json.string());
          } else if (ids.size() == 0) {
            ids.add(json.integer(0, Vocabulary.ID_LIMIT - 1));
          } else {
            throw json.error("a token and its id are expected, and no more");
          }
        });
    if (ids.size() == 0) {
      throw json.error("a token and its id are expected");
    }
    return new RawSpecial(tokens, ids);
  }

  private void checkComplete(JsonCursor json) {
    if (type == null) {
      throw TokenizerFile.missing(json, "type");
    }
    boolean bert = type.equals(BERT);
    check(json, "cls", cls != null, bert);
    check(json, "sep", sep != null, bert);
    check(json, "single", single != null, !bert);
    check(json, "pair", pair != null, !bert);
    check(json, "special_tokens", specials != null, !bert);
  }

  private void check(JsonCursor json, String field, boolean present, boolean wanted) {
    if (present && !wanted) {
      throw json.error("the field \"" + field + "\" is not one of " + type);
    }
    if (wanted && !present) {
      throw TokenizerFile.missing(json, field);
    }
  }

  private Template template(
      JsonCursor json, Names names, String pointer, List<RawPiece> raw, boolean isPair) {
    List<Template.Piece> pieces = new ArrayList<>();
    int first = 0;
    int second = 0;
    for (int i = 0; i < raw.size(); i++) {
      RawPiece piece = raw.get(i);
      String at = pointer + "/" + i;
      if (piece.sequence()) {
        boolean isSecond = piece.id().equals("B");
        first += isSecond ? 0 : 1;
        second += isSecond ? 1 : 0;
        pieces.add(new Template.Sequence(isSecond, piece.typeId()));
      } else {
        RawSpecial special = specials.get(piece.id());
        if (special == null) {
          throw json.error(at, "special_tokens lacks \"" + JsonCursor.shortened(piece.id()) + "\"");
        }
        for (int k = 0; k < special.ids().size(); k++) {
          int id = checkedId(json, names, at, special, k);
          pieces.add(new Template.Special(id, piece.typeId()));
          if (pieces.size() > MAX_PIECES) {
            throw json.error(at, "more than " + MAX_PIECES + " tokens in a template");
          }
        }
      }
    }
    if (first != 1 || second != (isPair ? 1 : 0)) {
      throw json.error(
          pointer,
          isPair ? "A and B are to appear once each" : "A is to appear once, and B not at all");
    }
    return new Template(pieces);
  }

  private static int bertId(JsonCursor json, Names names, String field, RawSpecial special) {
    return checkedId(json, names, "/post_processor/" + field, special, 0);
  }

  private static int checkedId(
      JsonCursor json, Names names, String pointer, RawSpecial special, int index) {
    String token = special.tokens().get(index);
    int id = special.ids().get(index);
    int known = names.id(token);
    if (known != id) {
      throw json.error(
          pointer,
          "\""
              + JsonCursor.shortened(token)
              + "\" has the id "
              + id
              + " here and "
              + (known < 0 ? "none" : known)
              + " in the vocabulary");
    }
    return id;
  }

  private static void limit(JsonCursor json, int size) {
    if (size >= MAX_PIECES) {
      throw json.error("this array has more than " + MAX_PIECES + " elements");
    }
  }
}
