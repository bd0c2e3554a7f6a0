package dev.minifloat.cli.trace;

import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedAccess;
import dev.minifloat.cuda.sim.trace.TracedBlock;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Draws lanes, matrices, shared memory and its banks. */
final class Drawing {
  private static final int LANES = 32;
  private static final int BANKS = 32;
  private static final int WORD = 4;
  private static final int MOST_NAMES = 16;

  private final Screen screen;

  Drawing(Screen screen) {
    this.screen = screen;
  }

  /**
   * One sign a lane: {@code #} active, {@code .} elsewhere, {@code w} waiting, {@code -} exited.
   */
  static String lanes(TracedWarp warp) {
    StringBuilder signs = new StringBuilder();
    for (int lane = 0; lane < LANES; lane++) {
      int bit = 1 << lane;
      signs.append(
          (warp.live() & bit) == 0
              ? '-'
              : (warp.active() & bit) != 0 ? '#' : (warp.waiting() & bit) != 0 ? 'w' : '.');
    }
    return signs.toString();
  }

  // ---- Matrices
  // -----------------------------------------------------------------------------------

  /**
   * A matrix, what a lane holds of it marked; columns that don't fit come below.
   *
   * @param asLanes whether to draw the lanes that hold the elements, and not the elements
   */
  void matrix(Fragment matrix, int lane, boolean asLanes) {
    List<String> cells = new ArrayList<>();
    Set<String> registers = new LinkedHashSet<>();
    int widest = Integer.toString(matrix.columns() - 1).length();
    for (int i = 0; i < matrix.values().size(); i++) {
      boolean own = matrix.lanes().get(i) == lane;
      String cell = asLanes ? place(matrix, i) : Numbers.element(matrix.values().get(i));
      cell += own && !screen.isColored() ? "*" : "";
      cells.add(cell);
      widest = Math.max(widest, cell.length());
      if (own) {
        registers.add(matrix.registers().get(i));
      }
    }
    registers.remove("");
    if (matrix.lanes().getFirst() < 0) {
      screen.paragraph(
          "%s  %d × %d %s in shared memory, its first element at %s"
              .formatted(
                  matrix.name(),
                  matrix.rows(),
                  matrix.columns(),
                  matrix.type(),
                  matrix.registers().getFirst()));
      elements(matrix, lane, cells, widest);
      return;
    }
    screen.paragraph(
        "%s  %d × %d %s%s; lane %d holds %s of it%s"
            .formatted(
                matrix.name(),
                matrix.rows(),
                matrix.columns(),
                matrix.type(),
                asLanes ? ", by lanes" : "",
                lane,
                registers.isEmpty() ? "constants" : list(registers),
                screen.isColored() ? "" : " (*)"));
    elements(matrix, lane, cells, widest);
  }

  /** Names of registers, of many the first ones. */
  private static String list(Set<String> registers) {
    String names = String.join(" ", registers.stream().limit(MOST_NAMES).toList());
    return registers.size() <= MOST_NAMES
        ? names
        : "%s … (%d registers)".formatted(names, registers.size());
  }

  /** The lane that holds an element, or where in shared memory it lies. */
  private static String place(Fragment matrix, int i) {
    int lane = matrix.lanes().get(i);
    return lane < 0 ? matrix.registers().get(i) : Integer.toString(lane);
  }

  private void elements(Fragment matrix, int lane, List<String> cells, int widest) {
    int each = Math.max(1, (screen.width() - 4) / (widest + 1));
    for (int from = 0; from < matrix.columns(); from += each) {
      columns(matrix, lane, cells, widest, from, Math.min(matrix.columns(), from + each));
    }
  }

  private void columns(Fragment matrix, int lane, List<String> cells, int width, int from, int to) {
    StringBuilder head = new StringBuilder("    ");
    for (int c = from; c < to; c++) {
      head.append(" ").append(right(Integer.toString(c), width));
    }
    screen.line(screen.ink(Screen.Ink.FAINT, head.toString()));
    for (int r = 0; r < matrix.rows(); r++) {
      StringBuilder row = new StringBuilder(screen.ink(Screen.Ink.FAINT, right("" + r, 4)));
      for (int c = from; c < to; c++) {
        int at = r * matrix.columns() + c;
        String cell = right(cells.get(at), width);
        row.append(" ");
        row.append(matrix.lanes().get(at) == lane ? screen.ink(Screen.Ink.MARKED, cell) : cell);
      }
      screen.line(row.toString());
    }
  }

  private static String right(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }

