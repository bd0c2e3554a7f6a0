package dev.minifloat.cuda.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.Program.Extent;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code matrices.cu} and {@code groups.cu}, optimised and not, compute what Java does. */
class MatrixProgramsTest {
  private final SplittableRandom random = new SplittableRandom(5);

  /** Small integers, whose products and sums are exact. */
  private float[] integers(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextInt(-8, 9);
    }
    return values;
  }

  private static float[] product(float[] a, float[] b, int m, int n, int k) {
    float[] c = new float[m * n];
    for (int i = 0; i < c.length; i++) {
      for (int j = 0; j < k; j++) {
        c[i] += a[i / n * k + j] * b[j * n + i % n];
      }
    }
    return c;
  }

  private static short[] halves(float[] values) {
    short[] codes = new short[values.length];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = Float.floatToFloat16(values[i]);
    }
    return codes;
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void tilesInSharedMemory(String optimisation) {
    try (Program program = new Program("matrices", optimisation)) {
      int m = 19;
      int n = 35;
      int k = 21;
      float[] a = integers(m * k);
      float[] b = integers(k * n);
      long c = program.zeros(4L * m * n);
      program.run(
          "tiled",
          new Extent(3, 2, 1),
          new Extent(16, 16, 1),
          0,
          program.upload(a),
          program.upload(b),
          c,
          m,
          n,
          k);
      assertArrayEquals(product(a, b, m, n, k), program.floats(c, m * n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void tensorCores(String optimisation) {
    try (Program program = new Program("matrices", optimisation)) {
      int m = 32;
      int n = 48;
      int k = 32;
      float[] a = integers(m * k);
      float[] b = integers(k * n);
      long c = program.zeros(4L * m * n);
      program.run(
          "tensorCores",
          new Extent(n / 16, m / 16, 1),
          Extent.of(32),
          0,
          program.upload(halves(a)),
          program.upload(halves(b)),
          c,
          n,
          k);
      assertArrayEquals(product(a, b, m, n, k), program.floats(c, m * n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void copiesThatRunAhead(String optimisation) {
    try (Program program = new Program("matrices", optimisation)) {
      int tiles = 5;
      float[] x = integers(tiles * 64 * 4);
      float[] expected = new float[64];
      for (int i = 0; i < x.length; i++) {
        expected[63 - i / 4 % 64] += (i % 4 + 1) * x[i];
      }
      long out = program.zeros(256);
      program.run("ahead", 1, 64, program.upload(x), out, tiles);
      assertArrayEquals(expected, program.floats(out, 64));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void halfPrecision(String optimisation) {
    try (Program program = new Program("matrices", optimisation)) {
      float[] x = new float[64];
      short[] sums = new short[x.length];
      float[] products = new float[x.length / 2];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextGaussian();
        sums[i] = Float.floatToFloat16(2 * rounded(x[i]));
      }
      for (int i = 0; i < products.length; i++) {
        products[i] = rounded(rounded(x[2 * i]) * rounded(x[2 * i + 1]));
      }
      long ofSums = program.zeros(2L * x.length);
      long ofProducts = program.zeros(4L * products.length);
      program.run("halves", 1, products.length, program.upload(x), ofSums, ofProducts);
      assertArrayEquals(sums, program.shorts(ofSums, x.length));
      assertArrayEquals(products, program.floats(ofProducts, products.length));
    }
  }

  /** To F16; a product of two such is exact in F32. */
  private static float rounded(float x) {
    return Float.float16ToFloat(Float.floatToFloat16(x));
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void groupsWithinAWarp(String optimisation) {
    try (Program program = new Program("groups", optimisation)) {
      int[] x = random.ints(96, -99, 1000).toArray();
      int[] sums = new int[12];
      int[] ofWarps = new int[96];
      for (int i = 0; i < x.length; i++) {
        sums[i / 8] += x[i];
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
          ofWarps[j] += x[i];
        }
      }
      long in = program.upload(x);
      long ofSums = program.zeros(48);
      long ofRanks = program.zeros(384);
      program.run("tiles", 1, 96, in, ofSums, ofRanks);
      assertArrayEquals(sums, program.ints(ofSums, 12));
      assertArrayEquals(
          IntStream.range(0, 96).map(i -> i % 8 + i / 8 * 100).toArray(),
          program.ints(ofRanks, 96));
      long out = program.zeros(384);
      program.run("reductions", 1, 96, in, out);
      assertArrayEquals(ofWarps, program.ints(out, 96));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void groupsOfSeveralWarps(String optimisation) {
    try (Program program = new Program("groups", optimisation)) {
      int[] x = random.ints(128, 0, 1000).toArray();
      int[] expected = new int[128];
      Arrays.setAll(expected, i -> x[i / 64 * 64 + 63 - i % 64] + i / 64 * 1000);
      long out = program.zeros(512);
      program.run("pairs", 1, 128, program.upload(x), out);
      assertArrayEquals(expected, program.ints(out, 128));
    }
  }

  /** Warps may come in any order, and so may the lanes that go on together. */
  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void lanesThatAreTogether(String optimisation) {
    try (Program program = new Program("groups", optimisation)) {
      int[] x = random.ints(96, -500, 500).toArray();
      int[] expected = Arrays.stream(x).filter(value -> value > 0).sorted().toArray();
      long out = program.zeros(384);
      long count = program.zeros(4);
      program.run("filter", 1, 96, program.upload(x), out, count);
      assertEquals(expected.length, program.ints(count, 1)[0]);
      int[] found = Arrays.copyOf(program.ints(out, 96), expected.length);
      Arrays.sort(found);
      assertArrayEquals(expected, found);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void theWholeGrid(String optimisation) {
    try (Program program = new Program("groups", optimisation)) {
      int size = 5 * 64;
      int turns = 3;
      int[] from = random.ints(size, 0, 1000).toArray();
      long first = program.upload(from);
      long second = program.zeros(4L * size);
      for (int turn = 0; turn < turns; turn++) {
        int[] last = from;
        from = new int[size];
        Arrays.setAll(from, i -> last[size - 1 - i] + i);
      }
      program.runTogether("turns", 5, 64, first, second, turns);
      assertArrayEquals(from, program.ints(second, size));
    }
  }
}
