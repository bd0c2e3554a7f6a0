package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.SimulatedDriver;
import java.util.List;
import java.util.Optional;

/** A backend on a simulated device of its own; closing it checks that nothing is left behind. */
public final class SimulatedBackend implements AutoCloseable {
  private final SimulatedDriver driver;
  private final CudaBackend backend;

  /** A backend on a device such as {@code sm_89}. */
  public SimulatedBackend(String device) {
    this(SimulatedDriver.of("sim:" + device));
  }

  /** A backend on a driver's only device. */
  public SimulatedBackend(SimulatedDriver driver) {
    this.driver = driver;
    backend = open();
  }

  /** Another backend on the same device. */
  public CudaBackend open() {
    return CudaBackend.on("cuda-sim", driver.lookup(), 0);
  }

  /** The driver. */
  public SimulatedDriver driver() {
    return driver;
  }

  /** The backend. */
  public CudaBackend backend() {
    return backend;
  }

  @Override
  public void close() {
    try (driver) {
      backend.close();
      assertEquals(List.of(), driver.leaks());
      assertEquals(Optional.empty(), driver.lastTrap());
    }
  }
}
