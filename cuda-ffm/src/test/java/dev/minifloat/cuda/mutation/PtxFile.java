package dev.minifloat.cuda.mutation;

import dev.minifloat.kernels.KernelFile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file of the catalog, cut into lines and kernels. */
final class PtxFile {
  private static final Pattern ENTRY = Pattern.compile("^\\.visible \\.entry (\\w+)\\($");

  private final KernelFile file;
  private final String text;
  private final List<String> lines;
  private final Map<String, Range> kernels = new LinkedHashMap<>();

  /** Indices of lines, the last one excluded. */
  record Range(int from, int to) {}

  PtxFile(KernelFile file, String text) {
    this.file = file;
    this.text = text;
    this.lines = List.of(text.split("\n", -1));
    int from = -1;
    String name = "";
    for (int i = 0; i < lines.size(); i++) {
      Matcher entry = ENTRY.matcher(lines.get(i));
      if (entry.matches()) {
        from = i;
        name = entry.group(1);
      } else if (from >= 0 && lines.get(i).equals("}")) {
        kernels.put(name, new Range(from, i + 1));
        from = -1;
      }
    }
  }

  KernelFile file() {
    return file;
  }

  String text() {
    return text;
  }

  List<String> lines() {
    return lines;
  }

  Range kernel(String name) {
    Range range = kernels.get(name);
    if (range == null) {
      throw new IllegalArgumentException(file.path() + " has no kernel " + name);
    }
    return range;
  }

  /**
   * The file with one kernel only; every line keeps its number.
   *
   * @param kernel that stays
   * @param changed the index of a line that is replaced; -1 for none
   * @param by what it is replaced by
   */
  String only(String kernel, int changed, String by) {
    List<String> kept = new ArrayList<>(lines);
    kernels.forEach(
        (name, range) -> {
          if (!name.equals(kernel)) {
            Collections.fill(kept.subList(range.from(), range.to()), "");
          }
        });
    if (changed >= 0) {
      kept.set(changed, by);
    }
    return String.join("\n", kept);
  }
}
