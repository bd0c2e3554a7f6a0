package dev.minifloat.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class LargeExtentsTest {
  /** The reference's kernels over tensors whose memory is not there, so that they can be huge. */
  private static final class Hollow extends BackendBase {
    private final Kernels kernels = ReferenceBackend.hostKernels();

    Hollow() {
      super("hollow");
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
    protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
      return new HostStorage(dtype, shape, scaling, SPACE, SPACE, () -> {});
    }

    @Override
    protected void upload(HostTensor source, Storage target) {}

    @Override
    protected HostTensor download(Storage source, Arena arena) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected void shutDown() {}
  }

  /** Addresses that are counted, never read. */
  private static final MemorySegment SPACE = MemorySegment.NULL.reinterpret(1L << 50);

  private static void assertRefused(String number, Executable call) {
    String message = assertThrows(MinifloatException.class, call).getMessage();
    assertTrue(message.contains(number), message);
  }

  @Test
  void elementsBeyondAnArrayAreRefusedByNumber() {
    long many = (1L << 31) + 6;
    try (Hollow backend = new Hollow()) {
      for (Shape shape :
          new Shape[] {Shape.of(many, 1), Shape.of(1, many), Shape.of(many / 2, 2)}) {
        Tensor x = backend.upload(HostTensor.wrap(DType.F32, shape, SPACE));
        String number = "" + many;
        assertRefused(number, () -> backend.amax(x));
        assertRefused(number, () -> backend.softmax(Softmax.of(x)));
        assertRefused(number, () -> backend.l2Normalize(x));
        assertRefused(number, () -> backend.gemv(x.transposed().transposed(), row(x)));
        assertRefused(number, () -> backend.gemm(Gemm.of(x, x.transposed().slice(1, 0, 1))));
      }
      assertEquals(3, backend.liveTensors());
    }
  }

  private static Tensor row(Tensor x) {
    return x.slice(0, 0, 1).reshape(x.shape().columns());
  }
}
