package dev.minifloat.cli.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.completer.StringsCompleter;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/** Commands that somebody types, with history, completion and Ctrl-C. */
public final class TypedCommands implements Commands {
  private final Terminal terminal;
  private final LineReader reader;
  private final AtomicBoolean interrupted = new AtomicBoolean();

  /**
   * Takes over the terminal.
   *
   * @throws IOException if there is none
   */
  public TypedCommands() throws IOException {
    terminal = TerminalBuilder.builder().system(true).dumb(true).build();
    terminal.handle(Terminal.Signal.INT, _ -> interrupted.set(true));
    reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .completer(new StringsCompleter(Command.names()))
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .build();
  }

  /** Prints to the terminal. */
  public PrintWriter writer() {
    return terminal.writer();
  }

  /** Columns of the terminal; 80 if it doesn't say. */
  public int width() {
    return terminal.getWidth() > 0 ? terminal.getWidth() : 80;
  }

  /** Whether it shows colours. */
  public boolean hasColors() {
    return !terminal.getType().startsWith(Terminal.TYPE_DUMB);
  }

  @Override
  public String next(String prompt) throws IOException {
    interrupted.set(false);
    while (true) {
      try {
        return reader.readLine(prompt);
      } catch (UserInterruptException e) {
        writer().println("'quit' ends the trace");
        writer().flush();
      } catch (EndOfFileException e) {
        return null;
      }
    }
  }

  @Override
  public boolean isInterrupted() {
    return interrupted.getAndSet(false);
  }

  @Override
  public boolean areTyped() {
    return true;
  }

  @Override
  public void close() throws IOException {
    terminal.close();
  }
}
