package dev.minifloat.encoder;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes the resources of {@link ExpectedEmbeddings} again, for when the sentences change. Takes
 * the folder of the models' jars and the folder to write to.
 */
final class WriteExpectedEmbeddings {
  private WriteExpectedEmbeddings() {}

  public static void main(String[] args) throws Exception {
    for (KnownModel model : KnownModel.values()) {
      double[][] vectors = compute(model, Path.of(args[0]));
      ByteBuffer bytes =
          ByteBuffer.allocate(vectors.length * vectors[0].length * Float.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN);
      for (double[] vector : vectors) {
        for (double value : vector) {
          bytes.putFloat((float) value);
        }
      }
      Files.write(Path.of(args[1], "onnxruntime-" + model.modelName() + ".bin"), bytes.array());
    }
  }

  /** The sentences' embeddings by ONNX Runtime. */
  static double[][] compute(KnownModel model, Path modelsDir) throws Exception {
    ModelArchive archive = ModelArchive.open(model, modelsDir);
    WordPieceTokenizer tokenizer = archive.tokenizer();
    int[][] texts =
        SampleSentences.dozen().stream()
            .map(sentence -> tokenizer.encode(model.queryPrefix() + sentence).ids())
            .toArray(int[][]::new);
    try (OnnxRuntime runtime = new OnnxRuntime(archive.onnx())) {
      return runtime.embed(texts, model.pooling());
    }
  }
}
