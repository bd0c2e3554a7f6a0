package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class VectorBackendTest {
  private static final int ROWS = 280;

  /** Each kind of kernel, on a matrix [rows, columns] of F32. */
  private static Map<String, BiFunction<Operations, Tensor, Tensor>> operations() {
    Map<String, BiFunction<Operations, Tensor, Tensor>> all = new LinkedHashMap<>();
    all.put("copy", (ops, x) -> ops.copy(x.transposed()));
    all.put("bf16", (ops, x) -> ops.convert(x, DType.BF16));
    all.put("e4m3", (ops, x) -> ops.convert(x, DType.F8_E4M3));
    for (DType dtype :
        List.of(DType.F8_E8M0, DType.F16, DType.F8_E5M2, DType.F4_E2M1, DType.BF16, DType.I8)) {
      for (Rounding rounding :
          List.of(Rounding.TOWARD_ZERO, Rounding.TOWARD_POSITIVE, Rounding.stochastic(3))) {
        all.put(
            dtype + " " + rounding, (ops, x) -> ops.convert(x, dtype, rounding, Overflow.SATURATE));
      }
    }
    for (Scaling scaling :
        List.of(
            Scaling.tensor(),
            Scaling.rows(),
            Scaling.columns(),
            Scaling.block(128, 128),
            Scaling.mx())) {
      all.put(
          "quantize " + scaling,
          (ops, x) -> ops.quantize(x, QuantSpec.of(DType.F8_E4M3).scaling(scaling)));
    }
    for (DType dtype : DType.values()) {
      if (dtype != DType.F32 && dtype != DType.I32) {
        all.put("from " + dtype, (ops, x) -> ops.convert(ops.convert(x, dtype), DType.F32));
      }
    }
    QuantSpec nvfp4 = QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4());
    all.put("quantize nvfp4", (ops, x) -> ops.quantize(x, nvfp4));
    all.put("dequantize", (ops, x) -> ops.dequantize(ops.quantize(x, nvfp4), DType.F16));
    all.put("add", (ops, x) -> ops.add(x, x));
    for (Activation activation : Activation.values()) {
      all.put(activation.name(), (ops, x) -> ops.activation(x, activation));
    }
    all.put("softmax", (ops, x) -> ops.softmax(Softmax.of(x).causal(true)));
    all.put("rms norm", (ops, x) -> ops.rmsNorm(x, firstRow(x), 1e-6f));
    all.put("layer norm", (ops, x) -> ops.layerNorm(x, firstRow(x), firstRow(x), 1e-6f));
    all.put("rope", (ops, x) -> ops.rope(Rope.of(x)));
    all.put("l2", (ops, x) -> ops.l2Normalize(x));
    all.put(
        "pool",
        (ops, x) ->
            ops.pool(x.reshape(7, x.shape().rows() / 7, x.shape().columns()), Pooling.MEAN, null));
    all.put(
        "embedding",
        (ops, x) -> {
          int[] ids = new int[1000];
          for (int i = 0; i < ids.length; i++) {
            ids[i] = i * 31 % (int) x.shape().rows();
          }
          return ops.embedding(x, ops.upload(HostTensor.of(ids)), DType.BF16);
        });
    return all;
  }

  private static Tensor firstRow(Tensor x) {
    return x.slice(0, 0, 1).reshape(x.shape().columns());
  }

  private static HostTensor matrix(int rows, int columns) {
    SplittableRandom random = new SplittableRandom(1);
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return HostTensor.of(values, rows, columns);
  }

  @Test
  void resultsAreTheSameForAnyNumberOfThreads() {
    HostTensor x = matrix(399, 413);
    Map<String, HostTensor> expected = new LinkedHashMap<>();
    for (int threads = 1; threads <= 3; threads++) {
      try (VectorBackend backend = VectorBackend.threads(threads);
          Scope scope = backend.scope()) {
        Tensor uploaded = scope.upload(x);
        operations()
            .forEach(
                (name, operation) -> {
                  HostTensor result = scope.download(operation.apply(scope, uploaded));
                  HostTensor first = expected.putIfAbsent(name, result);
                  if (first != null) {
                    assertEquals(-1, first.data().mismatch(result.data()), name);
                    assertEquals(-1, first.scales().mismatch(result.scales()), name);
                  }
                });
        HostTensor amax = HostTensor.of(new float[] {backend.amax(uploaded)});
        HostTensor first = expected.putIfAbsent("amax", amax);
        assertTrue(first == null || first.get(0) == amax.get(0));
      }
    }
  }

  @Test
  void manyThreadsMayUseOneBackend() throws Exception {
    HostTensor x = matrix(70, 517);
    try (VectorBackend backend = VectorBackend.threads(3)) {
      HostTensor expected;
      try (Scope scope = backend.scope()) {
        expected = scope.download(softmaxOfQuantized(scope, scope.upload(x)));
      }
      try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Long>> mismatches = new ArrayList<>();
        for (int caller = 0; caller < 50; caller++) {
          mismatches.add(
              virtual.submit(
                  () -> {
                    try (Scope scope = backend.scope()) {
                      Tensor y = softmaxOfQuantized(scope, scope.upload(x));
                      return expected.data().mismatch(scope.download(y).data());
                    }
                  }));
        }
        for (Future<Long> mismatch : mismatches) {
          assertEquals(-1, mismatch.get());
        }
      }
      assertEquals(0, backend.liveTensors());
    }
  }

  private static Tensor softmaxOfQuantized(Operations ops, Tensor x) {
    Tensor quantized = ops.quantize(x, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()));
    return ops.softmax(Softmax.of(ops.dequantize(quantized)));
  }

  /**
   * A boxed vector is 5 bytes or more for each of its elements, megabytes here; a few objects for
   * each row of the input are let pass.
   */
  @Tag("allocation")
  @Test
  void noKernelAllocatesForItsElements() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    HostTensor host = matrix(ROWS, 512);
    try (VectorBackend backend = VectorBackend.threads(1);
        Scope outer = backend.scope()) {
      Tensor x = outer.upload(host);
      operations()
          .forEach(
              (name, operation) -> {
                long least = Long.MAX_VALUE;
                // Interpreted and half-compiled code does allocate.
                for (int round = 0; round < 400 && least > 600 * ROWS; round++) {
                  long before = threads.getCurrentThreadAllocatedBytes();
                  try (Scope scope = backend.scope()) {
                    Tensor unused = operation.apply(scope, x);
                    assertTrue(!unused.isClosed());
                  }
                  least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                }
                long allocated = least;
                assertTrue(
                    allocated <= 600 * ROWS,
                    () -> name + " allocates " + allocated + " bytes a call");
              });
    }
  }

  @Test
  void itSaysWhatItRunsOn() {
    try (VectorBackend backend = VectorBackend.threads(2)) {
      assertEquals("vector", backend.name());
      assertEquals(2, backend.info().threads());
      assertEquals(backend.vectorBits(), backend.info().vectorBits());
      assertTrue(List.of(128, 256, 512).contains(backend.vectorBits()));
    }
    try (VectorBackend backend = new VectorBackend()) {
      assertEquals(Runtime.getRuntime().availableProcessors(), backend.threads());
    }
    assertThrows(IllegalArgumentException.class, () -> VectorBackend.threads(0));
  }

  @Test
  void closingItFreesItsTensors() {
    VectorBackend backend = VectorBackend.threads(2);
    Tensor x =
        backend.upload(
            HostTensor.allocate(
                java.lang.foreign.Arena.ofAuto(), DType.F32, Shape.of(10), Scaling.none()));
    backend.close();
    backend.close();
    assertTrue(x.isClosed());
    assertThrows(IllegalStateException.class, () -> backend.amax(x));
  }
}
