package dev.minifloat.cli.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cli.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces in a terminal: {@code script} of util-linux makes a pseudo-terminal for a JVM. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class TerminalTraceTest {
  private static final String PROMPT = "trace> ";
  private static final String CTRL_C = "\u0003";
  private static final String TAB = "\t";

  /** Colours; what moves the cursor isn't among them. */
  private static final Pattern COLOR = Pattern.compile("\u001b\\[[0-9;]*m");

  private static final Pattern CONTROL =
      Pattern.compile("\u001b\\[[0-9;?]*[A-Za-z]|\u001b[=>]|\u001b[()][A-Z0-9]|\r|\u0007");

  private static final String ENDLESS =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .visible .entry endless() {
        .reg .b32 %r<2>;
        mov.u32 %r1, 0;
      AGAIN:
        add.u32 %r1, %r1, 1;
        bra AGAIN;
      }
      """;

  @TempDir Path directory;

  /** A terminal with the program in it. */
  private static final class Session implements AutoCloseable {
    private final Process process;
    private final InputStream out;
    private final OutputStream in;
    private final StringBuilder all = new StringBuilder();
    private int consumed;

    Session(int columns, String environment, String arguments) throws IOException {
      String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
      String program =
          "stty cols %d rows 24; TERM=xterm-256color %s exec %s -Xmx512m --enable-native-access=ALL-UNNAMED -cp '%s' %s trace %s"
              .formatted(
                  columns,
                  environment,
                  java,
                  System.getProperty("java.class.path"),
                  Main.class.getName(),
                  arguments);
      process = new ProcessBuilder(List.of("script", "-qec", program, "/dev/null")).start();
      out = process.getInputStream();
      in = process.getOutputStream();
    }

    /**
     * Reads up to the end of a text, without what moves the cursor; what came up to there is
     * returned, and what came with it is left for the next.
     */
    String until(String text) throws IOException {
      byte[] buffer = new byte[4096];
      while (!hasCome(text, all.length())) {
        int count = out.read(buffer);
        if (count < 0) {
          throw new AssertionError("no \"" + text + "\" but the end, in\n" + all);
        }
        all.append(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
      }
      int without = consumed;
      int with = all.length();
      while (with - without > 1) {
        int middle = (without + with) / 2;
        if (hasCome(text, middle)) {
          with = middle;
        } else {
          without = middle;
        }
      }
      String read = all.substring(consumed, with);
      consumed = with;
      return read;
    }

    private boolean hasCome(String text, int end) {
      return plain(all.substring(consumed, end)).contains(text);
    }

    void type(String keys) throws IOException {
      in.write(keys.getBytes(StandardCharsets.UTF_8));
      in.flush();
    }

    /** Types a command and reads on to the next prompt. */
    String ask(String command) throws IOException {
      type(command + "\r");
      until(command);
      return until(PROMPT);
    }

    int end() throws IOException, InterruptedException {
      type("quit\r");
      out.transferTo(OutputStream.nullOutputStream());
      return process.waitFor();
    }

    @Override
    public void close() {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private static String plain(String text) {
    return CONTROL.matcher(COLOR.matcher(text).replaceAll("")).replaceAll("");
  }

  @Test
  void aKernelIsSteppedInATerminal() throws Exception {
    try (Session session = new Session(72, "", "gemm_f16")) {
      assertTrue(plain(session.until(PROMPT)).contains("block (0, 0, 0), warp 0, lane 0;"));
      String mma = session.ask("to mma");
      assertTrue(plain(mma).contains("mma.sync.aligned.m16n8k16"), mma);
      assertTrue(COLOR.matcher(mma).find(), "colours in\n" + mma);
      String matrix = plain(session.ask("matrix A lanes"));
      assertTrue(matrix.contains("A  16 × 16".replace("×", "\u00c3\u0097")), matrix);
      for (String line : matrix.lines().toList()) {
        assertTrue(
            new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8).length()
                <= 72,
            line);
      }
      assertEquals(0, session.end());
    }
  }

  @Test
  void tabCompletesAndCtrlCStopsAKernelThatNeverEnds() throws Exception {
    Path ptx = directory.resolve("endless.ptx");
    Files.writeString(ptx, ENDLESS);
    try (Session session = new Session(100, "NO_COLOR=1", "'" + ptx + "'")) {
      session.until(PROMPT);
      session.type("cont" + TAB + "\r");
      session.until("it runs; Ctrl-C stops it");
      session.type(CTRL_C);
      // A line that is edited is drawn again at any time, and its prompt with it.
      String stopped = session.until("interrupted") + session.until(PROMPT);
      session.type(CTRL_C);
      session.until("'quit' ends the trace");
      session.until(PROMPT);
      String registers = session.ask("registers all");
      assertTrue(plain(registers).contains("%r1"), registers);
      assertFalse(COLOR.matcher(stopped).find(), "colours in\n" + stopped);
      assertEquals(0, session.end());
    }
  }

  @Test
  void commandsOfAPipeNeedNoTerminal() throws Exception {
    Path ptx = directory.resolve("endless.ptx");
    Files.writeString(ptx, ENDLESS);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "trace",
                ptx.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (OutputStream in = process.getOutputStream()) {
      in.write("step 5\nregisters %r1\n".getBytes(StandardCharsets.UTF_8));
    }
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(0, process.waitFor());
    assertTrue(out.contains("trace> registers %r1\n  %r1    .b32  0x00000002  2\n"), out);
    assertFalse(out.contains("\u001b"), out);
  }
}
