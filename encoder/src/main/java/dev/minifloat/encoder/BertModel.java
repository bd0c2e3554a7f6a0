package dev.minifloat.encoder;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The forward pass: uploads and quantizes the weights once, then computes with any number of
 * threads. Shapes below: B texts, S tokens of the longest, H the width of a token's vector.
 */
final class BertModel {
  /** A linear layer: the matrix [in, out] in the format of the weights, the bias [out] in F32. */
  private record Linear(Tensor weight, Tensor bias) {}

  /** A normalization: gain and shift [H], in F32. */
  private record Norm(Tensor gain, Tensor shift) {}

  /**
   * The parts of a layer.
   *
   * @param projections query, key and value: three linear layers, or one that gives all three side
   *     by side
   */
  private record Layer(
      List<Linear> projections,
      Linear attentionOutput,
      Norm attentionNorm,
      Linear up,
      Linear down,
      Norm outputNorm) {}

  /**
   * Brings weights to where they are used.
   *
   * @param owner owns the tensors
   * @param quantizer quantizes them: the owner's backend, or another, whose tensors are copied
   */
  private record Loader(Scope owner, Backend quantizer, BertWeights weights) {
    Loader into(Scope other) {
      return new Loader(other, quantizer, weights);
    }

    /** Matrices of that name, one below the other, or the vectors one behind the other. */
    Tensor load(QuantSpec format, String... names) {
      try (Scope temporary = quantizer.scope()) {
        Tensor plain = weights.uploadRows(temporary, names);
        return quantizer.equals(owner.backend())
            ? owner.quantize(plain, format)
            : owner.upload(temporary.download(temporary.quantize(plain, format)));
      }
    }
  }

  private final BertConfig config;
  private final EncoderOptions options;
  private final Tensor words;
  private final Tensor positions;
  private final Tensor types;
  private final Norm embeddingNorm;
  private final List<Layer> layers = new ArrayList<>();
  private long linearBytes;
  private long packedBytes;
  private long tableBytes;
  private long vectorBytes;

  /**
   * Uploads and quantizes the weights.
   *
   * @param owner owns them
   * @param quantizer quantizes them, and isn't used any more after that
   */
  BertModel(Scope owner, Backend quantizer, BertWeights weights, EncoderOptions options) {
    Loader loader = new Loader(owner, quantizer, weights);
    this.config = weights.config();
    this.options = options;
    this.words = table(loader, BertWeights.WORDS);
    this.positions = table(loader, BertWeights.POSITIONS);
    this.types = table(loader, BertWeights.TYPES);
    this.embeddingNorm = norm(loader, BertWeights.EMBEDDING_NORM);
    for (int i = 0; i < config.layers(); i++) {
      layers.add(
          new Layer(
              projections(
                  loader,
                  BertWeights.layer(i, BertWeights.QUERY),
                  BertWeights.layer(i, BertWeights.KEY),
                  BertWeights.layer(i, BertWeights.VALUE)),
              linear(loader, BertWeights.layer(i, BertWeights.ATTENTION_OUTPUT)),
              norm(loader, BertWeights.layer(i, BertWeights.ATTENTION_NORM)),
              linear(loader, BertWeights.layer(i, BertWeights.UP)),
              linear(loader, BertWeights.layer(i, BertWeights.DOWN)),
              norm(loader, BertWeights.layer(i, BertWeights.OUTPUT_NORM))));
    }
  }

  /** One product of the same input costs less than three: the input is packed once. */
  private List<Linear> projections(Loader loader, String... parts) {
    if (scalesEndWithRows(options.weights().linear().scaling(), config.hidden())) {
      return List.of(linear(loader, parts));
    }
    return Stream.of(parts).map(part -> linear(loader, part)).toList();
  }

  /** Whether matrices of {@code rows} rows have the same scales apart and one below the other. */
  private static boolean scalesEndWithRows(Scaling scaling, int rows) {
    return switch (scaling) {
      case Scaling.None _, Scaling.Rows _, Scaling.Mx _ -> true;
      case Scaling.Block block -> rows % block.rows() == 0;
      case Scaling.PerTensor _, Scaling.Columns _, Scaling.NvFp4 _ -> false;
    };
  }

  private Tensor table(Loader loader, String name) {
    Tensor table = loader.load(options.weights().tables(), name);
    tableBytes += table.byteSize();
    return table;
  }

  /** The linear layer that gives the results of all parts, one after the other. */
  private Linear linear(Loader loader, String... parts) {
    return new Linear(
        matrix(loader, suffixed(parts, ".weight")), vector(loader, suffixed(parts, ".bias")));
  }

  private Tensor matrix(Loader loader, String... names) {
    QuantSpec format = options.weights().linear();
    if (!options.packed()) {
      Tensor matrix = loader.load(format, names);
      linearBytes += matrix.byteSize();
      return matrix.transposed();
    }
    try (Scope temporary = loader.owner.backend().scope()) {
      Tensor matrix = loader.into(temporary).load(format, names);
      Tensor packed = loader.owner.pack(matrix.transposed());
      linearBytes += matrix.byteSize();
      packedBytes += packed.byteSize() - matrix.byteSize();
      return packed;
    }
  }

  private static String[] suffixed(String[] parts, String suffix) {
    return Stream.of(parts).map(part -> part + suffix).toArray(String[]::new);
  }

  private Norm norm(Loader loader, String part) {
    return new Norm(vector(loader, part + ".weight"), vector(loader, part + ".bias"));
  }

