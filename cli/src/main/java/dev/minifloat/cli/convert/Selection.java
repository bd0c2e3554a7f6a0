package dev.minifloat.cli.convert;

import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Decides which tensors of a file are weights of linear layers.
 *
 * <p>In an ONNX model the graph says so: they are the matrices that MatMul and Gemm multiply by. In
 * a safetensors file only names can: a matrix of floats whose name ends in {@code weight} and has
 * no part that speaks of an embedding, a norm, a bias, a router or the output head.
 *
 * @param include if not null, what is converted instead: float tensors whose name it finds
 * @param exclude if not null, what is never converted: names that it finds
 */
public record Selection(Pattern include, Pattern exclude) {
  private static final Pattern LINEAR = Pattern.compile("(^|[._])weight$");

  private static final Pattern OTHER =
      Pattern.compile(
          "embed|(^|\\.)(router|gate)(\\.|$)|(^|[._])(wte|wpe|lm_head|bias|rotary|ln_?\\w*"
              + "|\\w*norm\\w*|position\\w*|token_type\\w*|relative_attention\\w*)([._]|$)",
          Pattern.CASE_INSENSITIVE);

  /** What is to become of each tensor, in the order of the file. */
  public List<SourceTensor> of(TensorFile file) {
    Map<String, OnnxLinear.Use> linear =
        file instanceof OnnxFile onnx ? OnnxLinear.of(onnx) : Map.of();
    Set<String> taken = new HashSet<>();
    file.tensors().forEach(tensor -> taken.add(tensor.name()));
    List<SourceTensor> plan = new ArrayList<>();
    for (TensorInfo tensor : file.tensors()) {
      OnnxLinear.Use use = linear.get(tensor.name());
      boolean byDefault = file instanceof OnnxFile ? use != null : isLinearByName(tensor);
      String name = tensor.name();
      if (use != null && taken.add(use.name())) {
        name = use.name();
      }
      boolean transposed = use != null && use.transposed();
      plan.add(new SourceTensor(tensor, name, transposed, isWanted(tensor, name, byDefault)));
    }
    return plan;
  }

  private boolean isWanted(TensorInfo tensor, String name, boolean byDefault) {
    if (!RowSource.isFloat(tensor.type()) || finds(exclude, tensor.name(), name)) {
      return false;
    }
    return include == null ? byDefault : finds(include, tensor.name(), name);
  }

  private static boolean finds(Pattern pattern, String inputName, String outputName) {
    return pattern != null
        && (pattern.matcher(inputName).find() || pattern.matcher(outputName).find());
  }

  private static boolean isLinearByName(TensorInfo tensor) {
    return tensor.shape().rank() == 2
        && LINEAR.matcher(tensor.name()).find()
        && !OTHER.matcher(tensor.name()).find();
  }
}
