package dev.minifloat.cli.trace;

import dev.minifloat.DType;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.cuda.sim.trace.TracedAccess;
import dev.minifloat.cuda.sim.trace.TracedBarrier;
import dev.minifloat.cuda.sim.trace.TracedInstruction;
import dev.minifloat.cuda.sim.trace.TracedLaunch;
import dev.minifloat.cuda.sim.trace.TracedMbarrier;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Stops a kernel where it is told to, shows what is there, and asks what to do next. */
public final class Debugger implements Tracer {
  private static final int LANES = 32;
  private static final Set<String> NO_RESULT =
      Set.of("st", "red", "bra", "brx", "bar", "barrier", "cp", "ret", "exit", "stmatrix", "call");

  /** Registers that are shown at a stop. */
  private static final int MOST = 16;

  /** Elements of a matrix that is drawn without being named. */
  private static final int SMALL = 1024;

  private static final String PROMPT = "trace> ";

  private final String kernel;
  private final PtxText ptx;
  private final Sources sources;
  private final Commands commands;
  private final Screen screen;
  private final Drawing drawing;
  private final Stops stops;
  private final Set<String> watched = new LinkedHashSet<>();
  private final Map<String, Long> shown = new HashMap<>();
  private TracedLaunch launch;
  private int lane;
  private boolean quit;
  private boolean isToHint;
  private String repeated = "step";

