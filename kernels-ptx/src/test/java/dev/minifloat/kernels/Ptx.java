package dev.minifloat.kernels;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a PTX file says of itself: version, target, and each entry's parameters and shared memory.
 */
record Ptx(String version, String target, Map<String, Entry> entries) {
  private static final Pattern VERSION = Pattern.compile("(?m)^\\.version (\\d+\\.\\d+)$");
  private static final Pattern TARGET = Pattern.compile("(?m)^\\.target (sm_\\w+)$");
  private static final Pattern ENTRY =
      Pattern.compile("(?ms)^(?:\\s*\\.visible )?\\.entry (\\w+)\\(\\s*(.*?)\\)\\s*(.*?)^\\}");
  private static final Pattern PARAMETER =
      Pattern.compile("\\.param (?:\\.align (\\d+) )?\\.(\\w+) \\w+(?:\\[(\\d+)])?");
  private static final Pattern SHARED =
      Pattern.compile("\\.shared (?:\\.align (\\d+) )?\\.b8 \\w+\\[(\\d+)]");

  /**
   * An entry.
   *
   * @param offsets of its parameters
   * @param sizes of its parameters
   * @param body its directives and instructions
   */
  record Entry(List<Integer> offsets, List<Integer> sizes, String body) {
    /** Bytes of the shared memory that the entry declares within itself. */
    int shared() {
      int bytes = 0;
      Matcher matcher = SHARED.matcher(body);
      while (matcher.find()) {
        int align = Integer.parseInt(matcher.group(1));
        bytes = Math.ceilDiv(bytes, align) * align + Integer.parseInt(matcher.group(2));
      }
      return bytes;
    }
  }

  static Ptx parse(String text) {
    Map<String, Entry> entries = new LinkedHashMap<>();
    Matcher matcher = ENTRY.matcher(text);
    while (matcher.find()) {
      List<Integer> offsets = new ArrayList<>();
      List<Integer> sizes = new ArrayList<>();
      Matcher parameter = PARAMETER.matcher(matcher.group(2));
      int offset = 0;
      while (parameter.find()) {
        int size = Integer.parseInt(parameter.group(2).substring(1)) / 8;
        int align = size;
        if (parameter.group(3) != null) {
          align = Integer.parseInt(parameter.group(1));
          size = Integer.parseInt(parameter.group(3));
        }
        offset = Math.ceilDiv(offset, align) * align;
        offsets.add(offset);
        sizes.add(size);
        offset += size;
      }
      entries.put(matcher.group(1), new Entry(offsets, sizes, matcher.group(3)));
    }
    return new Ptx(only(VERSION, text), only(TARGET, text), entries);
  }

  private static String only(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      throw new IllegalArgumentException("no " + pattern + " in the PTX");
    }
    return matcher.group(1);
  }
}
