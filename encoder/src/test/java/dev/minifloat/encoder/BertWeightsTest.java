package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Pooling;
import dev.minifloat.Scope;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.SafetensorsFile;
import dev.minifloat.formats.SafetensorsWriter;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Weights found in files, whatever the files call them. */
class BertWeightsTest {
  private static final int HEADS = TinyBert.CONFIG.heads();
  private static final int[][] TEXTS = TinyBert.texts(11, 4, 7);

  private final Map<String, HostTensor> tensors = new TreeMap<>(TinyBert.weights(12));

  @TempDir Path folder;

  /** How a graph computes a linear layer. */
  private enum Export {
    BIAS_FIRST,
    BIAS_LAST,
    GEMM,
    GEMM_TRANSPOSED,
    WITHOUT_BIAS
  }

  private OnnxFile onnx(Export export, String prefix) {
    OnnxBytes bytes = new OnnxBytes();
    List<String> linears = new ArrayList<>();
    tensors.forEach(
        (name, tensor) -> {
          boolean linear = name.startsWith("encoder.") && tensor.shape().rank() == 2;
          if (linear) {
            linears.add(name);
          } else {
            bytes.initializer(prefix + name, tensor);
          }
        });
    // Numbered against the order of the layers, so that only the graph can tell which is which.
    Collections.reverse(linears);
    for (int i = 0; i < linears.size(); i++) {
      String matrix = "onnx::MatMul_" + i;
      String bias = prefix + linears.get(i).replace(".weight", ".bias");
      String product = "product" + i;
      HostTensor weight = tensors.get(linears.get(i));
      bytes.initializer(matrix, export == Export.GEMM_TRANSPOSED ? weight : turned(weight));
      switch (export) {
        case BIAS_FIRST ->
            bytes
                .node("MatMul", List.of("x", matrix), product)
                .node("Add", List.of(bias, product), "y" + i);
        case BIAS_LAST ->
            bytes
                .node("MatMul", List.of("x", matrix), product)
                .node("Add", List.of(product, bias), "y" + i);
        case GEMM -> bytes.node("Gemm", List.of("x", matrix, bias), "y" + i);
        case GEMM_TRANSPOSED -> bytes.transposedGemm(List.of("x", matrix, bias), "y" + i);
        case WITHOUT_BIAS -> bytes.node("MatMul", List.of("x", matrix), product);
      }
    }
    return OnnxFile.of(MemorySegment.ofArray(bytes.model()), "tiny.onnx");
  }

  private static HostTensor turned(HostTensor matrix) {
    try (ReferenceBackend backend = new ReferenceBackend();
        Scope scope = backend.scope()) {
      return scope.download(scope.copy(scope.upload(matrix).transposed()));
    }
  }

  private void assertSameEmbeddings(TensorFile file) {
    EncoderOptions options = EncoderOptions.of(Pooling.MEAN).maxTokens(24);
    try (ReferenceBackend backend = new ReferenceBackend();
        SentenceEncoder expected =
            new SentenceEncoder(backend, BertWeights.of(tensors, HEADS), null, options);
        SentenceEncoder actual =
            new SentenceEncoder(backend, BertWeights.read(file, HEADS), null, options)) {
      assertEquals(TinyBert.CONFIG, actual.config());
      List<float[]> vectors = actual.embedTokens(TEXTS);
      List<float[]> wanted = expected.embedTokens(TEXTS);
      for (int i = 0; i < TEXTS.length; i++) {
        assertArrayEquals(wanted.get(i), vectors.get(i));
      }
    }
  }

  @Test
  void onnxMatricesAreFoundByTheBiasAddedToTheirProduct() {
    assertSameEmbeddings(onnx(Export.BIAS_FIRST, ""));
    assertSameEmbeddings(onnx(Export.BIAS_LAST, ""));
  }

  @Test
  void onnxGemmsTellWhetherTheirMatrixIsTransposed() {
    assertSameEmbeddings(onnx(Export.GEMM, ""));
    assertSameEmbeddings(onnx(Export.GEMM_TRANSPOSED, ""));
  }

  @Test
  void namesMayHaveAPrefix() {
    assertSameEmbeddings(onnx(Export.BIAS_FIRST, "bert."));
  }

  @Test
  void safetensorsAreReadByName() {
    Path path = folder.resolve("tiny.safetensors");
    SafetensorsWriter.Plan plan = SafetensorsWriter.to(path);
    tensors.forEach((name, t) -> plan.tensor("bert." + name, StorageType.F32, t.shape()));
    try (SafetensorsWriter writer = plan.create()) {
      tensors.forEach((name, tensor) -> writer.append("bert." + name, tensor.data()));
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      assertSameEmbeddings(file);
    }
  }

  @Test
  void matricesOfSixteenBitsAreRead() {
    try (ReferenceBackend backend = new ReferenceBackend();
        Scope scope = backend.scope()) {
      tensors.replaceAll(
          (_, tensor) -> scope.download(scope.convert(scope.upload(tensor), DType.F16)));
    }
    assertSameEmbeddings(onnx(Export.BIAS_FIRST, ""));
  }

  @Test
  void aGraphWithoutItsBiasesSaysWhatIsMissing() {
    assertFails(
        () -> BertWeights.read(onnx(Export.WITHOUT_BIAS, ""), HEADS),
        "tiny.onnx",
        "encoder.layer.0.intermediate.dense.weight",
        "no matrix whose product it is added to");
  }

  @Test
  void eachMissingTensorIsNamed() {
    for (String name : List.copyOf(tensors.keySet())) {
      HostTensor removed = tensors.remove(name);
      assertFails(() -> BertWeights.of(tensors, HEADS), "memory", name);
      tensors.put(name, removed);
    }
  }

  @Test
  void eachWrongShapeIsNamed() {
    for (String name : List.copyOf(tensors.keySet())) {
      HostTensor original = tensors.put(name, HostTensor.of(new float[5], 5, 1, 1));
      assertFails(() -> BertWeights.of(tensors, HEADS), name, "[5, 1, 1]");
      tensors.put(name, original);
    }
  }

  @Test
  void integersAreNoWeights() {
    String name = "embeddings.LayerNorm.bias";
    tensors.put(name, HostTensor.of(new int[TinyBert.CONFIG.hidden()]));
    assertFails(() -> BertWeights.of(tensors, HEADS), name, "I32");
  }

  @Test
  void aModelWithoutLayersIsRefused() {
    tensors.keySet().removeIf(name -> name.startsWith("encoder."));
    assertFails(() -> BertWeights.of(tensors, HEADS), "no layer");
  }

  private static void assertFails(Runnable call, String... parts) {
    MinifloatException e = assertThrows(MinifloatException.class, call::run);
    for (String part : parts) {
      assertTrue(e.getMessage().contains(part), e.getMessage());
    }
  }
}
