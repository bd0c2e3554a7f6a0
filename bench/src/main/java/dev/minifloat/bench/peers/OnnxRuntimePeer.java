package dev.minifloat.bench.peers;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.minifloat.MinifloatException;
import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Workload;
import dev.minifloat.encoder.KnownModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipFile;

/**
 * ONNX Runtime on the F32 graph of all-MiniLM-L6-v2, which includes all but the pooling. It takes
 * part in encodings of every format of weights, as the figure to reach.
 */
final class OnnxRuntimePeer implements Peer {
  private static final int DIMENSIONS = 384;
  private static final String OUTPUT = "last_hidden_state";

  private final OrtEnvironment environment;
  private final byte[] model;

  private OnnxRuntimePeer(OrtEnvironment environment, byte[] model) {
    this.environment = environment;
    this.model = model;
  }

  /**
   * Finds it and the model.
   *
   * @param models folder of the jars that hold models
   */
  static Peer load(Path models) throws PeerAbsent {
    try (ZipFile jar = new ZipFile(KnownModel.MINILM.resolve(models).toFile())) {
      byte[] model = jar.getInputStream(jar.getEntry(KnownModel.MINILM.onnxEntry())).readAllBytes();
      return new OnnxRuntimePeer(OrtEnvironment.getEnvironment(), model);
    } catch (MinifloatException e) {
      throw new PeerAbsent(e.getMessage(), e);
    } catch (IOException e) {
      throw new PeerAbsent("its model can't be read: " + e, e);
    }
  }

  @Override
  public String name() {
    return "ONNX Runtime";
  }

  @Override
  public String variant() {
    return environment.getVersion();
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Encode encode -> Optional.of(encoder(encode));
      default -> Optional.empty();
    };
  }

  private Contestant encoder(Workload.Encode encode) {
    try {
      return new Encoder(encode);
    } catch (OrtException e) {
      throw failed(e);
    }
  }

  private static IllegalStateException failed(OrtException cause) {
    return new IllegalStateException("ONNX Runtime failed: " + cause.getMessage(), cause);
  }

  @Override
  public void close() {
    // The environment is one for the process.
  }

  private final class Encoder implements Contestant {
    private final int batch;
    private final int tokens;
    private final Format weights;
    private final OrtSession session;
    private final Map<String, OnnxTensor> inputs;
    private final FloatBuffer hidden;
    private final Map<String, OnnxTensor> outputs;
    private final float[] embeddings;

    Encoder(Workload.Encode workload) throws OrtException {
      batch = workload.batch();
      tokens = workload.tokens();
      weights = workload.weights();
      try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
        options.setIntraOpNumThreads(workload.threads());
        options.setInterOpNumThreads(1);
        options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.ALL_OPT);
        session = environment.createSession(model, options);
      }
      LongBuffer ids = longs();
      for (int[] text : workload.ids()) {
        for (int id : text) {
          ids.put(id);
        }
      }
      LongBuffer mask = longs();
      while (mask.hasRemaining()) {
        mask.put(1);
      }
      long[] shape = {batch, tokens};
      inputs =
          Map.of(
              "input_ids", OnnxTensor.createTensor(environment, ids.flip(), shape),
              "attention_mask", OnnxTensor.createTensor(environment, mask.flip(), shape),
              "token_type_ids", OnnxTensor.createTensor(environment, longs(), shape));
      hidden = direct(4 * batch * tokens * DIMENSIONS).asFloatBuffer();
      outputs =
          Map.of(
              OUTPUT,
              OnnxTensor.createTensor(environment, hidden, new long[] {batch, tokens, DIMENSIONS}));
      embeddings = new float[batch * DIMENSIONS];
    }

    private LongBuffer longs() {
      return direct(8 * batch * tokens).asLongBuffer();
    }

    private static ByteBuffer direct(int bytes) {
      return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    @Override
    public String name() {
      return "ONNX Runtime";
    }

    @Override
    public void run() {
      try {
        session.run(inputs, outputs).close();
        pool();
      } catch (OrtException e) {
        throw failed(e);
      }
    }

    /** The means of each text's vectors, normalized. */
    private void pool() {
      float[] sum = new float[DIMENSIONS];
      float[] vector = new float[DIMENSIONS];
      for (int text = 0; text < batch; text++) {
        Arrays.fill(sum, 0);
        for (int token = 0; token < tokens; token++) {
          hidden.get((text * tokens + token) * DIMENSIONS, vector);
          for (int i = 0; i < DIMENSIONS; i++) {
            sum[i] += vector[i];
          }
        }
        double squares = 0;
        for (float value : sum) {
          squares += (double) value * value;
        }
        float factor = (float) (1 / Math.sqrt(squares));
        for (int i = 0; i < DIMENSIONS; i++) {
          embeddings[text * DIMENSIONS + i] = sum[i] * factor;
        }
      }
    }

    @Override
    public float[] result() {
      return embeddings.clone();
    }

    @Override
    public boolean isExact() {
      return false;
    }

    @Override
    public double tolerance() {
      // Six layers, each with six products; the norms keep errors from growing.
      return Math.max(1e-4, 4 * FormatError.of(weights));
    }

    @Override
    public void close() {
      inputs.values().forEach(OnnxTensor::close);
      outputs.values().forEach(OnnxTensor::close);
      try {
        session.close();
      } catch (OrtException e) {
        throw failed(e);
      }
    }
  }
}
