package dev.minifloat.cli.convert;

import dev.minifloat.formats.OnnxAttribute;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.OnnxNode;
import dev.minifloat.formats.TensorInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the weights of linear layers in an ONNX graph.
 *
 * <p>MatMul takes them as [in, out], under a name that the exporter made up; the Add that follows
 * has the layer's bias, whose name is the layer's. Gemm takes [in, out] or, with {@code transB},
 * [out, in], and the bias itself.
 */
final class OnnxLinear {
  private static final String BIAS = "bias";

  /**
   * How a graph uses a weight.
   *
   * @param name what it should be called: {@code ….weight} after {@code ….bias}, else its own name
   * @param transposed whether it is stored as [in, out]
   */
  record Use(String name, boolean transposed) {}

  private final OnnxFile file;
  private final Map<String, OnnxNode> adds = new HashMap<>();
  private final Map<String, Use> uses = new LinkedHashMap<>();
  private final Set<String> otherwise = new HashSet<>();

  private OnnxLinear(OnnxFile file) {
    this.file = file;
  }

  /** Weights by the name of their initializer. One that is also used otherwise is left out. */
  static Map<String, Use> of(OnnxFile file) {
    OnnxLinear linear = new OnnxLinear(file);
    for (OnnxNode node : file.nodes()) {
      if (node.opType().equals("Add")) {
        node.inputs().forEach(input -> linear.adds.putIfAbsent(input, node));
      }
    }
    file.nodes().forEach(linear::visit);
    linear.uses.keySet().removeAll(linear.otherwise);
    return linear.uses;
  }

  private void visit(OnnxNode node) {
    List<String> inputs = node.inputs();
    for (int i = 0; i < inputs.size(); i++) {
      String input = inputs.get(i);
      Optional<TensorInfo> weight = file.find(input).filter(info -> info.shape().rank() == 2);
      if (weight.isEmpty()) {
        continue;
      }
      boolean transposed = node.opType().equals("MatMul") || !isSet(node, "transB");
      if (i != 1 || !(node.opType().equals("MatMul") || node.opType().equals("Gemm"))) {
        otherwise.add(input);
      } else if (uses.containsKey(input)) {
        if (uses.get(input).transposed() != transposed) {
          otherwise.add(input);
        }
      } else {
        uses.put(input, new Use(bias(node).map(OnnxLinear::weightOf).orElse(input), transposed));
      }
    }
  }

  private static boolean isSet(OnnxNode node, String attribute) {
    return node.attributes().get(attribute) instanceof OnnxAttribute.IntValue(long value)
        && value != 0;
  }

  /** The name of the bias that is added to a product. */
  private Optional<String> bias(OnnxNode node) {
    if (node.opType().equals("Gemm")) {
      return node.inputs().size() > 2 ? named(node.inputs().get(2)) : Optional.empty();
    }
    OnnxNode add = node.outputs().isEmpty() ? null : adds.get(node.outputs().getFirst());
    return add == null
        ? Optional.empty()
        : add.inputs().stream().flatMap(input -> named(input).stream()).findFirst();
  }

  private Optional<String> named(String input) {
    return file.find(input)
        .map(TensorInfo::name)
        .filter(name -> name.equals(BIAS) || name.endsWith("." + BIAS));
  }

  private static String weightOf(String bias) {
    return bias.substring(0, bias.length() - BIAS.length()) + "weight";
  }
}
