package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.SimulatedBackend;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;

/** Tensors on a simulated device to make views of. */
final class Views implements AutoCloseable {
  private final SimulatedBackend simulated = new SimulatedBackend("sm_80");

  TensorView tensor(DType dtype, Scaling scaling, long... dims) {
    Tensor tensor =
        simulated
            .backend()
            .upload(HostTensor.allocate(Arena.ofAuto(), dtype, Shape.of(dims), scaling));
    return (TensorView) tensor;
  }

  TensorView floats(long... dims) {
    return tensor(DType.F32, Scaling.none(), dims);
  }

  @Override
  public void close() {
    simulated.close();
  }
}
