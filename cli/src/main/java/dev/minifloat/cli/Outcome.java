package dev.minifloat.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One thing that was checked.
 *
 * @param backend what was checked
 * @param name of the check
 * @param failure what is wrong; null for nothing
 */
record Outcome(String backend, String name, String failure) {
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
}
