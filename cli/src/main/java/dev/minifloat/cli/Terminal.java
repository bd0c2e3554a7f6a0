package dev.minifloat.cli;

import java.io.Console;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Whether someone watches. */
final class Terminal {
  private static final int STANDARD_INPUT = 0;
  private static final int STANDARD_OUTPUT = 1;
  private static final int STANDARD_ERROR = 2;

  private Terminal() {}

  /** Whether standard error is a terminal. */
  static boolean isStandardError() {
    return isTerminal(STANDARD_ERROR);
  }

  /** Whether somebody types at standard input and reads standard output. */
  static boolean isInteractive() {
    return isTerminal(STANDARD_INPUT) && isTerminal(STANDARD_OUTPUT);
  }

  /**
   * Asks POSIX's {@code isatty}; where that, or the permission to call it, is missing, the JDK's
   * answer about standard input and output must do.
   */
  @SuppressWarnings("SystemConsoleNull") // from JDK 25 on it is null again where nobody watches
  private static boolean isTerminal(int descriptor) {
    if (Terminal.class.getModule().isNativeAccessEnabled()) {
      Linker linker = Linker.nativeLinker();
      Optional<MemorySegment> isatty = linker.defaultLookup().find("isatty");
      if (isatty.isPresent()) {
        return call(linker, isatty.get(), descriptor);
      }
    }
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  /** Whether colours are welcome: not where NO_COLOR is set, nor on a terminal that is dumb. */
  static boolean wantsColor() {
    String no = System.getenv("NO_COLOR");
    return (no == null || no.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
  }

  private static boolean call(Linker linker, MemorySegment isatty, int descriptor) {
    FunctionDescriptor signature =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    try {
      return (int) linker.downcallHandle(isatty, signature).invokeExact(descriptor) == 1;
    } catch (Throwable e) {
      throw new IllegalStateException("Calling isatty: " + e, e);
    }
  }
}
