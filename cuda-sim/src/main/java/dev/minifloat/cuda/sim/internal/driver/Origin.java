package dev.minifloat.cuda.sim.internal.driver;

import java.util.List;

/** Where in the client something was made: the frames below the driver's own, innermost first. */
final class Origin {
  private static final int DEPTH = 16;
  private static final StackWalker WALKER = StackWalker.getInstance();

  private Origin() {}

  static List<String> here() {
    String own = Origin.class.getPackageName();
    return WALKER.walk(
        frames ->
            frames
                .filter(frame -> !frame.getClassName().startsWith(own))
                .filter(frame -> !frame.getClassName().startsWith("java.lang.invoke."))
                .filter(frame -> !frame.getClassName().startsWith("jdk.internal."))
                .limit(DEPTH)
                .map(frame -> frame.toStackTraceElement().toString())
                .toList());
  }
}
