package dev.minifloat.cli.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;

/** Commands of a file or a pipe; each is printed behind its prompt, as if somebody typed it. */
public final class ScriptedCommands implements Commands {
  private final BufferedReader in;
  private final PrintWriter out;

  /** Commands by lines; what begins with {@code #} is a remark. */
  public ScriptedCommands(BufferedReader in, PrintWriter out) {
    this.in = in;
    this.out = out;
  }

  @Override
  public String next(String prompt) throws IOException {
    String line = in.readLine();
    while (line != null && line.strip().startsWith("#")) {
      line = in.readLine();
    }
    if (line != null) {
      out.println(prompt + line.strip());
    }
    return line;
  }

  @Override
  public boolean isInterrupted() {
    return false;
  }

  @Override
  public boolean areTyped() {
    return false;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
