package dev.minifloat.cli;

import dev.minifloat.formats.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A table for people, in aligned columns, or for programs, as a list of JSON objects.
 *
 * <p>Cells are text, numbers, booleans or null; a column's format shows numbers to people, programs
 * get them whole.
 */
final class Table {
  private static final String GAP = "  ";

  private record Column(String key, String title, String format) {}

  private final List<Column> columns = new ArrayList<>();
  private final List<Object[]> rows = new ArrayList<>();

  /** Adds a column of text, aligned left. */
  Table text(String key, String title) {
    columns.add(new Column(key, title, null));
    return this;
  }

  /** Adds a column of numbers, aligned right, shown through a {@link String#format} pattern. */
  Table number(String key, String title, String format) {
    columns.add(new Column(key, title, format));
    return this;
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException unless there is a cell for each column
   */
  Table row(Object... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(
          "cells: " + cells.length + " for " + columns.size() + " columns");
    }
    rows.add(cells.clone());
    return this;
  }

  /** Rows as maps from the columns' keys, for JSON. */
  List<Map<String, Object>> maps() {
    List<Map<String, Object>> maps = new ArrayList<>();
    for (Object[] row : rows) {
      Map<String, Object> map = new LinkedHashMap<>();
      for (int i = 0; i < row.length; i++) {
        map.put(columns.get(i).key, row[i]);
      }
      maps.add(map);
    }
    return maps;
  }

  /** Prints the titles, a rule and the rows. */
  void print(PrintWriter out) {
    int[] widths = new int[columns.size()];
    List<String[]> lines = new ArrayList<>();
    lines.add(columns.stream().map(Column::title).toArray(String[]::new));
    for (Object[] row : rows) {
      String[] cells = new String[row.length];
      for (int i = 0; i < row.length; i++) {
        cells[i] = shown(columns.get(i), row[i]);
      }
      lines.add(cells);
    }
    for (String[] line : lines) {
      for (int i = 0; i < line.length; i++) {
        widths[i] = Math.max(widths[i], width(line[i]));
      }
    }
    for (int l = 0; l < lines.size(); l++) {
      out.println(aligned(lines.get(l), widths));
      if (l == 0) {
        out.println(rule(widths));
      }
    }
  }

  private static String shown(Column column, Object cell) {
    if (cell == null) {
      return "";
    }
    return column.format != null && cell instanceof Number
        ? String.format(Locale.ROOT, column.format, cell)
        : Printable.of(cell.toString());
  }

  private String aligned(String[] cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.length; i++) {
      String padding = " ".repeat(widths[i] - width(cells[i]));
      line.append(i == 0 ? "" : GAP);
      line.append(columns.get(i).format == null ? cells[i] + padding : padding + cells[i]);
    }
    return line.toString().stripTrailing();
  }

  private static String rule(int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      line.append(i == 0 ? "" : GAP).append("-".repeat(widths[i]));
    }
    return line.toString();
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }
}
