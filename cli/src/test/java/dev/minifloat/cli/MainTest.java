package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class MainTest {
  static Stream<String> commands() {
    return new CommandLine(new Main()).getSubcommands().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandExplainsItself(String command) {
    Cli result = Cli.run(command, "--help");

    assertEquals(0, result.code());
    assertTrue(result.out().startsWith("Usage: minifloat " + command), result.out());
    assertEquals("", result.err());
  }

  @ParameterizedTest
  @MethodSource("commands")
  void anUnknownOptionIsWrongUsageInOneLine(String command) {
    Cli result = Cli.run(command, "--no-such-option");

    assertEquals(2, result.code());
    assertEquals("", result.out());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(result.err().startsWith("minifloat " + command + ": "), result.err());
    assertTrue(result.err().contains("minifloat " + command + " --help"), result.err());
  }

  /** Takes so many bytes, then fails for this reason. */
  private static OutputStream full(int room, String reason) {
    return new OutputStream() {
      private int left = room;

      @Override
      public void write(int b) throws IOException {
        if (left-- <= 0) {
          throw new IOException(reason);
        }
      }
    };
  }

  private static String errorsWith(OutputStream out, int expectedCode) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        Main.run(
            new String[] {"explain", "f8_e4m3", "1.5"},
            new StandardOutput(out),
            StandardCharsets.UTF_8,
            new PrintStream(err, true, StandardCharsets.UTF_8));
    assertEquals(expectedCode, code);
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void outputThatIsLostIsAFailure() {
    for (int room : new int[] {0, 100}) {
      assertEquals(
          "minifloat: the output could not be written: No space left on device\n",
          errorsWith(full(room, "No space left on device"), 1));
    }
  }

  @Test
  void aReaderThatHasSeenEnoughIsNoFailure() {
    assertEquals("", errorsWith(full(100, "Broken pipe"), 0));
    assertEquals("", errorsWith(full(1 << 20, ""), 0));
  }

  @Test
  void helpListsEveryCommand() {
    Cli result = Cli.run("--help");

    assertEquals(0, result.code());
    commands().forEach(command -> assertTrue(result.out().contains("  " + command), command));
  }

  @Test
  void versionNamesTheBuildAndTheJvm() {
    Cli result = Cli.run("--version");

    assertEquals(0, result.code());
    assertTrue(result.out().matches("(?s)minifloat \\d+\\.\\d+\\.\\d+.*Java \\d.*"), result.out());
  }

  @Test
  void noCommandIsWrongUsage() {
    Cli result = Cli.run();

    assertEquals(2, result.code());
    assertFalse(result.err().isBlank());
  }

  @Test
  void anUnknownCommandIsWrongUsage() {
    Cli result = Cli.run("frobnicate");

    assertEquals(2, result.code());
    assertTrue(result.err().contains("frobnicate"), result.err());
  }

  @Test
  void debugAddsTheStackTrace() {
    Cli quiet = Cli.run("backends", "--support=none-such");
    Cli loud = Cli.run("backends", "--support=none-such", "--debug");

    assertEquals(2, quiet.code());
    assertEquals(1, quiet.err().lines().count(), quiet.err());
    assertEquals(2, loud.code());
    assertTrue(loud.err().contains("\tat dev.minifloat.cli."), loud.err());
  }

  @Test
  void helpIsACommandToo() {
    assertEquals(Cli.run("--help").out(), Cli.run("help").out());
    assertEquals(Cli.run("convert", "--help").out(), Cli.run("help", "convert").out());

    Cli unknown = Cli.run("help", "frobnicate");
    assertEquals(2, unknown.code());
    assertEquals("", unknown.out());
    assertTrue(unknown.err().contains("frobnicate"), unknown.err());
    assertEquals(1, unknown.err().lines().count(), unknown.err());
  }

  @Test
  void helpNamesWhatTheLauncherKnows() {
    String help = Cli.run("--help").out();

    for (String command : new String[] {"test ", "fetch MODEL ", "jdk "}) {
      assertTrue(help.contains("\n  " + command), help);
    }
  }
}
