package dev.minifloat.cuda.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.Program.Extent;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code reductions.cu} and {@code warps.cu}, optimised and not, compute what Java does. */
class BlockProgramsTest {
  private final SplittableRandom random = new SplittableRandom(4);

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void sumsOfBlocks(String optimisation) {
    try (Program program = new Program("reductions", optimisation)) {
      int[] x = random.ints(1000, -50, 1000).toArray();
      long total = program.zeros(4);
      program.run("sumOfTree", 3, 128, program.upload(x), x.length, total);
      assertEquals(Arrays.stream(x).sum(), program.ints(total, 1)[0]);

      long[] wide = random.longs(3 * 128).toArray();
      long[] sums = new long[3];
      float[] floats = new float[wide.length];
      float[] sumsOfFloats = new float[3];
      for (int i = 0; i < wide.length; i++) {
        floats[i] = wide[i] >> 50;
        sums[i / 128] += wide[i];
        sumsOfFloats[i / 128] += floats[i];
      }
      long out = program.zeros(24);
      program.run("sumOfShuffles", 3, 128, program.upload(wide), out);
      assertArrayEquals(sums, program.longs(out, 3));
      long ofFloats = program.zeros(12);
      program.run("sumOfFloats", 3, 128, program.upload(floats), ofFloats);
      assertArrayEquals(sumsOfFloats, program.floats(ofFloats, 3));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void histograms(String optimisation) {
    try (Program program = new Program("reductions", optimisation)) {
      byte[] x = new byte[3000];
      random.nextBytes(x);
      int[] expected = new int[256];
      for (byte value : x) {
        expected[value & 0xFF]++;
      }
      long bins = program.zeros(1024);
      program.run("histogram", 2, 96, program.upload(x), x.length, bins);
      assertArrayEquals(expected, program.ints(bins, 256));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void scansInDynamicSharedMemory(String optimisation) {
    try (Program program = new Program("reductions", optimisation)) {
      int n = 100;
      int[] x = random.ints(n, -9, 99).toArray();
      int[] expected = x.clone();
      Arrays.parallelPrefix(expected, Integer::sum);
      long out = program.zeros(4L * n);
      program.run("scan", Extent.of(1), Extent.of(n), 8 * n, program.upload(x), out);
      assertArrayEquals(expected, program.ints(out, n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void turnedTiles(String optimisation) {
    try (Program program = new Program("reductions", optimisation)) {
      int rows = 37;
      int columns = 50;
      float[] x = new float[rows * columns];
      float[] expected = new float[x.length];
      for (int i = 0; i < x.length; i++) {
        x[i] = i;
        expected[i % columns * rows + i / columns] = i;
      }
      long out = program.zeros(4L * x.length);
      program.run(
          "transpose",
          new Extent(4, 3, 1),
          new Extent(16, 16, 1),
          0,
          program.upload(x),
          out,
          rows,
          columns);
      assertArrayEquals(expected, program.floats(out, x.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void compareAndSwap(String optimisation) {
    try (Program program = new Program("reductions", optimisation)) {
      float[] x = new float[200];
      float expected = -1e9f;
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) (random.nextGaussian() - 4);
        expected = Math.max(expected, x[i]);
      }
      long out = program.upload(-1e9f);
      program.run("largest", 4, 64, program.upload(x), x.length, out);
      assertEquals(expected, program.floats(out, 1)[0]);
    }
  }

  private static int mask(int[] x, java.util.function.IntPredicate of) {
    int mask = 0;
    for (int lane = 0; lane < 32; lane++) {
      mask |= of.test(x[lane]) ? 1 << lane : 0;
    }
    return mask;
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void votesAndMatches(String optimisation) {
    try (Program program = new Program("warps", optimisation)) {
      for (int bound : new int[] {20, 4000}) {
        int[] x = random.ints(32, 0, bound).toArray();
        x[7] = 1;
        x[9] = 3;
        int[] expected = new int[192];
        boolean agree = mask(x, value -> value / 1000 == x[0] / 1000) == -1;
        int odd = mask(x, value -> value % 2 == 1);
        for (int lane = 0; lane < 32; lane++) {
          int own = x[lane];
          expected[lane] = odd;
          expected[32 + lane] = mask(x, value -> value == own);
          expected[64 + lane] = 3;
          expected[96 + lane] = 0;
          expected[128 + lane] = Arrays.stream(x).sum();
          expected[160 + lane] = own % 2 == 1 ? x[Integer.numberOfTrailingZeros(odd)] : 0;
        }
        assertEquals(bound < 1000, agree);
        long out = program.zeros(4L * expected.length);
        program.run("votes", 1, 32, program.upload(x), out);
        assertArrayEquals(expected, program.ints(out, expected.length));
      }
    }
  }

  private static int branch(int value) {
    int sum = 0;
    for (int k = 0; k < value % 7 + 1; k++) {
      if (k == 4) {
        continue;
      }
      if (value % 2 == 0) {
        sum += value % 3 == 0 ? 10 * k : k;
      } else if (value % 5 == 0) {
        sum -= k;
        if (sum < -5) {
          break;
        }
      } else {
        sum ^= value;
      }
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void nestedBranches(String optimisation) {
    try (Program program = new Program("warps", optimisation)) {
      int[] x = random.ints(64, 0, 1000).toArray();
      int[] expected = new int[x.length];
      Arrays.setAll(expected, i -> branch(x[i]) + branch(x[i ^ 1]));
      long out = program.zeros(4L * x.length);
      program.run("branches", 1, x.length, program.upload(x), out);
      assertArrayEquals(expected, program.ints(out, x.length));
    }
  }

  private static int choose(int v) {
    return switch (v & 15) {
      case 0 -> v + 1;
      case 1 -> v * 3;
      case 2, 3 -> v ^ 0x55;
      case 4 -> -v;
      case 5 -> v << 3;
      case 6 -> v >> 2;
      case 7 -> Integer.reverse(v);
      case 8 -> Integer.bitCount(v);
      case 9 -> Integer.numberOfLeadingZeros(v);
      case 10 -> v | 64;
      case 11 -> v & 48;
      default -> 1000 + v;
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void jumpTables(String optimisation) {
    try (Program program = new Program("warps", optimisation)) {
      int[] x = random.ints(96).toArray();
      int[] expected = Arrays.stream(x).map(BlockProgramsTest::choose).toArray();
      long out = program.zeros(4L * x.length);
      program.run("cases", 1, x.length, program.upload(x), out);
      assertArrayEquals(expected, program.ints(out, x.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void aLockAmongTheLanesOfAWarp(String optimisation) {
    try (Program program = new Program("warps", optimisation)) {
      int expected = 0;
      for (int i = 0; i < 2 * 64; i++) {
        expected = expected * 3 + 1;
      }
      long counter = program.zeros(4);
      program.run("lock", 2, 64, program.zeros(4), counter);
      assertEquals(expected, program.ints(counter, 1)[0]);
    }
  }
}
