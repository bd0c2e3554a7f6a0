package dev.minifloat.formats;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A node of an ONNX graph.
 *
 * @param name its name, perhaps empty
 * @param opType the operator, such as {@code MatMul}
 * @param domain the operator set that defines it; empty for ONNX's own
 * @param inputs the values it takes, which are initializers, graph inputs or outputs of other
 *     nodes; an optional input left out is an empty name
 * @param outputs the values it makes
 * @param attributes its attributes by name
 */
public record OnnxNode(
    String name,
    String opType,
    String domain,
    List<String> inputs,
    List<String> outputs,
    Map<String, OnnxAttribute> attributes) {
  /** Keeps copies of the lists and the map. */
  public OnnxNode {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(opType, "opType");
    Objects.requireNonNull(domain, "domain");
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    attributes = Map.copyOf(attributes);
  }
}
