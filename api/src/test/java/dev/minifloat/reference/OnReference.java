package dev.minifloat.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;

/** A reference backend for a test, with a scope, and comparison within its rounding. */
abstract class OnReference {
  final ReferenceBackend backend = new ReferenceBackend();
  final Scope scope = backend.scope();

  @AfterEach
  void closeAndCountTensors() {
    scope.close();
    int left = backend.liveTensors();
    backend.close();
    assertEquals(0, left, "tensors that the scope did not own");
  }

  final Tensor tensor(float[] values, long... dims) {
    return scope.upload(HostTensor.of(values, dims));
  }

  final Tensor ints(int... values) {
    return scope.upload(HostTensor.of(values, values.length));
  }

  final float[] values(Tensor x) {
    return scope.download(x).toFloats();
  }

  static float[] random(long seed, int n) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = (float) random.nextDouble(-3, 3);
    }
    return values;
  }

  /**
   * The reference computes in double and rounds once; so does the expectation, perhaps in another
   * order, which moves the rounded value by one ulp at most.
   */
  static void assertClose(double[] expected, float[] actual) {
    assertEquals(expected.length, actual.length);
    for (int i = 0; i < expected.length; i++) {
      float rounded = (float) expected[i];
      int at = i;
      if (Float.isFinite(rounded)) {
        assertTrue(
            Math.abs(actual[i] - rounded) <= Math.ulp(rounded),
            () -> "at " + at + ": expected " + rounded + ", got " + actual[at]);
      } else {
        assertEquals(rounded, actual[i], "at " + i);
      }
    }
  }
}
