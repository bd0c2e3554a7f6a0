package dev.minifloat.cuda;

import dev.minifloat.Backend;
import dev.minifloat.cuda.internal.driver.DriverUnavailableException;
import dev.minifloat.cuda.internal.driver.Simulator;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;

/**
 * Offers {@link CudaBackend} on simulated devices, to those who ask for it by name. The simulator
 * is the artifact minifloat-cuda-sim.
 */
public final class SimulatedCudaProvider implements BackendProvider {
  private static final String NAME = "cuda-sim";
  private static final String DEVICE = "sm_89";

  /** For the service loader. */
  public SimulatedCudaProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "the kernels for NVIDIA GPUs on a simulated one, slowly; cuda-sim:sm_80 for another,"
        + " cuda-sim:sm_90a:hardware-model for tensor cores that add up as coarsely as real ones";
  }

  @Override
  public int priority() {
    return -1;
  }

  @Override
  public Availability availability() {
    try {
      Simulator.find().open(DEVICE, NAME);
      return new Availability.Available("simulated " + DEVICE);
    } catch (DriverUnavailableException e) {
      return e.why();
    }
  }

  @Override
  public Backend create() {
    return CudaBackend.simulated(NAME, DEVICE);
  }

  @Override
  public Backend create(String device) {
    return CudaBackend.simulated(NAME + ":" + device, device);
  }
}
