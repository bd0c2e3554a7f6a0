package dev.minifloat.cli.report;

import dev.minifloat.BackendInfo;
import java.util.List;

/**
 * All formats on one backend.
 *
 * @param name the backend's name
 * @param info what it runs on
 * @param differenceFromOnnxRuntime the largest difference of a component of the F32 embeddings from
 *     what ONNX Runtime gives
 * @param formats in the order they were asked for, F32 first
 */
public record BackendResult(
    String name, BackendInfo info, double differenceFromOnnxRuntime, List<FormatResult> formats) {
  /** Keeps a copy. */
  public BackendResult {
    formats = List.copyOf(formats);
  }

  /** How often each format was timed, as a sentence. */
  public String timing() {
    int least = formats.stream().mapToInt(FormatResult::repetitions).min().orElse(0);
    return least <= 1
        ? "Each format was timed once on " + name + ", without warming up."
        : "Each format was timed " + least + " times on " + name + ", after warming up.";
  }
}
