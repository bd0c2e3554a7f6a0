package dev.minifloat.cli.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What can be asked of a trace. */
enum Command {
  STEP("step", "s", "[N]", "run the warp's next instruction, or its next N"),
  NEXT("next", "n", "", "run to the next line of the CUDA source, if .loc tells; else one step"),
  TO("to", "t", "LINE|mma|bar|ld|st|cp|WORD", "run to a PTX line, or to the next such instruction"),
  BREAK("break", "b", "[LINE]", "stop whichever warp comes to a PTX line; without one, list them"),
  DELETE("delete", "d", "[LINE]", "forget a stop, or all"),
  CONTINUE("continue", "c", "", "run to the next stop, or to the end"),
  BLOCK("block", "bl", "X,Y,Z", "look at another block: runs until it begins"),
  WARP("warp", "w", "N", "look at another warp of the block"),
  LANE("lane", "ln", "N", "look at another lane of the warp"),
  REGISTERS("registers", "r", "[NAME|all] [as TYPE]", "registers of the lane: the instruction's"),
  LANES("lanes", "la", "NAME [as TYPE]", "a register in all 32 lanes"),
  WATCH("watch", "wa", "[NAME]", "show a register at each stop; without a name, none any more"),
  MATRIX(
      "matrix", "m", "[A|B|C|D] [lanes]", "the matrices of mma: the next one's, or the last one's"),
  SHARED("shared", "sh", "[OFFSET [BYTES]]", "shared memory, what is about to be accessed marked"),
  BANKS("banks", "ba", "", "banks of shared memory that the next access takes, pass by pass"),
  BARRIERS("barriers", "br", "", "barriers, who has come and who is missing"),
  WARPS("warps", "ws", "", "where the block's warps are, and what they wait for"),
  LIST("list", "l", "[LINE]", "PTX around a line, or around the next instruction"),
  INFO("info", "i", "", "the launch, and what it has done"),
  HELP("help", "h", "", "this list"),
  QUIT("quit", "q", "", "end the trace");

  private final String word;
  private final String shortcut;
  private final String arguments;
  private final String purpose;

  Command(String word, String shortcut, String arguments, String purpose) {
    this.word = word;
    this.shortcut = shortcut;
    this.arguments = arguments;
    this.purpose = purpose;
  }

  /** The command of a word; empty if there is none, or several begin with it. */
  static Optional<Command> of(String word) {
    List<Command> beginning = new ArrayList<>();
    for (Command command : values()) {
      if (command.word.equals(word) || command.shortcut.equals(word)) {
        return Optional.of(command);
      }
      if (command.word.startsWith(word)) {
        beginning.add(command);
      }
    }
    return beginning.size() == 1 ? Optional.of(beginning.getFirst()) : Optional.empty();
  }

  static List<String> names() {
    return Arrays.stream(values()).map(command -> command.word).toList();
  }

  /** Prints all of them. */
  static void print(Screen screen) {
    for (Command command : values()) {
      String usage = "%s, %s %s".formatted(command.word, command.shortcut, command.arguments);
      if (screen.width() >= 100) {
        screen.cut("  %-38s %s".formatted(usage, command.purpose));
      } else {
        screen.cut("  " + usage);
        screen.paragraph("      " + command.purpose);
      }
    }
    screen.paragraph("Enter repeats the last step. Words may be shortened.");
  }
}
