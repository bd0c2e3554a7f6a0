package dev.minifloat.cuda.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.Program.Extent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code vectors.cu} and {@code functions.cu}, optimised and not, compute what Java does. All sums
 * are exact, so that it doesn't matter which of them the compiler fuses.
 */
class ElementProgramsTest {
  private final SplittableRandom random = new SplittableRandom(3);

  private float[] wholeNumbers(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextInt(-1000, 1000);
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void elementsInStrides(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      int n = 1000;
      float[] x = wholeNumbers(n);
      float[] y = wholeNumbers(n);
      float[] expected = new float[n];
      for (int i = 0; i < n; i++) {
        expected[i] = 2.5f * x[i] + y[i];
      }
      long out = program.upload(y);
      program.run("saxpy", 3, 64, 2.5f, program.upload(x), out, n);
      assertArrayEquals(expected, program.floats(out, n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void threeDimensions(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      int[] expected = new int[24 * 8 * 6];
      for (int i = 0; i < expected.length; i++) {
        expected[i] = i % 24 + 100 * (i / 24 % 8) + 10000 * (i / 24 / 8);
      }
      long out = program.zeros(4L * expected.length);
      program.run("place", new Extent(3, 2, 2), new Extent(8, 4, 3), 0, out);
      assertArrayEquals(expected, program.ints(out, expected.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void structsByValue(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      MemorySegment wave = program.struct(12);
      wave.set(ValueLayout.JAVA_FLOAT, 0, 6);
      wave.set(ValueLayout.JAVA_INT, 4, 8);
      wave.set(ValueLayout.JAVA_SHORT, 8, (short) -300);
      wave.set(ValueLayout.JAVA_BYTE, 10, (byte) -1);
      float[] expected = new float[50];
      for (int i = 0; i < expected.length; i++) {
        expected[i] = -6 * (i % 8 / 8f) - 300;
      }
      long out = program.zeros(4L * expected.length);
      program.run("wave", 1, expected.length, wave, out);
      assertArrayEquals(expected, program.floats(out, expected.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void constantMemory(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      int n = 100;
      float[] x = wholeNumbers(n);
      float[] taps = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
      float[] expected = new float[n];
      for (int i = 0; i < n; i++) {
        for (int k = 0; k < taps.length; k++) {
          int j = i + k - 2;
          expected[i] += j >= 0 && j < n ? taps[k] * x[j] : 0;
        }
      }
      long out = program.zeros(4L * n);
      program.run("smooth", 2, 64, program.upload(x), out, n);
      assertArrayEquals(expected, program.floats(out, n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void loopsOfDifferingLengths(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      int n = 90;
      int[] expected = new int[n];
      for (int i = 0; i < n; i++) {
        for (long value = i + 1L; value != 1; expected[i]++) {
          value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        }
      }
      int[] starts = new int[n];
      Arrays.setAll(starts, i -> i + 1);
      long out = program.zeros(4L * n);
      program.run("collatz", 2, 64, program.upload(starts), out, n);
      assertArrayEquals(expected, program.ints(out, n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void divisions(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      int n = 64;
      long[] a = new long[n];
      long[] b = new long[n];
      long[] expected = new long[4 * n];
      for (int i = 0; i < n; i++) {
        a[i] = random.nextLong() >> (i % 50);
        b[i] = (random.nextLong() >> (63 - i % 40)) | 1;
        expected[4 * i] = a[i] / b[i];
        expected[4 * i + 1] = a[i] % b[i];
        expected[4 * i + 2] = (int) a[i] / (int) b[i];
        expected[4 * i + 3] =
            Integer.toUnsignedLong(Integer.remainderUnsigned((int) a[i], (int) b[i]));
      }
      long out = program.zeros(32L * n);
      program.run("divide", 1, n, program.upload(a), program.upload(b), out, n);
      assertArrayEquals(expected, program.longs(out, 4 * n));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void doubles(String optimisation) {
    try (Program program = new Program("vectors", optimisation)) {
      double[] x = random.doubles(40, 0, 1e6).toArray();
      double[] expected = new double[x.length];
      for (int i = 0; i < x.length; i++) {
        expected[i] = Math.max(x[i], 1);
        for (int k = 0; k < 60; k++) {
          expected[i] = 0.5 * (expected[i] + x[i] / expected[i]);
        }
      }
      long out = program.zeros(8L * x.length);
      program.run("root", 1, 64, program.upload(x), out, x.length);
      assertArrayEquals(expected, program.doubles(out, x.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void functionsChosenAtRunTime(String optimisation) {
    try (Program program = new Program("functions", optimisation)) {
      int[] x = {3, 1, 4, -1, 5, 9};
      int[] expected = new int[64];
      for (int t = 0; t < expected.length; t++) {
        expected[t] = x[0];
        for (int i = 1; i < x.length; i++) {
          int y = x[i] + t;
          expected[t] =
              switch (t % 3) {
                case 0 -> expected[t] + y;
                case 1 -> expected[t] * y;
                default -> Math.min(expected[t], y);
              };
        }
      }
      long out = program.zeros(4L * expected.length);
      program.run("fold", 1, expected.length, program.upload(x), out);
      assertArrayEquals(expected, program.ints(out, expected.length));
    }
  }

  private static int ackermann(int m, int n) {
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void recursion(String optimisation) {
    try (Program program = new Program("functions", optimisation)) {
      int[] expected = new int[20];
      Arrays.setAll(expected, i -> ackermann(i % 3, i / 3));
      long out = program.zeros(4L * expected.length);
      program.run("recurse", 1, expected.length, out);
      assertArrayEquals(expected, program.ints(out, expected.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void virtualFunctions(String optimisation) {
    try (Program program = new Program("functions", optimisation)) {
      float[] areas = new float[40];
      int[] corners = new int[areas.length];
      for (int i = 0; i < areas.length; i++) {
        areas[i] = i % 2 == 0 ? (i + 1) * 2 : 0.5f * (i + 1) * 3;
        corners[i] = i % 2 == 0 ? 4 : 3;
      }
      long ofAreas = program.zeros(4L * areas.length);
      long ofCorners = program.zeros(4L * areas.length);
      program.run("shapes", 1, areas.length, ofAreas, ofCorners);
      assertArrayEquals(areas, program.floats(ofAreas, areas.length));
      assertArrayEquals(corners, program.ints(ofCorners, areas.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void printing(String optimisation) {
    try (Program program = new Program("functions", optimisation)) {
      program.run("report", 1, 64, 171, 2.718281828);
      assertEquals(
          String.format(
              Locale.ROOT, "%d threads, %5.2f|%-6s|%04x%%\n", 171, 2.718281828, "left", 171),
          program.printed());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"O3", "O0"})
  void memoryOfTheKernelsOwn(String optimisation) {
    try (Program program = new Program("functions", optimisation)) {
      int[] expected = new int[12];
      Arrays.setAll(expected, i -> (11 - i) * (11 - i));
      long out = program.zeros(4L * expected.length);
      program.run("list", 1, 1, expected.length, out);
      assertArrayEquals(expected, program.ints(out, expected.length));
    }
  }
}
