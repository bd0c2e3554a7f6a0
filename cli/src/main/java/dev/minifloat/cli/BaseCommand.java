package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What commands share: their streams, and how they complain. */
abstract class BaseCommand implements Callable<Integer> {
  private static final Pattern ARGUMENT = Pattern.compile("^[a-zA-Z]\\w*: ");

  @Spec CommandSpec spec;

  /** For results. */
  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** For progress and remarks. */
  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** The complaint about wrong usage: exit code 2. */
  final ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /**
   * The value of what the user wrote, an {@link IllegalArgumentException} being the user's mistake.
   *
   * @param blamed the options or the parameter that the complaint begins with
   */
  final <T> T parsed(String blamed, Supplier<T> parser) {
    try {
      return parser.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), blamed + ": " + withoutArgument(e.getMessage()), e);
    }
  }

  /** The message of an exception, less the name of the Java argument that it begins with. */
  static String withoutArgument(String message) {
    return ARGUMENT.matcher(String.valueOf(message)).replaceFirst("");
  }

  /**
   * Opens the backend of an option {@code --backend}: the best one for null.
   *
   * @throws ParameterException if there is none of that name
   */
  final Backend openBackend(String name) {
    return openBackend("--backend", name);
  }

  /** Opens the backend of an option of that name. */
  final Backend openBackend(String option, String name) {
    if (name == null) {
      return Backends.best();
    }
    requireKnown(option, name, "");
    return parsed(option, () -> Backends.open(name));
  }

  /** Whether a backend is one that runs only if it is named, as simulated ones; null is not. */
  static boolean isByNameOnly(String name) {
    return name != null
        && Backends.report().stream()
            .anyMatch(
                report ->
                    report.priority() < 0
                        && (name.equals(report.name()) || name.startsWith(report.name() + ":")));
  }

  /**
   * Complains about the name of a backend that there isn't.
   *
   * @param others what else may be named, or nothing
   */
  final void requireKnown(String option, String name, String others) {
    if (!Backends.isKnown(name)) {
      throw usage(option + ": there is no \"" + name + "\", but " + Backends.names() + others);
    }
  }
}
