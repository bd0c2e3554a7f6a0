package dev.minifloat.cli;

import dev.minifloat.MinifloatException;
import dev.minifloat.formats.Paths;
import dev.minifloat.formats.Printable;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The {@code minifloat} command.
 *
 * <p>Exit codes: 0 good, 1 failed, 2 wrong usage. Results go to standard output; progress and
 * errors, one line each, to standard error.
 */
@Command(
    name = "minifloat",
    description = "Low-precision tensors on the JVM: FP16, BF16, FP8, FP6 and FP4.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      BackendsCommand.class,
      BenchCommand.class,
      ConvertCommand.class,
      DemoCommand.class,
      ExplainCommand.class,
      InspectCommand.class,
      KernelsCommand.class,
      TraceCommand.class,
      VerifyCommand.class,
      HelpCommand.class
    },
    footer = {
      "",
      "Exit codes: 0 good, 1 failed, 2 wrong usage.",
      "'minifloat COMMAND --help' explains a command.",
      "",
      "In a checkout, the launcher ./minifloat also knows:",
      "  test         build and run every test",
      "  fetch MODEL  download the weights of minilm, bge-small or e5-small",
      "  jdk          print the folder of the JDK that it uses"
    })
public final class Main implements Runnable {
  @Spec CommandSpec spec;

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error.")
  boolean debug;

  /** Made by {@link #run} and by picocli. */
  Main() {}

  /** Runs a command line and exits with its code. */
  public static void main(String[] args) {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    PrintStream err = System.err;
    System.exit(
        run(
            args,
            new StandardOutput(out),
            charset(System.out),
            new PrintStream(err, true, charset(err))));
  }

  /** In a POSIX locale the JDK would print "?" for every "é"; terminals of today read UTF-8. */
  private static Charset charset(PrintStream stream) {
    return stream.charset().equals(StandardCharsets.US_ASCII)
        ? StandardCharsets.UTF_8
        : stream.charset();
  }

  /** Runs a command line whose results may be lost on the way: then it has failed, too. */
  static int run(String[] args, StandardOutput out, Charset charset, PrintStream err) {
    PrintStream printed = out.printStream(charset);
    int code = run(args, printed, err);
    printed.flush();
    if (out.failure().isEmpty() || out.isUnwanted()) {
      return code;
    }
    err.println("minifloat: the output could not be written: " + out.failure().get().getMessage());
    return code == CommandLine.ExitCode.OK ? CommandLine.ExitCode.SOFTWARE : code;
  }

  /**
   * Runs a command line.
   *
   * @param args the command and its options
   * @param out where results go
   * @param err where progress and errors go
   * @return 0 good, 1 failed, 2 wrong usage
   */
  public static int run(String[] args, PrintStream out, PrintStream err) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    line.setOut(new PrintWriter(out, true, out.charset()));
    line.setErr(new PrintWriter(err, true, err.charset()));
    line.setCaseInsensitiveEnumValuesAllowed(true);
    // Values may be negative.
    line.getSubcommands().get("explain").setUnmatchedOptionsArePositionalParams(true);
    line.setUsageHelpWidth(100);
    line.setUsageHelpLongOptionsMaxWidth(30);
    line.setParameterExceptionHandler(Main::wrongUsage);
    line.setExecutionExceptionHandler(
        (failure, command, _) -> failed(failure, command, main.debug));
    int code;
    try {
      code = line.execute(args);
    } catch (OutOfMemoryError e) {
      code = outOfMemory(e, line, main.debug);
    }
    line.getOut().flush();
    line.getErr().flush();
    return code;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say which command to run");
  }

  private static int wrongUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    String help = "'" + name + " --help' tells more";
    command.getErr().println(name + ": " + oneLine(e.getMessage()) + "; " + help);
    // The option may stand behind the error, where picocli hasn't come to.
    if (String.join(" ", args).contains("--debug")) {
      e.printStackTrace(command.getErr());
    }
    return CommandLine.ExitCode.USAGE;
  }

  private static int failed(Exception e, CommandLine command, boolean debug) {
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(name + ": " + oneLine(message(e)));
    if (debug) {
      e.printStackTrace(command.getErr());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static int outOfMemory(OutOfMemoryError e, CommandLine line, boolean debug) {
    // Errors pass picocli by, and with them the subcommand that it knows.
    line.getErr()
        .println(
            "minifloat: Java's memory is full ("
                + e.getMessage()
                + "); MINIFLOAT_JAVA_OPTS=-Xmx4g gives it 4 GB");
    if (debug) {
      e.printStackTrace(line.getErr());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static String message(Exception e) {
    return switch (e) {
      case CommandFailure failure -> failure.getMessage();
      case MinifloatException known -> known.getMessage();
      case IllegalArgumentException argument when argument.getMessage() != null ->
          argument.getMessage();
      case UncheckedIOException io -> Paths.reason(io.getCause());
      case IOException io -> Paths.reason(io);
      default -> "unexpected " + e + "; --debug prints where it comes from";
    };
  }

  private static String oneLine(String message) {
    return Printable.of(String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " "));
  }

  /** Says which version this is. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "minifloat " + number(),
        "Java " + Runtime.version() + ", " + property("os.name") + " " + property("os.arch")
      };
    }

    /** The version alone: {@code 1.2.3}. */
    static String number() {
      Properties properties = new Properties();
      try (InputStream in = Main.class.getResourceAsStream("version.properties")) {
        properties.load(in);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return properties.getProperty("version");
    }

    private static String property(String name) {
      return System.getProperty(name);
    }
  }
}
