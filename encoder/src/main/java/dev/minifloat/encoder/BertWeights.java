package dev.minifloat.encoder;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Operations;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorInfo;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The weights of a BERT-family encoder in host memory, by the names that PyTorch's BertModel gives
 * them: {@code embeddings.word_embeddings.weight}, {@code
 * encoder.layer.0.attention.self.query.weight} and so on. Nothing is copied: the memory is the
 * file's, or the caller's, and must outlive this.
 *
 * <p>A matrix of a linear layer counts as [out, in] here, however it lies in the file.
 */
public final class BertWeights {
  static final String WORDS = "embeddings.word_embeddings.weight";
  static final String POSITIONS = "embeddings.position_embeddings.weight";
  static final String TYPES = "embeddings.token_type_embeddings.weight";
  static final String EMBEDDING_NORM = "embeddings.LayerNorm";
  static final String QUERY = "attention.self.query";
  static final String KEY = "attention.self.key";
  static final String VALUE = "attention.self.value";
  static final String ATTENTION_OUTPUT = "attention.output.dense";
  static final String ATTENTION_NORM = "attention.output.LayerNorm";
  static final String UP = "intermediate.dense";
  static final String DOWN = "output.dense";
  static final String OUTPUT_NORM = "output.LayerNorm";

  private static final Pattern LAYER = Pattern.compile("encoder\\.layer\\.(\\d{1,4})\\..*");

  /**
   * A tensor as it lies in memory.
   *
   * @param host its data
   * @param inFirst whether it is the matrix of a linear layer that lies as [in, out]
   */
  private record Stored(HostTensor host, boolean inFirst) {
    Shape shape() {
      Shape shape = host.shape();
      return inFirst ? Shape.of(shape.columns(), shape.rows()) : shape;
    }
  }

  private final String source;
  private final Map<String, Stored> tensors;
  private final BertConfig config;

  private BertWeights(String source, Map<String, Stored> tensors, int heads) {
    this.source = source;
    this.tensors = tensors;
    Shape words = matrix(WORDS);
    int layers = 0;
    for (String name : tensors.keySet()) {
      Matcher matcher = LAYER.matcher(name);
      if (matcher.matches()) {
        layers = Math.max(layers, Integer.parseInt(matcher.group(1)) + 1);
      }
    }
    if (layers == 0) {
      throw new MinifloatException(
          "The encoder of " + source + " has no layer: no tensor is called encoder.layer.0.…");
    }
    this.config =
        new BertConfig(
            layers,
            heads,
            extent(words.columns()),
            extent(matrix(layer(0, UP) + ".weight").rows()),
            extent(words.rows()),
            extent(matrix(POSITIONS).rows()),
            extent(matrix(TYPES).rows()),
            BertConfig.EPSILON);
    checkShapes();
  }

  /**
   * Weights in memory.
   *
   * @param tensors by name; matrices of linear layers as [out, in]; F32, F16 or BF16
   * @param heads attention heads of a layer, which no shape tells
   * @throws MinifloatException if a tensor is missing or has the wrong shape or type
   * @throws IllegalArgumentException if heads does not divide the width of a token's vector
   */
  public static BertWeights of(Map<String, HostTensor> tensors, int heads) {
    Map<String, Stored> stored = new HashMap<>();
    tensors.forEach((name, host) -> stored.put(name, new Stored(host, false)));
    return new BertWeights("memory", stored, heads);
  }

  /**
   * Weights of an open file, ONNX or safetensors, which must stay open as long as this is used.
   * Names may have a common prefix, such as {@code bert.}. In ONNX files the matrices of linear
   * layers are found by the bias that is added to their product.
   *
   * @param heads attention heads of a layer, which no shape tells
   * @throws MinifloatException if a tensor is missing or has the wrong shape or type, naming file
   *     and tensor
   * @throws IllegalArgumentException if heads does not divide the width of a token's vector
   */
  public static BertWeights read(TensorFile file, int heads) {
    String prefix =
        file.tensors().stream()
            .map(TensorInfo::name)
            .filter(name -> name.endsWith(WORDS))
            .map(name -> name.substring(0, name.length() - WORDS.length()))
            .findFirst()
            .orElse("");
    Map<String, Stored> stored = new LinkedHashMap<>();
    for (TensorInfo info : file.tensors()) {
      if (info.name().startsWith(prefix)) {
        info.type()
            .dtype()
            .ifPresent(
                dtype ->
                    stored.put(
                        info.name().substring(prefix.length()),
                        new Stored(host(file, info, dtype), false)));
      }
    }
    if (file instanceof OnnxFile onnx) {
      OnnxLinears.find(onnx)
          .forEach(
              (name, linear) -> {
                TensorInfo info = file.info(linear.initializer());
                if (name.startsWith(prefix) && info.type().dtype().isPresent()) {
                  HostTensor host = host(file, info, info.type().dtype().get());
                  stored.put(name.substring(prefix.length()), new Stored(host, linear.inFirst()));
                }
              });
    }
    return new BertWeights(file.path().toString(), stored, heads);
  }

