package dev.minifloat.encoder;

import dev.minifloat.Backend;
import dev.minifloat.Scope;
import dev.minifloat.formats.OnnxFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Turns texts into vectors of length 1, whose dot product is the texts' similarity, with a model of
 * the BERT family. Everything is computed by a {@link Backend}.
 *
 * <p>Weights are uploaded and quantized once, in the constructor, and freed by {@link #close}; the
 * backend stays open. Any number of threads may use an encoder.
 */
public final class SentenceEncoder implements AutoCloseable {
  private final Backend backend;
  private final Scope owner;
  private final WordPieceTokenizer tokenizer;
  private final EncoderOptions options;
  private final BertConfig config;
  private final BertModel model;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Uploads and quantizes the weights; they are not read after that.
   *
   * @param backend where to compute; must outlive the encoder
   * @param tokenizer cuts texts into tokens; null for an encoder of token ids only
   * @throws IllegalArgumentException if the options or the tokenizer don't fit the model
   */
  public SentenceEncoder(
      Backend backend, BertWeights weights, WordPieceTokenizer tokenizer, EncoderOptions options) {
    this(backend, backend, weights, tokenizer, options);
  }

  /**
   * An encoder whose weights another backend quantizes: all give the same bits, and one may be much
   * faster at it.
   *
   * @param backend where to compute; must outlive the encoder
   * @param quantizer quantizes the weights, which are copied from there; not used after that
   * @param tokenizer cuts texts into tokens; null for an encoder of token ids only
   * @throws IllegalArgumentException if the options or the tokenizer don't fit the model
   */
  public SentenceEncoder(
      Backend backend,
      Backend quantizer,
      BertWeights weights,
      WordPieceTokenizer tokenizer,
      EncoderOptions options) {
    this.backend = Objects.requireNonNull(backend, "backend");
    this.tokenizer = tokenizer;
    this.options = Objects.requireNonNull(options, "options");
    this.config = weights.config();
    if (options.maxTokens() > config.positions()) {
      throw new IllegalArgumentException(
          "options: up to %d tokens, but the model has %d positions"
              .formatted(options.maxTokens(), config.positions()));
    }
    if (tokenizer != null && tokenizer.maxId() >= config.vocabulary()) {
      throw new IllegalArgumentException(
          "tokenizer: its largest id is %d, but the model's word table has %d rows"
              .formatted(tokenizer.maxId(), config.vocabulary()));
    }
    this.owner = backend.scope();
    try {
      this.model =
          new BertModel(owner, Objects.requireNonNull(quantizer, "quantizer"), weights, options);
    } catch (RuntimeException | Error e) {
      owner.close();
      throw e;
    }
  }

  /**
   * An encoder of a known model: reads weights and tokenizer from the model's jar.
   *
   * @param backend where to compute; must outlive the encoder
   * @param modelsDir the folder that holds the jar; its files are unpacked there once
   * @throws IllegalArgumentException if the options don't fit the model
   * @throws dev.minifloat.MinifloatException if the jar is missing (the message says how to fetch
   *     it) or damaged
   */
  public static SentenceEncoder open(
      Backend backend, KnownModel model, Path modelsDir, EncoderOptions options) {
    ModelArchive archive = ModelArchive.open(model, modelsDir);
    try (OnnxFile file = OnnxFile.open(archive.onnx())) {
      return new SentenceEncoder(
          backend, BertWeights.read(file, model.heads()), archive.tokenizer(), options);
    }
  }

  /** As {@link #open(Backend, KnownModel, Path, EncoderOptions)}, in F32. */
  public static SentenceEncoder open(Backend backend, KnownModel model, Path modelsDir) {
    return open(backend, model, modelsDir, EncoderOptions.of(model));
  }

  /** The extents of the model. */
  public BertConfig config() {
    return config;
  }

  /** How it computes. */
  public EncoderOptions options() {
    return options;
  }

  /** Bytes of the weights on the backend. */
  public Footprint footprint() {
    return model.footprint();
  }

  /**
   * The tokens of a text as the model reads it: with the options' prefix, cut to their length.
   *
   * @throws IllegalStateException if the encoder was made without a tokenizer
   */
  public Encoding tokenize(String text) {
    if (tokenizer == null) {
      throw new IllegalStateException("this encoder has no tokenizer: give it token ids");
    }
    return tokenizer.encode(options.prefix() + text, options.maxTokens());
  }

  /** The vector of one text, {@link BertConfig#hidden} long. */
  public float[] embed(String text) {
    return embed(List.of(text)).getFirst();
  }

  /**
   * The vectors of texts, in their order. Texts of similar length are computed together.
   *
   * @throws IllegalStateException if the encoder is closed or was made without a tokenizer
   */
  public List<float[]> embed(List<String> texts) {
    requireOpen();
    List<int[]> ids = new ArrayList<>(texts.size());
    List<int[]> typeIds = new ArrayList<>(texts.size());
    for (String text : texts) {
      Encoding encoding = tokenize(text);
      ids.add(encoding.ids());
      typeIds.add(encoding.typeIds());
    }
    return embed(ids, typeIds);
  }

  /**
   * The vectors of texts given as token ids, special tokens included, all of type 0.
   *
   * @throws IllegalArgumentException if a text has no token or more than the options allow, or an
   *     id is not in the vocabulary
   * @throws IllegalStateException if the encoder is closed
   */
  public List<float[]> embedTokens(int[]... texts) {
    requireOpen();
    List<int[]> ids = new ArrayList<>(texts.length);
    List<int[]> typeIds = new ArrayList<>(texts.length);
    for (int i = 0; i < texts.length; i++) {
      checkTokens(texts[i], i);
      ids.add(texts[i]);
      typeIds.add(new int[texts[i].length]);
    }
    return embed(ids, typeIds);
  }

  private void checkTokens(int[] ids, int text) {
    if (ids.length < 1 || ids.length > options.maxTokens()) {
      throw new IllegalArgumentException(
          "texts[%d]: %d tokens, not 1 to %d".formatted(text, ids.length, options.maxTokens()));
    }
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || ids[i] >= config.vocabulary()) {
        throw new IllegalArgumentException(
            "texts[%d][%d]: id %d is not one of the %d of the vocabulary"
                .formatted(text, i, ids[i], config.vocabulary()));
      }
    }
  }

  private List<float[]> embed(List<int[]> ids, List<int[]> typeIds) {
    float[][] vectors = new float[ids.size()][];
    for (TokenBatch batch : TokenBatch.of(ids, typeIds, options.batchTokens())) {
      try (Scope scope = backend.scope()) {
        float[] rows = scope.download(model.embed(scope, batch)).toFloats();
        for (int i = 0; i < batch.texts(); i++) {
          vectors[batch.member(i)] =
              Arrays.copyOfRange(rows, i * config.hidden(), (i + 1) * config.hidden());
        }
      }
    }
    return List.of(vectors);
  }

  private void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the encoder is closed");
    }
  }

  /** Frees the weights; the backend stays open. Closing twice is fine. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      owner.close();
    }
  }
}
