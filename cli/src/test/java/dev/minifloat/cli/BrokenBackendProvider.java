package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.BackendProvider;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

/**
 * A backend all of whose kernels fail; those of the device {@code full} for want of memory. Not
 * registered: a test does that for itself.
 */
public final class BrokenBackendProvider implements BackendProvider {
  static final String NAME = "broken";
  static final String MESSAGE = "the abacus is out of beads";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "fails whatever it is asked";
  }

  @Override
  public int priority() {
    return -1;
  }

  @Override
  public Availability availability() {
    return new Availability.Available("nothing");
  }

  @Override
  public Backend create() {
    return new Broken(() -> new MinifloatException(MESSAGE));
  }

  @Override
  public Backend create(String device) {
    return new Broken(() -> new OutOfMemoryError(device));
  }

  private static final class Broken extends BackendBase {
    private final Kernels kernels;

    Broken(Supplier<Throwable> failure) {
      super(NAME);
      kernels =
          (Kernels)
              Proxy.newProxyInstance(
                  Kernels.class.getClassLoader(),
                  new Class<?>[] {Kernels.class},
                  (_, _, _) -> {
                    throw failure.get();
                  });
    }

    @Override
    public BackendInfo info() {
      return new BackendInfo("nothing", 0, 1);
    }

    @Override
    protected Kernels kernels() {
      return kernels;
    }

    @Override
    protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
      HostTensor host = HostTensor.allocate(Arena.ofAuto(), dtype, shape, scaling);
      return new HostStorage(dtype, shape, scaling, host.data(), host.scales(), () -> {});
    }

    @Override
    protected void upload(HostTensor source, Storage target) {
      ((HostStorage) target).copyFrom(source);
    }

    @Override
    protected HostTensor download(Storage source, Arena arena) {
      return ((HostStorage) source).copyTo(arena);
    }

    @Override
    protected void shutDown() {
      // The collector takes the memory.
    }
  }
}