  private static HostTensor host(TensorFile file, TensorInfo info, DType dtype) {
    return HostTensor.wrap(dtype, info.shape(), file.data(info.name()));
  }

  /** The extents of the encoder. */
  public BertConfig config() {
    return config;
  }

  /** Where the weights come from, for messages. */
  public String source() {
    return source;
  }

  /** The name of a part of a layer, without {@code .weight} or {@code .bias}. */
  static String layer(int index, String part) {
    return "encoder.layer." + index + "." + part;
  }

  /**
   * Copies a tensor to a backend; the matrix of a linear layer comes as [out, in], perhaps as a
   * transposed view.
   */
  Tensor upload(Operations operations, String name) {
    Stored stored = stored(name);
    Tensor uploaded = operations.upload(stored.host);
    return stored.inFirst ? uploaded.transposed() : uploaded;
  }

  /** As {@link #upload}, several tensors of one shape, the rows of one below those of another. */
  Tensor uploadRows(Operations operations, String... names) {
    if (names.length == 1) {
      return upload(operations, names[0]);
    }
    Shape shape = stored(names[0]).shape();
    int elements = Math.toIntExact(shape.elements());
    float[] all = new float[Math.multiplyExact(names.length, elements)];
    for (int i = 0; i < names.length; i++) {
      float[] values = operations.download(upload(operations, names[i])).toFloats();
      System.arraycopy(values, 0, all, i * elements, elements);
    }
    long[] dims = shape.dims();
    dims[0] *= names.length;
    return operations.upload(HostTensor.of(all, dims));
  }

  private Stored stored(String name) {
    return Optional.ofNullable(tensors.get(name))
        .orElseThrow(() -> new MinifloatException(missing(name)));
  }

  private String missing(String name) {
    String message = "The encoder of " + source + " lacks the tensor " + name;
    String bias = name.replaceFirst("\\.weight$", ".bias");
    if (!bias.equals(name) && tensors.containsKey(bias)) {
      message +=
          ": there is "
              + bias
              + ", but no matrix whose product it is added to; a graph that an optimizer has fused"
              + " can't be read, export the model without optimization";
    }
    return message;
  }

  private Shape matrix(String name) {
    Shape shape = stored(name).shape();
    if (shape.rank() != 2) {
      throw wrongShape(name, shape, "a matrix");
    }
    return shape;
  }

  private static int extent(long extent) {
    return Math.toIntExact(Math.min(extent, Integer.MAX_VALUE));
  }

  private void checkShapes() {
    int hidden = config.hidden();
    int wide = config.intermediate();
    check(WORDS, config.vocabulary(), hidden);
    check(POSITIONS, config.positions(), hidden);
    check(TYPES, config.types(), hidden);
    checkPair(EMBEDDING_NORM, hidden);
    for (int i = 0; i < config.layers(); i++) {
      checkPair(layer(i, QUERY), hidden, hidden);
      checkPair(layer(i, KEY), hidden, hidden);
      checkPair(layer(i, VALUE), hidden, hidden);
      checkPair(layer(i, ATTENTION_OUTPUT), hidden, hidden);
      checkPair(layer(i, ATTENTION_NORM), hidden);
      checkPair(layer(i, UP), wide, hidden);
      checkPair(layer(i, DOWN), hidden, wide);
      checkPair(layer(i, OUTPUT_NORM), hidden);
    }
  }

  private void checkPair(String part, long... weight) {
    check(part + ".weight", weight);
    check(part + ".bias", weight[0]);
  }

  private void check(String name, long... dims) {
    Stored stored = stored(name);
    if (!stored.shape().equals(Shape.of(dims))) {
      throw wrongShape(name, stored.shape(), Shape.of(dims).toString());
    }
    DType dtype = stored.host.dtype();
    if (dtype != DType.F32 && dtype != DType.F16 && dtype != DType.BF16) {
      throw new MinifloatException(
          "The encoder of "
              + source
              + " has "
              + name
              + " as "
              + dtype
              + "; only F32, F16 and BF16 can be read");
    }
  }

  private MinifloatException wrongShape(String name, Shape actual, String expected) {
    return new MinifloatException(
        "The encoder of %s has %s of shape %s; expected %s"
            .formatted(source, name, actual, expected));
  }
}
