package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** The same bits on each run and on any thread; closing while others compute. */
final class ThreadChecks {
  private static final String DETERMINISM = "determinism";
  private static final String CONCURRENCY = "concurrency";
  private static final int PLATFORM_THREADS = 3;
  private static final int VIRTUAL_THREADS = 6;

  private ThreadChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    boolean workload = Workload.supportedBy(backend);
    boolean gemm = to.supports(Op.GEMM, DType.F32);
    Supplier<Backend> fresh = to.fresh();
    to.addIf(workload, DETERMINISM, "the same bits on each run", () -> runs(backend));
    to.addIf(
        workload && fresh != null,
        DETERMINISM,
        "the same bits on a fresh backend",
        () -> freshRuns(backend, fresh));
    to.addIf(
        workload, CONCURRENCY, "the same bits on platform and virtual threads", () -> all(backend));
    to.addIf(
        to.supports(Op.DOT, DType.F32),
        CONCURRENCY,
        "tensors pass between threads",
        () -> passed(backend));
    to.addIf(gemm, CONCURRENCY, "closing a tensor in use", () -> closing(backend));
    to.addIf(
        gemm && fresh != null,
        CONCURRENCY,
        "closing a backend in use",
        () -> closingBackend(fresh));
  }

  private static void runs(Backend backend) {
    Workload workload = new Workload();
    List<HostTensor> first = workload.run(backend);
    for (int i = 0; i < 3; i++) {
      Workload.requireSame("run " + (i + 2), first, workload.run(backend));
    }
  }

  private static void freshRuns(Backend backend, Supplier<Backend> fresh) {
    Workload workload = new Workload();
    List<HostTensor> first = workload.run(backend);
    try (Backend other = fresh.get()) {
      Workload.requireSame("a fresh backend", first, workload.run(other));
    }
  }

  private static void all(Backend backend) throws Exception {
    Workload workload = new Workload();
    List<HostTensor> expected = workload.run(backend);
    Callable<Void> task =
        () -> {
          Workload.requireSame(Thread.currentThread().toString(), expected, workload.run(backend));
          return null;
        };
    try (ExecutorService platform = Executors.newFixedThreadPool(PLATFORM_THREADS);
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < PLATFORM_THREADS; i++) {
        running.add(platform.submit(task));
      }
      for (int i = 0; i < VIRTUAL_THREADS; i++) {
        running.add(virtual.submit(task));
      }
      await(running);
    }
  }

  private static void await(List<? extends Future<?>> running) throws Exception {
    for (Future<?> future : running) {
      try {
        future.get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof ContractViolation violation) {
          throw violation;
        }
        throw e;
      }
    }
  }

  /** Made on one thread, used on a second, closed on a third, virtual ones among them. */
  private static void passed(Backend backend) throws Exception {
    float[] ones = new float[1000];
    Arrays.fill(ones, 1);
    try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService platform = Executors.newSingleThreadExecutor()) {
      Tensor x = virtual.submit(() -> backend.upload(HostTensor.of(ones))).get();
      float dot = platform.submit(() -> backend.dot(x, x)).get();
      Compare.sameValue("dot on another thread", 1000, dot);
      virtual.submit(x::close).get();
      Expect.illegalState("dot of a tensor that another thread closed", () -> backend.dot(x, x));
    }
  }

  private static void closing(Backend backend) throws Exception {
    for (int round = 0; round < 5; round++) {
      Tensor a = operand(backend);
      closeInUse(backend, a, a);
      Compare.equal("isClosed", true, a.isClosed());
    }
  }

  private static void closingBackend(Supplier<Backend> fresh) throws Exception {
    for (int round = 0; round < 3; round++) {
      Backend backend = fresh.get();
      closeInUse(backend, operand(backend), backend);
      HostTensor one = HostTensor.of(new float[1]);
      Expect.illegalState("upload to a closed backend", () -> backend.upload(one));
    }
  }

  private static Tensor operand(Backend backend) {
    return backend.upload(HostTensor.of(Data.numbers(1, 60 * 300), 60, 300));
  }

  /** A product either comes out right or says that its operand is closed. */
  private static void closeInUse(Backend backend, Tensor a, AutoCloseable closed) throws Exception {
    float expected;
    try (Tensor d = backend.gemm(Gemm.of(a, a.transposed()))) {
      expected = backend.download(d).get(0);
    }
    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
      CountDownLatch started = new CountDownLatch(2);
      Callable<Void> product =
          () -> {
            multiplyUntilClosed(backend, a, expected, started);
            return null;
          };
      List<Future<Void>> running = List.of(pool.submit(product), pool.submit(product));
      started.await();
      closed.close();
      await(running);
    }
  }

  private static void multiplyUntilClosed(
      Backend backend, Tensor a, float expected, CountDownLatch started) {
    boolean first = true;
    try {
      while (true) {
        try (Tensor d = backend.gemm(Gemm.of(a, a.transposed()))) {
          Compare.sameValue("product while closing", expected, backend.download(d).get(0));
        }
        if (first) {
          started.countDown();
          first = false;
        }
      }
    } catch (IllegalStateException e) {
      // The operand is closed, as it should be by now, or the backend is.
      if (first) {
        throw new ContractViolation("a product before anything was closed threw " + e, e);
      }
    } finally {
      started.countDown();
    }
  }
}
