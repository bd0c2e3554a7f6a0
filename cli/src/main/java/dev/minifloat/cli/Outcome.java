package dev.minifloat.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One thing that was checked.
 *
 * @param backend what was checked
 * @param name of the check
 * @param failure what is wrong; null for nothing
 * @param trace the failure's stack trace; null for none
 * @param seconds that the check took, with what was checked together with it
 */
record Outcome(String backend, String name, String failure, String trace, double seconds) {
  /** An outcome without a trace, whose time nobody took. */
  Outcome(String backend, String name, String failure) {
    this(backend, name, failure, null, 0);
  }

  /** What a check that threw came to. */
  static Outcome thrown(String backend, String name, Throwable thrown) {
    return new Outcome(backend, name, "threw " + thrown, trace(thrown), 0);
  }

  /** The same with its time. */
  Outcome took(double measured) {
    return new Outcome(backend, name, failure, trace, measured);
  }

  /** What was thrown, in whole. */
  static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  boolean ok() {
    return failure == null;
  }

  @Override
  public String toString() {
    return name + ": " + (ok() ? "OK" : "FAILED, " + failure);
  }

  /** The outcome for programs. */
  Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("backend", backend);
    map.put("check", name);
    map.put("ok", ok());
    map.put("failure", failure);
    return map;
  }

  /** The outcome with its time and all of its failure. */
  Map<String, Object> reportMap() {
    Map<String, Object> map = map();
    map.put("seconds", Math.round(seconds * 1e4) / 1e4);
    if (trace != null) {
      map.put("trace", trace);
    }
    return map;
  }
}