  // ---- Shared memory
  // ------------------------------------------------------------------------------

  /** Words of shared memory; those that an access is about to touch are marked. */
  void shared(TracedBlock block, int from, int bytes, TracedAccess access) {
    int each = screen.width() >= 4 * 10 + 8 * 10 ? 16 : screen.width() >= 88 ? 8 : 4;
    Set<Long> touched = touched(access);
    for (int at = from; at < from + bytes; at += each * WORD) {
      byte[] row = block.shared(at, each * WORD);
      if (row.length == 0) {
        screen.line("(end of shared memory)");
        return;
      }
      StringBuilder line = new StringBuilder();
      line.append(screen.ink(Screen.Ink.FAINT, "0x%05x".formatted(at)));
      for (int w = 0; w * WORD < row.length; w++) {
        boolean marked = touched.contains((long) at / WORD + w);
        String word = word(block, row, at, w);
        line.append(" ");
        line.append(marked ? screen.ink(Screen.Ink.MARKED, word) : word);
        if (!screen.isColored()) {
          line.append(marked ? "*" : " ");
        }
      }
      screen.line(line.toString().stripTrailing());
    }
    screen.paragraph(
        "0x… is the offset; a row begins with bank (offset / 4) mod 32; .. is unwritten");
  }

  /** A word as a number, its lowest byte last. */
  private static String word(TracedBlock block, byte[] row, int at, int w) {
    StringBuilder word = new StringBuilder();
    for (int b = WORD - 1; b >= 0; b--) {
      int index = w * WORD + b;
      word.append(
          index < row.length && block.isWritten(at + index)
              ? "%02x".formatted(row[index] & 0xFF)
              : "..");
    }
    return word.toString();
  }

  private static Set<Long> touched(TracedAccess access) {
    Set<Long> words = new LinkedHashSet<>();
    if (access != null && access.space().startsWith("shared")) {
      for (int lane = 0; lane < LANES; lane++) {
        if ((access.lanes() >>> lane & 1) != 0) {
          words.addAll(words(access, lane));
        }
      }
    }
    return words;
  }

  private static List<Long> words(TracedAccess access, int lane) {
    List<Long> words = new ArrayList<>();
    long first = access.addresses().get(lane) / WORD;
    for (long w = first; w <= first + Math.max(0, access.bytes() / WORD - 1); w++) {
      words.add(w);
    }
    return words;
  }

  /**
   * Which bank gives a word to which lane, one row a pass. Lanes that move 8 bytes go in two groups
   * of 16, those that move 16 bytes in four of 8; a bank gives one word a pass, to all who want it.
   */
  void banks(TracedAccess access) {
    int lanesEach = access.bytes() <= 4 ? 32 : access.bytes() == 8 ? 16 : 8;
    int further = 0;
    List<String> rows = new ArrayList<>();
    for (int from = 0; from < LANES; from += lanesEach) {
      List<List<Long>> wanted = new ArrayList<>();
      List<StringBuilder> passes = new ArrayList<>();
      for (int bank = 0; bank < BANKS; bank++) {
        wanted.add(new ArrayList<>());
      }
      for (int lane = from; lane < from + lanesEach; lane++) {
        if ((access.lanes() >>> lane & 1) != 0) {
          give(access, lane, wanted, passes);
        }
      }
      for (int i = 0; i < passes.size(); i++) {
        String what =
            i == 0 ? "lanes %2d–%2d ".formatted(from, from + lanesEach - 1) : "  conflict ";
        rows.add(what + " " + passes.get(i));
        further += i == 0 ? 0 : 1;
      }
    }
    screen.line("bank         0       8       16      24");
    for (String row : rows) {
      screen.line(row.startsWith("  conflict") ? screen.ink(Screen.Ink.ALERT, row) : row);
    }
    screen.paragraph(
        "%d bytes a lane, %d passes, %d of them because of conflicts; signs are lanes: 0–9, a = 10 … v = 31"
            .formatted(access.bytes(), rows.size(), further));
  }

  private static void give(
      TracedAccess access, int lane, List<List<Long>> wanted, List<StringBuilder> passes) {
    for (long word : words(access, lane)) {
      int bank = (int) (word % BANKS);
      List<Long> given = wanted.get(bank);
      if (!given.contains(word)) {
        given.add(word);
        if (passes.size() < given.size()) {
          passes.add(new StringBuilder(".".repeat(BANKS)));
        }
        passes.get(given.size() - 1).setCharAt(bank, Character.forDigit(lane, LANES));
      }
    }
  }
}
