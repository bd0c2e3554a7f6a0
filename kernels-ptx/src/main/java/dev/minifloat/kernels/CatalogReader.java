package dev.minifloat.kernels;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads a catalog:
 *
 * <pre>
 *   {"files": [{"path": …, "source": …, "target": …, "version": …, "sha256": …, "assembledFor": […]}],
 *    "kernels": [{"entry": …, "file": …, "operation": …, …}]}
 * </pre>
 *
 * Members have the names of {@link KernelFile}'s and {@link KernelEntry}'s components; all must be
 * there, and no others.
 */
final class CatalogReader {
  private static final JsonFactory FACTORY = JsonFactory.builder().build();

  private final JsonParser parser;

  private CatalogReader(JsonParser parser) {
    this.parser = parser;
  }

  /**
   * Reads all of a stream.
   *
   * @throws IllegalStateException if it isn't a catalog, with line and column
   */
  static KernelCatalog read(InputStream in) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
      CatalogReader reader = new CatalogReader(parser);
      reader.expect(parser.nextToken(), JsonToken.START_OBJECT);
      return reader.catalog();
    } catch (JacksonException e) {
      throw new IllegalStateException("The catalog of kernels isn't JSON: " + e.getMessage(), e);
    }
  }

  private IllegalStateException wrong(String problem) {
    return new IllegalStateException(
        "The catalog of kernels, line %d, column %d: %s"
            .formatted(
                parser.currentTokenLocation().getLineNr(),
                parser.currentTokenLocation().getColumnNr(),
                problem));
  }

  private void expect(JsonToken token, JsonToken wanted) {
    if (token != wanted) {
      throw wrong("expected " + wanted + ", found " + token);
    }
  }

  private KernelCatalog catalog() {
    Members catalog = object();
    Map<String, KernelFile> files = new HashMap<>();
    List<KernelFile> inOrder = new ArrayList<>();
    for (Object element : catalog.list("files")) {
      KernelFile file = file(members(element));
      inOrder.add(file);
      files.put(file.path(), file);
    }
    List<KernelEntry> kernels = new ArrayList<>();
    for (Object element : catalog.list("kernels")) {
      kernels.add(kernel(members(element), files));
    }
    catalog.requireNoMore();
    return new KernelCatalog(inOrder, kernels);
  }

  private static KernelFile file(Members members) {
    KernelFile file =
        new KernelFile(
            members.text("path"),
            members.text("source"),
            Target.parse(members.text("target")),
            members.text("version"),
            members.text("sha256"),
            members.texts("assembledFor"));
    members.requireNoMore();
    return file;
  }

  private KernelEntry kernel(Members members, Map<String, KernelFile> files) {
    String entry = members.text("entry");
    String path = members.text("file");
    KernelFile file = files.get(path);
    if (file == null) {
      throw wrong(entry + " is in " + path + ", which is not among the files");
    }
    List<KernelParameter> parameters = new ArrayList<>();
    for (Object element : members.list("parameters")) {
      parameters.add(parameter(members(element)));
    }
    KernelEntry kernel =
        new KernelEntry(
            entry,
            file,
            Operation.valueOf(members.text("operation")),
            members.texts("a"),
            members.texts("b"),
            members.texts("out"),
            members.texts("scalings"),
            members.integers("tile"),
            members.integers("threads"),
            members.integer("staticShared"),
            members.integer("dynamicShared"),
            members.integer("registers"),
            parameters,
            members.text("accumulator"),
            bound(members.take("bound")));
    members.requireNoMore();
    return kernel;
  }

  private static KernelParameter parameter(Members members) {
    KernelParameter parameter =
        new KernelParameter(
            members.text("name"),
            ParameterType.valueOf(members.text("type").toUpperCase(Locale.ROOT)),
            members.integer("offset"));
    members.requireNoMore();
    return parameter;
  }

  private ErrorBound bound(Object value) {
    if (value.equals("none")) {
      return null;
    }
    Members members = members(value);
    ErrorBound bound = new ErrorBound(members.number("perTerm"), members.number("constant"));
    members.requireNoMore();
    return bound;
  }

  private Members members(Object value) {
    if (value instanceof Members members) {
      return members;
    }
    throw wrong("expected an object, found " + value);
  }

  /** The members of the object that was just entered. */
  private Members object() {
    Map<String, Object> map = new HashMap<>();
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_OBJECT;
        token = parser.nextToken()) {
      expect(token, JsonToken.PROPERTY_NAME);
      String name = parser.currentName();
      if (map.put(name, value(parser.nextToken())) != null) {
        throw wrong(name + " appears twice");
      }
    }
    return new Members(map, parser.currentTokenLocation().getLineNr());
  }

  private Object value(JsonToken token) {
    if (token == JsonToken.START_OBJECT) {
      return object();
    }
    if (token == JsonToken.START_ARRAY) {
      List<Object> list = new ArrayList<>();
      for (JsonToken next = parser.nextToken();
          next != JsonToken.END_ARRAY;
          next = parser.nextToken()) {
        list.add(value(next));
      }
      return list;
    }
    if (token == JsonToken.VALUE_STRING) {
      return parser.getString();
    }
    if (token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT) {
      return parser.getDoubleValue();
    }
    throw wrong("expected an object, a list, a string or a number, found " + token);
  }

  /** What an object that ends at a line holds and hasn't been taken yet. */
  private record Members(Map<String, Object> map, int line) {
    private IllegalStateException wrong(String problem) {
      return new IllegalStateException(
          "The catalog of kernels, object that ends in line " + line + ": " + problem);
    }

    Object take(String name) {
      Object value = map.remove(name);
      if (value == null) {
        throw wrong("there is no " + name);
      }
      return value;
    }

    String text(String name) {
      if (take(name) instanceof String text) {
        return text;
      }
      throw wrong(name + " is no string");
    }

    double number(String name) {
      if (take(name) instanceof Double number) {
        return number;
      }
      throw wrong(name + " is no number");
    }

    int integer(String name) {
      double number = number(name);
      if (number == (int) number) {
        return (int) number;
      }
      throw wrong(name + " is no integer");
    }

    List<?> list(String name) {
      if (take(name) instanceof List<?> list) {
        return list;
      }
      throw wrong(name + " is no list");
    }

    List<String> texts(String name) {
      return list(name).stream().map(String.class::cast).toList();
    }

    List<Integer> integers(String name) {
      return list(name).stream().map(element -> ((Double) element).intValue()).toList();
    }

    void requireNoMore() {
      if (!map.isEmpty()) {
        throw wrong("unknown members " + map.keySet());
      }
    }
  }
}
