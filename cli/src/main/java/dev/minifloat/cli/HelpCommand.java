package dev.minifloat.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints the help of the program or of one command. */
@Command(
    name = "help",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "Explain the program, or a command.")
final class HelpCommand extends BaseCommand {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "COMMAND",
      description = "The command to explain.")
  String command;

  @Override
  public Integer call() {
    CommandLine explained = spec.parent().commandLine();
    if (command != null) {
      explained = explained.getSubcommands().get(command);
      if (explained == null) {
        throw usage(
            "COMMAND: there is no \""
                + command
                + "\", but "
                + spec.parent().commandLine().getSubcommands().keySet());
      }
    }
    explained.usage(out());
    return 0;
  }
}