  private Tensor vector(Loader loader, String... names) {
    Tensor vector = loader.load(WeightFormat.F32.linear(), names);
    vectorBytes += vector.byteSize();
    return vector;
  }

  /** Bytes of the weights. */
  Footprint footprint() {
    return new Footprint(linearBytes, packedBytes, tableBytes, vectorBytes);
  }

  /**
   * The normalized embeddings of a batch.
   *
   * @param scope owns the result
   * @return F32 [B, H]
   */
  Tensor embed(Scope scope, TokenBatch batch) {
    int texts = batch.texts();
    int tokens = batch.tokens();
    Tensor lengths = scope.upload(HostTensor.of(batch.lengths(), texts));
    Tensor x = embeddings(scope, batch);
    for (Layer layer : layers) {
      Tensor next = layer(scope, layer, x, texts, tokens, lengths);
      x.close();
      x = next;
    }
    Tensor vectors = x.reshape(texts, tokens, config.hidden());
    Tensor pooled = scope.pool(vectors, options.pooling(), lengths);
    return scope.l2Normalize(scope.dequantize(pooled));
  }

  /** The sum of the three tables' rows, normalized: [B·S, H]. The sums are taken in F32. */
  private Tensor embeddings(Scope scope, TokenBatch batch) {
    try (Scope temporary = scope.backend().scope()) {
      Tensor word = gather(temporary, words, batch.ids());
      Tensor type = gather(temporary, types, batch.typeIds());
      Tensor position = gather(temporary, positions, batch.positions());
      Tensor sum = temporary.add(temporary.add(word, type), position);
      Tensor normalized = normalize(temporary, sum, embeddingNorm);
      return scope.convert(normalized, options.activations());
    }
  }

  private static Tensor gather(Scope scope, Tensor table, int[] rows) {
    return scope.embedding(table, scope.upload(HostTensor.of(rows, rows.length)), DType.F32);
  }

  private Tensor normalize(Scope scope, Tensor x, Norm norm) {
    return scope.layerNorm(x, norm.gain, norm.shift, config.epsilon());
  }

  /** One layer: [B·S, H] to [B·S, H]; only the result outlives the call. */
  private Tensor layer(Scope scope, Layer layer, Tensor x, int texts, int tokens, Tensor lengths) {
    try (Scope temporary = scope.backend().scope()) {
      Tensor context = attention(temporary, layer, x, texts, tokens, lengths);
      Tensor attended =
          normalize(
              temporary,
              temporary.gemm(product(temporary, context, layer.attentionOutput).plus(1, x)),
              layer.attentionNorm);
      Tensor wide =
          temporary.gemm(product(temporary, attended, layer.up).activation(Activation.GELU_ERF));
      Tensor down = temporary.gemm(product(temporary, wide, layer.down).plus(1, attended));
      return normalize(scope, down, layer.outputNorm);
    }
  }

  /** What each token sees of its text: [B·S, H]. */
  private Tensor attention(
      Scope scope, Layer layer, Tensor x, int texts, int tokens, Tensor lengths) {
    Tensor input = linearInput(scope, x);
    List<Tensor> projected = new ArrayList<>();
    for (Linear projection : layer.projections) {
      Tensor all = heads(scope.gemm(of(input, projection)), texts, tokens);
      for (long head = 0; head < all.shape().dim(1); head += config.heads()) {
        projected.add(all.slice(1, head, head + config.heads()));
      }
    }
    Tensor query = projected.get(0);
    Tensor key = projected.get(1);
    Tensor value = projected.get(2);
    float scale = (float) (1 / Math.sqrt(config.headWidth()));
    Tensor context =
        scope.backend().supports(Op.ATTENTION, x.dtype(), Scaling.none())
            ? scope.attention(Attention.of(query, key, value).scale(scale).lengths(lengths))
            : composed(scope, query, key, value, scale, lengths);
    return context.transposed(1, 2).reshape((long) texts * tokens, config.hidden());
  }

  /** Attention where a backend has none: by products and softmax, laid out alike. */
  private static Tensor composed(
      Scope scope, Tensor query, Tensor key, Tensor value, float scale, Tensor lengths) {
    // The scores grow with the square of the length, so they go as early as can be.
    try (Scope quadratic = scope.backend().scope()) {
      Tensor scores = quadratic.gemm(Gemm.of(query, key.transposed()).output(query.dtype()));
      Tensor attention = quadratic.softmax(Softmax.of(scores).scale(scale).lengths(lengths));
      Tensor context = quadratic.gemm(Gemm.of(attention, value).output(query.dtype()));
      return scope.copy(context.transposed(1, 2)).transposed(1, 2);
    }
  }

  /** [B·S, n · width of a head] as [B, n, S, width of a head]. */
  private Tensor heads(Tensor x, int texts, int tokens) {
    long heads = x.shape().columns() / config.headWidth();
    return x.reshape(texts, tokens, heads, config.headWidth()).transposed(1, 2);
  }

  private Gemm product(Scope scope, Tensor x, Linear linear) {
    return of(linearInput(scope, x), linear);
  }

  private Gemm of(Tensor input, Linear linear) {
    return Gemm.of(input, linear.weight).bias(linear.bias).output(options.activations());
  }

  private Tensor linearInput(Scope scope, Tensor x) {
    return options.linearInputs() == null ? x : scope.quantize(x, options.linearInputs());
  }
}
