package dev.minifloat.reference;

import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;

/**
 * The backend to learn from and to test against: plain loops, one thread, sums in double. Slow, and
 * right to the last bit that the numerics contract fixes.
 */
public final class ReferenceBackend extends BackendBase {
  /** Its name among the backends. */
  public static final String NAME = "reference";

  private final Kernels kernels = new ReferenceKernels();

  /** A new one. */
  public ReferenceBackend() {
    super(NAME);
  }

  /**
   * The reference's kernels, for any backend whose tensors lie in {@link HostStorage}: a new
   * backend can begin with these and replace them one by one.
   */
  public static Kernels hostKernels() {
    return new ReferenceKernels();
  }

  @Override
  public BackendInfo info() {
    return new BackendInfo("plain Java, sums in double", 0, 1);
  }

  @Override
  protected Kernels kernels() {
    return kernels;
  }

  @Override
  @SuppressWarnings("MustBeClosedChecker") // the storage closes the arena
  protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
    Arena arena = Arena.ofShared();
    boolean done = false;
    try {
      HostTensor host = HostTensor.allocate(arena, dtype, shape, scaling);
      done = true;
      return new HostStorage(dtype, shape, scaling, host.data(), host.scales(), arena::close);
    } finally {
      if (!done) {
        arena.close();
      }
    }
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
    // Nothing is held beyond the tensors.
  }
}
