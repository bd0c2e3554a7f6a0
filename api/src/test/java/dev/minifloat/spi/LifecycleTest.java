package dev.minifloat.spi;

import static dev.minifloat.Refusals.assertClosed;
import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Who owns a tensor, and what happens when owners are closed. */
class LifecycleTest {
  private static final HostTensor ONES = HostTensor.of(new float[] {1, 1, 1, 1, 1, 1}, 2, 3);

  @Test
  void scopeClosesWhatWasMadeInIt() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Tensor x;
      Tensor y;
      try (Scope scope = backend.scope()) {
        x = scope.upload(ONES);
        y = scope.add(x, x);
        assertEquals(backend, scope.backend());
        assertEquals(2, backend.liveTensors());
        assertFalse(y.isClosed());
      }
      assertTrue(x.isClosed() && y.isClosed());
      assertEquals(0, backend.liveTensors());
      assertClosed(() -> backend.add(x, y));
    }
  }

  @Test
  void scopesAreIndependent() {
    try (ReferenceBackend backend = new ReferenceBackend();
        Scope outer = backend.scope()) {
      Tensor x = outer.upload(ONES);
      Tensor own = backend.upload(ONES);
      try (Scope inner = backend.scope()) {
        inner.add(x, own).close();
        inner.add(x, own);
        assertEquals(3, backend.liveTensors());
      }
      assertEquals(2, backend.liveTensors());
      assertFalse(x.isClosed() || own.isClosed());
    }
  }

  @Test
  void closedScopeRefusesWork() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Scope scope = backend.scope();
      Tensor x = backend.upload(ONES);
      scope.close();
      assertClosed(() -> scope.upload(ONES));
      assertClosed(() -> scope.add(x, x));
      assertClosed(() -> scope.detach(x));
      assertClosed(() -> scope.amax(x));
      assertEquals(1, backend.liveTensors());
    }
  }

  @Test
  void detachedTensorOutlivesItsScope() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Tensor kept;
      try (Scope scope = backend.scope()) {
        kept = scope.detach(scope.upload(ONES));
        assertRefused("tensor", () -> scope.detach(kept));
        Tensor view = scope.upload(ONES).transposed();
        assertRefused("tensor", () -> scope.detach(view));
        Tensor foreign = backend.upload(ONES);
        assertRefused("tensor", () -> scope.detach(foreign));
        foreign.close();
      }
      assertEquals(1f, backend.amax(kept));
      assertEquals(1, backend.liveTensors());
      kept.close();
      assertEquals(0, backend.liveTensors());
    }
  }

  @Test
  void closedBackendRefusesWorkAndHasClosedItsTensors() {
    ReferenceBackend backend = new ReferenceBackend();
    Scope scope = backend.scope();
    Tensor x = backend.upload(ONES);
    Tensor y = scope.upload(ONES);
    backend.close();
    assertTrue(x.isClosed() && y.isClosed());
    assertEquals(0, backend.liveTensors());
    assertClosed(() -> backend.upload(ONES));
    assertClosed(() -> backend.add(x, y));
    assertClosed(() -> scope.upload(ONES));
    assertClosed(() -> backend.dot(x, y));
    assertClosed(backend::scope);
    assertClosed(backend::synchronize);
    scope.close();
  }

  @Test
  void everyOperationRefusesAClosedTensor() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Tensor open = backend.upload(ONES);
      Tensor closed = backend.upload(ONES);
      closed.close();
      assertClosed(() -> backend.download(closed));
      assertClosed(() -> backend.copy(closed));
      assertClosed(() -> backend.convert(closed, DType.F16));
      assertClosed(() -> backend.quantize(closed, QuantSpec.of(DType.I8)));
      assertClosed(() -> backend.dequantize(closed));
      assertClosed(() -> backend.amax(closed));
      assertClosed(() -> backend.add(open, closed));
      assertClosed(() -> backend.gemm(Gemm.of(open, closed.transposed())));
      assertClosed(() -> backend.gemm(Gemm.of(closed, open.transposed())));
      assertClosed(() -> backend.l2Normalize(closed));
      assertEquals(1, backend.liveTensors());
    }
  }

  @Test
  void viewKeepsNothingAndClosesNothing() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Tensor x = backend.upload(ONES);
      Tensor view = x.transposed();
      assertTrue(view.isView() && !x.isView());
      view.close();
      assertFalse(x.isClosed() || view.isClosed());
      assertEquals(1f, backend.amax(view));
      x.close();
      assertTrue(view.isClosed());
      assertClosed(() -> backend.amax(view));
    }
  }

  @Test
  void tensorOfAnotherBackendIsRefusedByName() {
    try (ReferenceBackend one = new ReferenceBackend();
        ReferenceBackend two = new ReferenceBackend()) {
      Tensor mine = one.upload(ONES);
      Tensor theirs = two.upload(ONES);
      assertRefused("b", () -> one.add(mine, theirs));
      assertRefused("x", () -> one.download(theirs));
      assertRefused("a", () -> one.gemm(Gemm.of(theirs, mine.transposed())));
      assertRefused("bias", () -> one.gemm(Gemm.of(mine, mine.transposed()).bias(theirs)));
    }
  }

  @Test
  void failedOperationLeavesNoTensor() {
    try (ReferenceBackend backend = new ReferenceBackend();
        Scope scope = backend.scope()) {
      Tensor x = scope.upload(ONES);
      Tensor ids = scope.upload(HostTensor.of(new int[] {7}));
      assertRefused("ids", () -> scope.embedding(x, ids, DType.F32));
      assertThrows(RuntimeException.class, () -> scope.gemm(Gemm.of(x, x)));
      List<Gemm> second = List.of(Gemm.of(x, x.transposed()), Gemm.of(x, x));
      assertRefused("b", () -> scope.gemms(second));
      assertEquals(2, backend.liveTensors());
    }
  }

  @Test
  void gemmFreesItsTemporary() {
    try (ReferenceBackend backend = new ReferenceBackend();
        Scope scope = backend.scope()) {
      Tensor x = scope.upload(ONES);
      QuantSpec rows = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
      scope.gemm(Gemm.of(x, x.transposed()).output(rows));
      scope.download(x.transposed());
      assertEquals(2, backend.liveTensors());
    }
  }

  @Test
  void memoryGoesOnceTheRunningOperationEnds() throws InterruptedException, ExecutionException {
    try (GatedBackend backend = new GatedBackend();
        ExecutorService worker = Executors.newSingleThreadExecutor()) {
      Tensor x = backend.upload(HostTensor.of(new float[] {42}));
      Future<Float> amax = worker.submit(() -> backend.amax(x));
      backend.entered.await();
      x.close();
      assertTrue(x.isClosed());
      assertEquals(List.of(), backend.events);
      assertClosed(() -> backend.copy(x));
      backend.gate.countDown();
      assertEquals(42f, amax.get());
      assertEquals(List.of("freed"), backend.events);
    }
  }

  @Test
  void backendShutsDownOnceTheRunningOperationEnds()
      throws InterruptedException, ExecutionException {
    GatedBackend backend = new GatedBackend();
    try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
      Tensor x = backend.upload(HostTensor.of(new float[] {42}));
      backend.upload(HostTensor.of(new float[] {43}));
      Future<Float> amax = worker.submit(() -> backend.amax(x));
      backend.entered.await();
      backend.close();
      assertEquals(List.of("freed"), backend.events);
      backend.gate.countDown();
      assertEquals(42f, amax.get());
      assertEquals(List.of("freed", "freed", "shut down"), backend.events);
      backend.close();
      assertEquals(3, backend.events.size());
    }
  }

  @Test
  void scopeClosedByAnotherThreadWhileWorkRunsFreesTheResult()
      throws InterruptedException, ExecutionException {
    for (int round = 0; round < 50; round++) {
      try (ReferenceBackend backend = new ReferenceBackend();
          ExecutorService worker = Executors.newSingleThreadExecutor()) {
        Tensor x = backend.upload(ONES);
        Scope scope = backend.scope();
        Future<Integer> made =
            worker.submit(
                () -> {
                  int count = 0;
                  try {
                    while (true) {
                      scope.add(x, x);
                      count++;
                    }
                  } catch (IllegalStateException _) {
                    return count;
                  }
                });
        scope.close();
        assertTrue(made.get() >= 0);
        assertEquals(1, backend.liveTensors());
      }
    }
  }

  @Test
  void manyThreadsGetTheSameBitsUntilTheBackendIsClosed()
      throws InterruptedException, ExecutionException {
    float[] values = new float[12 * 17];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) Math.sin(i);
    }
    ReferenceBackend backend = new ReferenceBackend();
    Tensor x = backend.upload(HostTensor.of(values, 12, 17));
    Gemm product = Gemm.of(x, x.transposed());
    float[] expected = backend.download(backend.gemm(product)).toFloats();
    List<Future<Integer>> runs = new ArrayList<>();
    try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int t = 0; t < 16; t++) {
        runs.add(
            virtual.submit(
                () -> {
                  int done = 0;
                  try {
                    for (; done < 1000; done++) {
                      try (Tensor d = backend.gemm(product)) {
                        assertArrayEquals(expected, backend.download(d).toFloats());
                      }
                    }
                  } catch (IllegalStateException e) {
                    assertTrue(e.getMessage().contains("closed"), e.getMessage());
                  }
                  return done;
                }));
      }
      // At least one has run through before the others find the backend closed.
      assertTrue(runs.getFirst().get() > 0);
      backend.close();
      for (Future<Integer> run : runs) {
        assertTrue(run.get() >= 0);
      }
    }
    assertEquals(0, backend.liveTensors());
  }

  /** A backend of whose storages each fails to be freed. */
  private static final class StubbornBackend extends GatedBackend {
    @Override
    protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
      HostStorage storage = (HostStorage) super.allocate(dtype, shape, scaling);
      return new HostStorage(
          dtype,
          shape,
          scaling,
          storage.data(),
          storage.scales(),
          () -> {
            storage.close();
            throw new MinifloatException("freeing number " + events.size() + " fails");
          });
    }
  }

  @Test
  void aScopeClosesAllItsTensorsWhenFreeingFails() {
    StubbornBackend backend = new StubbornBackend();
    Scope scope = backend.scope();
    Tensor x = scope.upload(ONES);
    Tensor y = scope.upload(ONES);
    MinifloatException failure = assertThrows(MinifloatException.class, scope::close);
    assertEquals("freeing number 1 fails", failure.getMessage());
    assertEquals("freeing number 2 fails", failure.getSuppressed()[0].getMessage());
    assertTrue(x.isClosed() && y.isClosed());
    assertEquals(0, backend.liveTensors());
    backend.close();
  }

  @Test
  void aBackendShutsDownWhenFreeingFails() {
    StubbornBackend backend = new StubbornBackend();
    backend.upload(ONES);
    backend.upload(ONES);
    MinifloatException failure = assertThrows(MinifloatException.class, backend::close);
    assertEquals(1, failure.getSuppressed().length);
    assertEquals(List.of("freed", "freed", "shut down"), backend.events);
    assertEquals(0, backend.liveTensors());
  }

  @Test
  void anOperationEndsWhenFreeingItsOperandFails() throws Exception {
    StubbornBackend backend = new StubbornBackend();
    Tensor x = backend.upload(ONES);
    try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
      Future<Float> amax = pool.submit(() -> backend.amax(x));
      backend.entered.await();
      // Freed by the operation that uses it last.
      x.close();
      backend.gate.countDown();
      ExecutionException failure = assertThrows(ExecutionException.class, amax::get);
      assertEquals("freeing number 1 fails", failure.getCause().getMessage());
    }
    backend.close();
    assertEquals(List.of("freed", "shut down"), backend.events);
  }
}
