package dev.minifloat.cli.report;

import java.util.List;
import java.util.Map;

/**
 * Everything that the demo's report says.
 *
 * @param model the model's name
 * @param command the command that makes the report again
 * @param facts what it ran on and how: processor, JDK and so on, in this order
 * @param neighbours the sentences, each with the one nearest to it
 * @param tokens tokens of all sentences together, special ones included
 * @param backends at least one
 */
public record Report(
    String model,
    String command,
    Map<String, String> facts,
    List<Neighbour> neighbours,
    int tokens,
    List<BackendResult> backends) {
  /**
   * A sentence and the nearest other one.
   *
   * @param sentence the sentence
   * @param nearest the other
   * @param cosine their similarity with F32 weights
   */
  public record Neighbour(String sentence, String nearest, double cosine) {}

  /** Checks that there is something to report. */
  public Report {
    neighbours = List.copyOf(neighbours);
    backends = List.copyOf(backends);
    if (backends.isEmpty()) {
      throw new IllegalArgumentException("backends: there is none");
    }
  }
}
