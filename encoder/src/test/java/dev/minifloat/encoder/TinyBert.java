package dev.minifloat.encoder;

import dev.minifloat.HostTensor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Random weights of an encoder small enough for plain loops. */
final class TinyBert {
  static final BertConfig CONFIG = new BertConfig(2, 3, 48, 72, 50, 24, 2, BertConfig.EPSILON);

  private TinyBert() {}

  static Map<String, HostTensor> weights(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, HostTensor> tensors = new LinkedHashMap<>();
    int hidden = CONFIG.hidden();
    put(tensors, random, BertWeights.WORDS, 0, 1, CONFIG.vocabulary(), hidden);
    put(tensors, random, BertWeights.POSITIONS, 0, 0.5, CONFIG.positions(), hidden);
    put(tensors, random, BertWeights.TYPES, 0, 0.5, CONFIG.types(), hidden);
    norm(tensors, random, BertWeights.EMBEDDING_NORM);
    for (int i = 0; i < CONFIG.layers(); i++) {
      linear(tensors, random, BertWeights.layer(i, BertWeights.QUERY), hidden, hidden);
      linear(tensors, random, BertWeights.layer(i, BertWeights.KEY), hidden, hidden);
      linear(tensors, random, BertWeights.layer(i, BertWeights.VALUE), hidden, hidden);
      linear(tensors, random, BertWeights.layer(i, BertWeights.ATTENTION_OUTPUT), hidden, hidden);
      norm(tensors, random, BertWeights.layer(i, BertWeights.ATTENTION_NORM));
      linear(tensors, random, BertWeights.layer(i, BertWeights.UP), CONFIG.intermediate(), hidden);
      linear(
          tensors, random, BertWeights.layer(i, BertWeights.DOWN), hidden, CONFIG.intermediate());
      norm(tensors, random, BertWeights.layer(i, BertWeights.OUTPUT_NORM));
    }
    return tensors;
  }

  private static void linear(
      Map<String, HostTensor> tensors, SplittableRandom random, String part, int out, int in) {
    put(tensors, random, part + ".weight", 0, 2 / Math.sqrt(in), out, in);
    put(tensors, random, part + ".bias", 0, 0.2, out);
  }

  private static void norm(Map<String, HostTensor> tensors, SplittableRandom random, String part) {
    put(tensors, random, part + ".weight", 1, 0.3, CONFIG.hidden());
    put(tensors, random, part + ".bias", 0, 0.3, CONFIG.hidden());
  }

  private static void put(
      Map<String, HostTensor> tensors,
      SplittableRandom random,
      String name,
      double centre,
      double spread,
      long... dims) {
    long count = 1;
    for (long dim : dims) {
      count *= dim;
    }
    float[] values = new float[Math.toIntExact(count)];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(centre - spread, centre + spread);
    }
    tensors.put(name, HostTensor.of(values, dims));
  }

  /** Random ids of texts with the given numbers of tokens. */
  static int[][] texts(long seed, int... lengths) {
    SplittableRandom random = new SplittableRandom(seed);
    int[][] texts = new int[lengths.length][];
    for (int i = 0; i < lengths.length; i++) {
      texts[i] = random.ints(lengths[i], 0, CONFIG.vocabulary()).toArray();
    }
    return texts;
  }
}
