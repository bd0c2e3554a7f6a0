package dev.minifloat.contract;

import dev.minifloat.UnsupportedOpException;

/** Calls that must be refused. */
final class Expect {
  /** A call that may throw. */
  interface Call {
    void run();
  }

  private Expect() {}

  /** Throws unless the call is an {@link IllegalArgumentException} whose message has a word. */
  static void illegalArgument(String what, String argument, Call call) {
    RuntimeException thrown = thrown(call);
    if (!(thrown instanceof IllegalArgumentException)) {
      throw wrong(what, "an IllegalArgumentException naming " + argument, thrown);
    }
    if (thrown.getMessage() == null || !thrown.getMessage().contains(argument)) {
      throw wrong(what, "a message naming the argument " + argument, thrown);
    }
  }

  /** Throws unless the call is an {@link IllegalStateException}. */
  static void illegalState(String what, Call call) {
    RuntimeException thrown = thrown(call);
    if (!(thrown instanceof IllegalStateException)) {
      throw wrong(what, "an IllegalStateException", thrown);
    }
  }

  /** Throws unless the call is refused as not supported. */
  static void unsupported(String what, Call call) {
    RuntimeException thrown = thrown(call);
    if (!(thrown instanceof UnsupportedOpException || thrown instanceof IllegalArgumentException)) {
      throw wrong(what, "an UnsupportedOpException, since supports() denies it", thrown);
    }
  }

  private static RuntimeException thrown(Call call) {
    try {
      call.run();
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static ContractViolation wrong(String what, String expected, RuntimeException thrown) {
    String got = thrown == null ? "nothing was thrown" : "threw " + thrown;
    return new ContractViolation(what + ": " + got + ", expected " + expected, thrown);
  }
}
