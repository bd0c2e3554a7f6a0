package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.SimulatorProvider;
import java.util.List;
import java.util.ServiceLoader;

/** Makes drivers whose devices are simulated, if something is there that does. */
public final class Simulator {
  private final SimulatorProvider provider;

  private Simulator(SimulatorProvider provider) {
    this.provider = provider;
  }

  /**
   * Looks for it on the module path and the class path.
   *
   * @throws DriverUnavailableException if there is none
   */
  public static Simulator find() {
    // It lies where this class does, which need not be where a thread's context class loader looks.
    return ServiceLoader.load(SimulatorProvider.class, Simulator.class.getClassLoader())
        .findFirst()
        .map(Simulator::new)
        .orElseThrow(
            () ->
                new DriverUnavailableException(
                    "there is no simulator on the module path or the class path",
                    "add the artifact minifloat-cuda-sim",
                    null));
  }

  /**
   * A new driver with one device.
   *
   * @param device such as sm_89, or sm_89:hardware-model
   * @param name what messages call the driver
   * @throws IllegalArgumentException if there is no such device, naming those that there are
   * @throws DriverUnavailableException if native access is denied
   */
  public Driver open(String device, String name) {
    List<String> devices = provider.devices();
    if (!devices.contains(device.split(":", 2)[0])) {
      throw new IllegalArgumentException(
          "name: there is no simulated device \"%s\"; there are %s"
              .formatted(device, String.join(", ", devices)));
    }
    try {
      return Driver.open(provider.open(device), name);
    } catch (IllegalCallerException e) {
      throw DriverLibrary.denied(
          "dev.minifloat.bindings,dev.minifloat.cuda,dev.minifloat.cuda.sim", e);
    }
  }
}
