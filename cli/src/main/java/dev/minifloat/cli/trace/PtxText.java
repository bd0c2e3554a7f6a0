package dev.minifloat.cli.trace;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A PTX text by its lines, and the lines of the source that it was compiled from, if {@code .file}
 * and {@code .loc} tell (PTX ISA, "Debugging Directives").
 */
public final class PtxText {
  private static final Pattern FILE = Pattern.compile("\\s*\\.file\\s+(\\d+)\\s+\"([^\"]*)\".*");
  private static final Pattern LOC = Pattern.compile("\\s*\\.loc\\s+(\\d+)\\s+(\\d+)\\b.*");

  private final List<String> lines;
  private final Map<Integer, String> files = new HashMap<>();
  private final List<Origin> origins = new ArrayList<>();

  /**
   * A line of the source.
   *
   * @param file its path, as the compiler was given it
   * @param line its number, from 1
   */
  public record Origin(String file, int line) {
    /** The file's name alone. */
    public String name() {
      Path name = Path.of(file).getFileName();
      return name == null ? file : name.toString();
    }
  }

  private PtxText(List<String> lines) {
    this.lines = lines;
  }

  /** The lines of a text. */
  public static PtxText of(String text) {
    PtxText ptx = new PtxText(text.lines().toList());
    // The names may stand behind all code.
    for (String line : ptx.lines) {
      Matcher file = FILE.matcher(line);
      if (file.matches()) {
        ptx.files.put(Integer.valueOf(file.group(1)), file.group(2));
      }
    }
    Origin current = null;
    for (String line : ptx.lines) {
      Matcher loc = LOC.matcher(line);
      if (loc.matches()) {
        String file = ptx.files.get(Integer.valueOf(loc.group(1)));
        current = file == null ? null : new Origin(file, Integer.parseInt(loc.group(2)));
      } else if (line.startsWith("}")) {
        current = null;
      }
      ptx.origins.add(current);
    }
    return ptx;
  }

  /** How many lines it has. */
  public int size() {
    return lines.size();
  }

  /** A line by its number, from 1; tabs are spaces. */
  public String line(int number) {
    return lines.get(number - 1).replace("\t", "  ");
  }

  /** The line of the source from which a line stems. */
  public Optional<Origin> origin(int number) {
    return number < 1 || number > origins.size()
        ? Optional.empty()
        : Optional.ofNullable(origins.get(number - 1));
  }
}