  /** The user's mistake, in words. */
  private static final class Mistake extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Mistake(String message) {
      super(message);
    }
  }

  /**
   * A trace of a kernel's first launch.
   *
   * @param ptx the text that it is from
   * @param place the block to look at first
   * @param warp the warp
   * @param lane the lane
   */
  public Debugger(
      String kernel,
      PtxText ptx,
      Sources sources,
      Commands commands,
      Screen screen,
      Place place,
      int warp,
      int lane) {
    this.kernel = kernel;
    this.ptx = ptx;
    this.sources = sources;
    this.commands = commands;
    this.screen = screen;
    this.drawing = new Drawing(screen);
    this.stops = new Stops(place, warp);
    this.lane = lane;
  }

  /** Whether the kernel has been launched. */
  public boolean hasBegun() {
    return launch != null;
  }

  /** Whether the user has ended the trace. */
  public boolean hasQuit() {
    return quit;
  }

  /** Says that the kernel has ended. */
  public void ended() {
    screen.line(screen.ink(Screen.Ink.TITLE, kernel + " has ended"));
    info();
  }

  @Override
  public boolean begins(TracedLaunch begun) {
    if (launch != null || !begun.kernel().equals(kernel)) {
      return false;
    }
    launch = begun;
    info();
    return true;
  }

  @Override
  public boolean step(TracedWarp warp) {
    if (isToHint) {
      isToHint = false;
      screen.line(screen.ink(Screen.Ink.FAINT, "it runs; Ctrl-C stops it"));
    }
    Optional<String> stop =
        commands.isInterrupted() ? Optional.of("interrupted") : stops.stop(warp);
    if (stop.isPresent()) {
      show(warp, stop.get());
      converse(warp);
    }
    return !quit;
  }

  // ---- What is shown at a stop
  // --------------------------------------------------------------------

  private void info() {
    screen.paragraph(
        "%s: grid %s, %d threads a block, %,d bytes of shared memory, PTX line %d"
            .formatted(
                kernel,
                launch.grid(),
                launch.block().x() * launch.block().y() * launch.block().z(),
                launch.sharedBytes(),
                launch.line()));
    if (launch.instructions() > 0) {
      StringBuilder counts = new StringBuilder();
      launch
          .byClass()
          .forEach(
              (kind, count) ->
                  counts.append(
                      count == 0 ? "" : ", " + kind.toLowerCase(Locale.ROOT) + " " + count));
      screen.paragraph(
          "%,d instructions of warps so far%s; %,d bank conflicts"
              .formatted(
                  launch.instructions(),
                  counts.isEmpty() ? "" : ": " + counts.substring(2),
                  launch.bankConflicts()));
    }
  }

  private void show(TracedWarp warp, String remark) {
    screen.line("");
    if (!remark.isEmpty()) {
      screen.line(screen.ink(Screen.Ink.ALERT, remark));
    }
    screen.line(
        screen.ink(
            Screen.Ink.TITLE,
            screen.fitting(
                "block %s, warp %d, lane %d; %,d instructions so far"
                    .formatted(warp.block().place(), warp.index(), lane, launch.instructions()))));
    screen.line("lanes " + Drawing.lanes(warp));
    TracedInstruction at = at(warp);
    ptx.origin(at.line())
        .ifPresent(
            origin ->
                screen.line(
                    screen.ink(
                        Screen.Ink.MARKED,
                        screen.fitting(
                            "%s:%d %s"
                                .formatted(
                                    origin.name(), origin.line(), sources.line(origin).strip())))));
    list(at.line(), at.line(), 2);
    before(warp);
    List<TracedRegister> registers = at.registers();
    for (TracedRegister register : registers.subList(0, Math.min(registers.size(), MOST))) {
      register(warp, register, null);
    }
    if (registers.size() > MOST) {
      screen.paragraph(
          "  … and %d more; 'registers' shows them".formatted(registers.size() - MOST));
    }
    for (String name : watched) {
      TracedRegister register = find(warp, name);
      long now = warp.value(register, place(warp));
      Long before = shown.put(name, now);
      String text = "  watch %s %s".formatted(name, Numbers.register(register, now));
      boolean changed = before != null && before != now;
      screen.line(changed ? screen.ink(Screen.Ink.MARKED, text + "  (changed)") : text);
    }
    if ((warp.live() >>> lane & 1) != 0 && (warp.waiting() >>> lane & 1) != 0) {
      screen.paragraph("lane " + lane + " " + warp.waitsFor(lane));
    }
  }

  /** The result of the instruction that the warp has just run, if it has one. */
  private void before(TracedWarp warp) {
    TracedInstruction previous = stops.previous();
    boolean hasResult =
        previous != null
            && warp.index() == stops.warp()
            && !previous.registers().isEmpty()
            && !NO_RESULT.contains(previous.opcode());
    if (hasResult) {
      int guard = previous.text().startsWith("@") ? 1 : 0;
      if (guard < previous.registers().size()) {
        TracedRegister result = previous.registers().get(guard);
        String value = Numbers.register(result, warp.value(result, place(warp)));
        screen.line(
            screen.ink(
                Screen.Ink.FAINT,
                screen.fitting(
                    "  line %d made %s %s".formatted(previous.line(), result.name(), value))));
      }
    }
  }

  /** The lane to look at: the chosen one, or the first that lives. */
  private int place(TracedWarp warp) {
    return (warp.live() >>> lane & 1) != 0
        ? lane
        : Integer.numberOfTrailingZeros(warp.live()) % LANES;
  }

  private TracedInstruction at(TracedWarp warp) {
    return warp.active() != 0 ? warp.next() : warp.at(place(warp));
  }

  private void list(int around, int current, int lines) {
    for (int n = Math.max(1, around - lines); n <= Math.min(ptx.size(), around + lines); n++) {
      String mark = n == current ? ">" : stops.lines().contains(n) ? "*" : " ";
      String text = screen.fitting("%s %5d %s".formatted(mark, n, ptx.line(n)));
      screen.line(n == current ? screen.ink(Screen.Ink.CURRENT, text) : text);
    }
  }

  private void register(TracedWarp warp, TracedRegister register, DType as) {
    long bits = warp.value(register, place(warp));
    String value =
        as == null ? Numbers.register(register, bits) : Numbers.elements(register, bits, as);
    screen.cut("  %-6s %-5s %s".formatted(register.name(), register.type(), value));
  }

  // ---- Commands
  // -----------------------------------------------------------------------------------

  /** Does what it is told until a command lets the kernel go on. */
  private void converse(TracedWarp stopped) {
    TracedWarp warp = stopped;
    while (true) {
      String line;
      try {
        line = commands.next(PROMPT);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (line == null) {
        quit = true;
        return;
      }
      String text = line.isBlank() ? repeated : line.strip();
      String[] words = text.split("\\s+", -1);
      Optional<Command> command = Command.of(words[0].toLowerCase(Locale.ROOT));
      try {
        if (command.isEmpty()) {
          throw new Mistake("there is no command \"" + words[0] + "\"; 'help' lists them");
        }
        if (command.get() == Command.WARP) {
          warp = warp(warp, number(words, 1, "a warp"));
        } else if (goesOn(command.get(), words, warp)) {
          repeated = text;
          return;
        } else {
          look(command.get(), words, warp);
        }
      } catch (Mistake e) {
        screen.paragraph(screen.ink(Screen.Ink.ALERT, e.getMessage()));
      }
    }
  }

  /** Does a command that lets the kernel run; false for any other. */
  private boolean goesOn(Command command, String[] words, TracedWarp warp) {
    switch (command) {
      case STEP -> {
        int[] left = {words.length > 1 ? number(words, 1, "a number of steps") : 1};
        stops.runTo(_ -> --left[0] <= 0);
      }
      case NEXT -> stops.runTo(nextLine(warp));
      case TO -> stops.runTo(wanted(words));
      case CONTINUE -> {
        stops.runToEnd();
        isToHint = commands.areTyped();
      }
      case BLOCK -> stops.follow(block(words));
      case QUIT -> quit = true;
      case BREAK, DELETE, WARP, LANE, REGISTERS, LANES, WATCH, MATRIX, SHARED, BANKS -> {
        return false;
      }
      case BARRIERS, WARPS, LIST, INFO, HELP -> {
        return false;
      }
    }
    return true;
  }

  private Predicate<TracedInstruction> nextLine(TracedWarp warp) {
    Optional<PtxText.Origin> from = ptx.origin(at(warp).line());
    return from.isEmpty()
        ? _ -> true
        : next -> {
          Optional<PtxText.Origin> origin = ptx.origin(next.line());
          return origin.isPresent() && !origin.equals(from);
        };
  }

  private Predicate<TracedInstruction> wanted(String[] words) {
    if (words.length < 2) {
      throw new Mistake("to: say a PTX line, or an instruction such as mma, bar, ld");
    }
    String word = words[1];
    if (word.matches("\\d+")) {
      int line = line(words);
      return next -> next.line() == line;
    }
    return switch (word) {
      case "mma", "wmma", "wgmma" -> Stops::isProduct;
      case "bar", "barrier" ->
          next -> next.opcode().endsWith("bar") || next.opcode().contains("barrier");
      default -> next -> next.text().replaceFirst("^@\\S+\\s+", "").startsWith(word);
    };
  }

  private Place block(String[] words) {
    if (words.length < 2 || !words[1].matches("\\d+(,\\d+){0,2}")) {
      throw new Mistake("block: say its place, as 1,0,0");
    }
    String[] parts = words[1].split(",", -1);
    int[] place = new int[3];
    for (int i = 0; i < parts.length; i++) {
      place[i] = Integer.parseInt(parts[i]);
    }
    Place grid = launch.grid();
    if (place[0] >= grid.x() || place[1] >= grid.y() || place[2] >= grid.z()) {
      throw new Mistake("block: the grid is " + grid);
    }
    return new Place(place[0], place[1], place[2]);
  }

  private TracedWarp warp(TracedWarp warp, int index) {
    List<TracedWarp> all = warp.block().warps();
    if (index >= all.size()) {
      throw new Mistake("warp: the block has " + all.size());
    }
    stops.follow(index);
    TracedWarp chosen = all.get(index);
    if (chosen.live() == 0) {
      throw new Mistake("warp " + index + " has exited");
    }
    show(chosen, "");
    return chosen;
  }

  private static int number(String[] words, int index, String what) {
    if (words.length <= index || !words[index].matches("\\d{1,9}")) {
      throw new Mistake(words[0] + ": say " + what);
    }
    return Integer.parseInt(words[index]);
  }

  private int line(String[] words) {
    int line = number(words, 1, "a PTX line");
    if (line < 1 || line > ptx.size()) {
      throw new Mistake(words[0] + ": the PTX has " + ptx.size() + " lines");
    }
    return line;
  }

  /** Does a command that shows or notes something. */
  private void look(Command command, String[] words, TracedWarp warp) {
    switch (command) {
      case BREAK -> breakAt(words);
      case DELETE -> delete(words);
      case LANE -> {
        int chosen = number(words, 1, "a lane");
        if (chosen >= LANES) {
          throw new Mistake("lane: a warp has 32");
        }
        lane = chosen;
        show(warp, "");
      }
      case REGISTERS -> registers(words, warp);
      case LANES -> lanes(words, warp);
      case WATCH -> watch(words, warp);
      case MATRIX -> matrix(words, warp);
      case SHARED -> shared(words, warp);
      case BANKS -> banks(warp);
      case BARRIERS -> barriers(warp);
      case WARPS -> warps(warp);
      case LIST -> {
        int current = at(warp).line();
        list(words.length > 1 ? line(words) : current, current, 8);
      }
      case INFO -> info();
      case HELP -> Command.print(screen);
      case STEP, NEXT, TO, CONTINUE, BLOCK, WARP, QUIT ->
          throw new IllegalStateException(command + " isn't looked at");
    }
  }

  private void breakAt(String[] words) {
    if (words.length > 1) {
      stops.lines().add(line(words));
    }
    screen.paragraph("marked lines: " + stops.lines());
  }

  private void delete(String[] words) {
    if (words.length > 1) {
      stops.lines().remove(line(words));
    } else {
      stops.lines().clear();
    }
    screen.paragraph("marked lines: " + stops.lines());
  }

  /** The type behind {@code as}; null if there is none. */
  private static DType as(String[] words) {
    int at = words.length - 2;
    if (at < 1 || !words[at].equals("as")) {
      return null;
    }
    try {
      return DType.parse(words[at + 1]);
    } catch (IllegalArgumentException e) {
      throw new Mistake("as: there is no type \"" + words[at + 1] + "\"");
    }
  }

  private TracedRegister find(TracedWarp warp, String name) {
    String wanted = name.startsWith("%") ? name : "%" + name;
    return warp.registers(place(warp)).stream()
        .filter(register -> register.name().equals(wanted))
        .findFirst()
        .orElseThrow(() -> new Mistake("there is no register " + wanted + " in this function"));
  }

  private void registers(String[] words, TracedWarp warp) {
    DType as = as(words);
    boolean named = words.length > 1 && !words[1].equals("as");
    List<TracedRegister> registers =
        !named
            ? at(warp).registers()
            : words[1].equals("all") ? warp.registers(place(warp)) : List.of(find(warp, words[1]));
    for (TracedRegister register : registers) {
      register(warp, register, register.isPredicate() ? null : as);
    }
  }

  private void lanes(String[] words, TracedWarp warp) {
    if (words.length < 2) {
      throw new Mistake("lanes: say a register");
    }
    TracedRegister register = find(warp, words[1]);
    DType as = as(words);
    for (int l = 0; l < LANES; l++) {
      if ((warp.live() >>> l & 1) != 0) {
        long bits = warp.value(register, l);
        String value =
            as == null ? Numbers.register(register, bits) : Numbers.elements(register, bits, as);
        String text = screen.fitting("  lane %2d  %s".formatted(l, value));
        screen.line(l == lane ? screen.ink(Screen.Ink.MARKED, text) : text);
      }
    }
  }

  private void watch(String[] words, TracedWarp warp) {
    if (words.length < 2) {
      watched.clear();
      shown.clear();
    } else {
      TracedRegister register = find(warp, words[1]);
      watched.add(register.name());
      shown.put(register.name(), warp.value(register, place(warp)));
    }
    screen.paragraph("watched: " + watched);
  }

  /** A, B and C are those of the next product, if that comes next; D is the last one's. */
  private void matrix(String[] words, TracedWarp warp) {
    boolean asLanes = words[words.length - 1].equals("lanes");
    String name =
        words.length > 1 && !words[1].equals("lanes") ? words[1].toUpperCase(Locale.ROOT) : "";
    TracedInstruction next = at(warp);
    boolean ofNext = Stops.isProduct(next) && !name.equals("D");
    TracedInstruction product = ofNext ? next : stops.lastProduct();
    if (product == null) {
      throw new Mistake("matrix: no mma has run yet; 'to mma' runs to the next one");
    }
    List<Fragment> all = warp.fragments(product);
    if (all.isEmpty()) {
      throw new Mistake("matrix: " + product.opcode() + "'s matrices can't be drawn");
    }
    screen.cut("line %d, %s: registers as they are now".formatted(product.line(), product.text()));
    for (Fragment fragment : all) {
      boolean byDefault = ofNext != fragment.name().equals("D");
      boolean isSmall = fragment.values().size() <= SMALL;
      if (name.isEmpty() && byDefault && !isSmall) {
        screen.paragraph(
            "%s  %d × %d: 'matrix %s' draws it"
                .formatted(
                    fragment.name(),
                    fragment.rows(),
                    fragment.columns(),
                    fragment.name().toLowerCase(Locale.ROOT)));
      } else if (name.isEmpty() ? byDefault : fragment.name().equals(name)) {
        drawing.matrix(fragment, lane, asLanes);
      }
    }
  }

  private Optional<TracedAccess> access(TracedWarp warp) {
    return warp.active() == 0 ? Optional.empty() : warp.access();
  }

  private void shared(String[] words, TracedWarp warp) {
    TracedAccess access =
        access(warp).filter(found -> found.space().startsWith("shared")).orElse(null);
    int from = 0;
    if (words.length > 1) {
      try {
        from = Integer.decode(words[1]) & -4;
      } catch (NumberFormatException e) {
        throw new Mistake("shared: say an offset, as 0x400");
      }
    } else if (access != null && access.lanes() != 0) {
      from = (int) (access.addresses().get(place(warp)) & -128);
    }
    int bytes = words.length > 2 ? number(words, 2, "a number of bytes") : 256;
    drawing.shared(warp.block(), from, bytes, access);
  }

  private void banks(TracedWarp warp) {
    TracedAccess access =
        access(warp)
            .filter(found -> found.space().startsWith("shared"))
            .orElseThrow(
                () ->
                    new Mistake(
                        "banks: the next instruction doesn't access shared memory; 'to ldmatrix' or"
                            + " 'to ld.shared' runs to one that does"));
    drawing.banks(access);
  }

  private void barriers(TracedWarp warp) {
    List<TracedBarrier> barriers = warp.block().barriers();
    List<TracedMbarrier> mbarriers = warp.block().mbarriers();
    for (TracedMbarrier barrier : mbarriers) {
      screen.paragraph(
          "mbarrier at 0x%05x: phase %d, %d of %d arrivals have come%s"
              .formatted(
                  barrier.offset(),
                  barrier.phase(),
                  barrier.expected() - barrier.missing(),
                  barrier.expected(),
                  barrier.bytes() == 0 ? "" : ", %,d bytes haven't".formatted(barrier.bytes())));
    }
    if (barriers.isEmpty() && mbarriers.isEmpty()) {
      screen.line("nobody is at a barrier");
    }
    for (TracedBarrier barrier : barriers) {
      List<Integer> missing =
          warp.block().warps().stream()
              .filter(other -> other.live() != 0)
              .map(TracedWarp::index)
              .filter(index -> !barrier.arrived().contains(index))
              .toList();
      screen.paragraph(
          "barrier %d for %s: warps %s have arrived, %s have not"
              .formatted(
                  barrier.id(),
                  barrier.threads() == 0 ? "all" : barrier.threads() + " threads",
                  barrier.arrived(),
                  missing));
    }
  }

  private void warps(TracedWarp warp) {
    for (TracedWarp other : warp.block().warps()) {
      String mark = other.index() == warp.index() ? ">" : " ";
      if (other.live() == 0) {
        screen.line("%s warp %2d has exited".formatted(mark, other.index()));
        continue;
      }
      TracedInstruction at = at(other);
      screen.cut(
          "%s warp %2d %s line %5d %s"
              .formatted(mark, other.index(), Drawing.lanes(other), at.line(), at.text()));
      if (other.waiting() != 0) {
        int waiting = Integer.numberOfTrailingZeros(other.waiting());
        screen.paragraph(
            screen.ink(Screen.Ink.ALERT, "lane " + waiting + " " + other.waitsFor(waiting)));
      }
    }
  }
}
