/**
 * Sentence encoders of the BERT family: texts become vectors whose dot products say how alike the
 * texts are. Any backend computes them, with weights in any format.
 *
 * <p>The ordinary case, a {@link dev.minifloat.encoder.KnownModel} whose jar lies in a folder
 * ({@link dev.minifloat.encoder.KnownModel#fetchCommand} says how it gets there):
 *
 * {@snippet :
 * import dev.minifloat.Backend;
 * import dev.minifloat.Backends;
 * import dev.minifloat.encoder.EncoderOptions;
 * import dev.minifloat.encoder.Fidelity;
 * import dev.minifloat.encoder.KnownModel;
 * import dev.minifloat.encoder.SentenceEncoder;
 * import dev.minifloat.encoder.WeightFormat;
 * import java.nio.file.Path;
 * import java.util.List;
 *
 * public class TwoSentences {
 *   public static void main(String[] args) {
 *     KnownModel model = KnownModel.MINILM;
 *     EncoderOptions options = EncoderOptions.of(model).weights(WeightFormat.F8_ROWS);
 *     try (Backend backend = Backends.best();
 *         SentenceEncoder encoder =
 *             SentenceEncoder.open(backend, model, Path.of(args[0]), options)) {
 *       List<float[]> vectors = encoder.embed(List.of("A cat sleeps.", "The cat is asleep."));
 *       System.out.println(Fidelity.cosine(vectors.get(0), vectors.get(1)));
 *     }
 *   }
 * }
 * }
 *
 * <p>Step by step, for files from elsewhere, or to share the weights between encoders of several
 * formats:
 *
 * {@snippet :
 * import dev.minifloat.Backend;
 * import dev.minifloat.Backends;
 * import dev.minifloat.encoder.BertWeights;
 * import dev.minifloat.encoder.EncoderOptions;
 * import dev.minifloat.encoder.Fidelity;
 * import dev.minifloat.encoder.KnownModel;
 * import dev.minifloat.encoder.ModelArchive;
 * import dev.minifloat.encoder.SentenceEncoder;
 * import dev.minifloat.encoder.WordPieceTokenizer;
 * import dev.minifloat.formats.OnnxFile;
 * import java.nio.file.Path;
 * import java.util.List;
 *
 * public class StepByStep {
 *   public static void main(String[] args) {
 *     KnownModel model = KnownModel.MINILM;
 *     ModelArchive archive = ModelArchive.open(model, Path.of(args[0]));
 *     WordPieceTokenizer tokenizer = archive.tokenizer();
 *     try (Backend backend = Backends.best();
 *         OnnxFile file = OnnxFile.open(archive.onnx())) {
 *       BertWeights weights = BertWeights.read(file, model.heads());
 *       EncoderOptions options = EncoderOptions.of(model);
 *       try (SentenceEncoder encoder =
 *           new SentenceEncoder(backend, weights, tokenizer, options)) {
 *         List<float[]> vectors = encoder.embed(List.of("A cat sleeps.", "The cat is asleep."));
 *         System.out.println(Fidelity.cosine(vectors.get(0), vectors.get(1)));
 *       }
 *     }
 *   }
 * }
 * }
 */
package dev.minifloat.encoder;
