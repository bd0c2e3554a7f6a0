package dev.minifloat.spi;

import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.lang.foreign.Arena;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * A backend whose {@code amax} waits inside the kernel until it is let go, then reads its operand;
 * every other kernel does nothing. It writes down what is freed and shut down.
 */
class GatedBackend extends BackendBase {
  final CountDownLatch entered = new CountDownLatch(1);
  final CountDownLatch gate = new CountDownLatch(1);
  final List<String> events = new CopyOnWriteArrayList<>();

  private final Kernels kernels =
      (Kernels)
          Proxy.newProxyInstance(
              Kernels.class.getClassLoader(),
              new Class<?>[] {Kernels.class},
              (_, method, arguments) -> {
                if (!method.getName().equals("amax")) {
                  return null;
                }
                entered.countDown();
                gate.await();
                HostStorage storage = (HostStorage) ((TensorView) arguments[0]).storage();
                return storage.asHostTensor().get(0);
              });

  GatedBackend() {
    super("gated");
  }

  @Override
  public BackendInfo info() {
    return new BackendInfo("test", 0, 1);
  }

  @Override
  protected Kernels kernels() {
    return kernels;
  }

  @Override
  @SuppressWarnings("MustBeClosedChecker") // the storage closes the arena
  protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
    Arena arena = Arena.ofShared();
    HostTensor host = HostTensor.allocate(arena, dtype, shape, scaling);
    return new HostStorage(
        dtype,
        shape,
        scaling,
        host.data(),
        host.scales(),
        () -> {
          arena.close();
          events.add("freed");
        });
  }

  @Override
  protected void upload(HostTensor source, Storage target) {
    ((HostStorage) target).data().copyFrom(source.data());
  }

  @Override
  protected HostTensor download(Storage source, Arena arena) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected void shutDown() {
    events.add("shut down");
  }
}
