package dev.minifloat.kernels;

import java.io.StringWriter;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes a catalog as it is committed: a line for each file and each kernel. */
final class CatalogWriter {
  private CatalogWriter() {}

  static String write(List<KernelFile> files, List<KernelEntry> kernels) {
    StringBuilder text = new StringBuilder("{\n  \"files\": [\n");
    for (int i = 0; i < files.size(); i++) {
      text.append("    ").append(object(files.get(i))).append(i + 1 < files.size() ? ",\n" : "\n");
    }
    text.append("  ],\n  \"kernels\": [\n");
    for (int i = 0; i < kernels.size(); i++) {
      text.append("    ")
          .append(object(kernels.get(i)))
          .append(i + 1 < kernels.size() ? ",\n" : "\n");
    }
    return text.append("  ]\n}\n").toString();
  }

  private interface Content {
    void writeTo(JsonGenerator json);
  }

  private static String object(Content content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json =
        JsonFactory.builder().build().createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      content.writeTo(json);
      json.writeEndObject();
    }
    return text.toString();
  }

  private static String object(KernelFile file) {
    return object(
        json -> {
          json.writeStringProperty("path", file.path());
          json.writeStringProperty("source", file.source());
          json.writeStringProperty("target", file.target().toString());
          json.writeStringProperty("version", file.version());
          texts(json, "assembledFor", file.assembledFor());
          json.writeStringProperty("sha256", file.sha256());
        });
  }

  private static String object(KernelEntry kernel) {
    return object(
        json -> {
          json.writeStringProperty("entry", kernel.entry());
          json.writeStringProperty("file", kernel.file().path());
          json.writeStringProperty("operation", kernel.operation().name());
          texts(json, "a", kernel.a());
          texts(json, "b", kernel.b());
          texts(json, "out", kernel.out());
          texts(json, "scalings", kernel.scalings());
          integers(json, "tile", kernel.tile());
          integers(json, "threads", kernel.threads());
          json.writeNumberProperty("staticShared", kernel.staticShared());
          json.writeNumberProperty("dynamicShared", kernel.dynamicShared());
          json.writeNumberProperty("registers", kernel.registers());
          json.writeStringProperty("accumulator", kernel.accumulator());
          ErrorBound bound = kernel.bound();
          if (bound == null) {
            json.writeStringProperty("bound", "none");
          } else {
            json.writeObjectPropertyStart("bound");
            json.writeNumberProperty("perTerm", bound.perTerm());
            json.writeNumberProperty("constant", bound.constant());
            json.writeEndObject();
          }
          json.writeArrayPropertyStart("parameters");
          for (KernelParameter parameter : kernel.parameters()) {
            json.writeStartObject();
            json.writeStringProperty("name", parameter.name());
            json.writeStringProperty("type", parameter.type().name());
            json.writeNumberProperty("offset", parameter.offset());
            json.writeEndObject();
          }
          json.writeEndArray();
        });
  }

  private static void texts(JsonGenerator json, String name, List<String> texts) {
    json.writeArrayPropertyStart(name);
    texts.forEach(json::writeString);
    json.writeEndArray();
  }

  private static void integers(JsonGenerator json, String name, List<Integer> integers) {
    json.writeArrayPropertyStart(name);
    integers.forEach(json::writeNumber);
    json.writeEndArray();
  }
}
