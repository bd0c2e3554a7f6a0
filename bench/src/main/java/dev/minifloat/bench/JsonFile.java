package dev.minifloat.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The figures for programs: a list of objects with the keys {@code subject, format, size, threads,
 * ours, peers, limit, unit}. {@code ours}, the values of {@code peers} and {@code limit} are in
 * {@code unit}; {@code ours} or {@code limit} is null where there is none.
 */
final class JsonFile {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private JsonFile() {}

  static void write(RunReport report, Path file) throws IOException {
    Files.writeString(file, MAPPER.writeValueAsString(list(report)) + "\n");
  }

  static List<Map<String, Object>> list(RunReport report) {
    List<Map<String, Object>> list = new ArrayList<>();
    for (RunReport.Row row : report.rows()) {
      Map<String, Object> map = new LinkedHashMap<>();
      Workload workload = row.workload();
      map.put("subject", workload.subject());
      map.put("format", workload.format());
      map.put("size", workload.size());
      map.put("threads", workload.threads());
      map.put("ours", row.isMeasured() ? rounded(row.ours()) : null);
      Map<String, Object> peers = new LinkedHashMap<>();
      row.peers().forEach((name, figure) -> peers.put(name, rounded(figure)));
      map.put("peers", peers);
      map.put("limit", row.limit() == 0 ? null : rounded(row.limit()));
      map.put("unit", workload.unit().symbol());
      list.add(map);
    }
    return list;
  }

  /** Five digits: more than repeat. */
  private static double rounded(double value) {
    return Double.parseDouble(String.format(Locale.ROOT, "%.5g", value));
  }
}
