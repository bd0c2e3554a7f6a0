package dev.minifloat.encoder;

import dev.minifloat.formats.OnnxAttribute;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.OnnxNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the matrices of linear layers in an ONNX graph. Exporters fold the transposition of a
 * weight into an initializer without a telling name ({@code onnx::MatMul_787}); the bias keeps its
 * name, and the Add that takes both the product and the bias tells which matrix belongs to it.
 */
final class OnnxLinears {
  private static final String BIAS = ".bias";

  /**
   * The matrix of a linear layer.
   *
   * @param initializer its name in the file
   * @param inFirst whether it lies as [in, out], as MatMul takes it
   */
  record Linear(String initializer, boolean inFirst) {}

  private OnnxLinears() {}

  /** Linear layers by the name their weight would have, {@code ….query.weight}. */
  static Map<String, Linear> find(OnnxFile file) {
    Map<String, String> matrixOfProduct = new HashMap<>();
    Map<String, Linear> found = new LinkedHashMap<>();
    for (OnnxNode node : file.nodes()) {
      List<String> inputs = node.inputs();
      switch (node.opType()) {
        case "MatMul" -> {
          if (inputs.size() == 2 && isMatrix(file, inputs.get(1))) {
            node.outputs().forEach(product -> matrixOfProduct.put(product, inputs.get(1)));
          }
        }
        case "Add" -> {
          if (inputs.size() == 2) {
            addend(inputs.get(0), inputs.get(1), file, matrixOfProduct, found);
            addend(inputs.get(1), inputs.get(0), file, matrixOfProduct, found);
          }
        }
        case "Gemm" -> {
          if (inputs.size() == 3 && isMatrix(file, inputs.get(1)) && isBias(file, inputs.get(2))) {
            boolean transposed =
                node.attributes().get("transB") instanceof OnnxAttribute.IntValue(long flag)
                    && flag != 0;
            found.put(weightName(inputs.get(2)), new Linear(inputs.get(1), !transposed));
          }
        }
        default -> {
          // Other operators have no linear layer in them.
        }
      }
    }
    return found;
  }

  private static void addend(
      String bias,
      String product,
      OnnxFile file,
      Map<String, String> matrixOfProduct,
      Map<String, Linear> found) {
    String matrix = matrixOfProduct.get(product);
    if (matrix != null && isBias(file, bias)) {
      found.put(weightName(bias), new Linear(matrix, true));
    }
  }

  private static boolean isMatrix(OnnxFile file, String name) {
    return file.find(name).filter(info -> info.shape().rank() == 2).isPresent();
  }

  private static boolean isBias(OnnxFile file, String name) {
    return name.endsWith(BIAS)
        && file.find(name).filter(info -> info.shape().rank() == 1).isPresent();
  }

  private static String weightName(String bias) {
    return bias.substring(0, bias.length() - BIAS.length()) + ".weight";
  }
}
