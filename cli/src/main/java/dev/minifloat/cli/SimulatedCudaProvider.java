package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;

/** Offers {@link CudaBackend} on simulated devices, to those who ask for it by name. */
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
    return "the kernels for NVIDIA GPUs on a simulated one, slowly; cuda-sim:sm_80 for another";
  }

  @Override
  public int priority() {
    return -1;
  }

  @Override
  public Availability availability() {
    return new Availability.Available("simulated " + DEVICE);
  }

  @Override
  public Backend create() {
    return open(NAME, DEVICE);
  }

  /** One device: {@link SimulatedDriver#of} would take several. */
  @Override
  public Backend create(String device) {
    if (!SimulatedDriver.kinds().contains(device)) {
      throw new IllegalArgumentException(
          "name: there is no simulated device \"%s\"; there are %s"
              .formatted(device, String.join(", ", SimulatedDriver.kinds())));
    }
    return open(NAME + ":" + device, device);
  }

  /** The driver's functions live as long as the backend refers to them. */
  @SuppressWarnings("resource")
  private static Backend open(String name, String device) {
    return CudaBackend.on(name, SimulatedDriver.of("sim:" + device).lookup(), 0);
  }
}
