package dev.minifloat;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Assertions on how calls are refused. */
public final class Refusals {
  private Refusals() {}

  /** A wrong argument, whose message begins with its name and a colon. */
  public static void assertRefused(String argument, Runnable call) {
    String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
    assertTrue(message.startsWith(argument + ":"), message);
  }

  /** A use after close. */
  public static void assertClosed(Runnable call) {
    String message = assertThrows(IllegalStateException.class, call::run).getMessage();
    assertTrue(message.contains("closed"), message);
  }

  /** A combination that the backend does not offer; the message names all of {@code parts}. */
  public static void assertUnsupported(Runnable call, String... parts) {
    String message = assertThrows(UnsupportedOpException.class, call::run).getMessage();
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }
}
