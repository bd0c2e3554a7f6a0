package dev.minifloat.cuda.sim.internal;

import dev.minifloat.cuda.driver.SimulatorProvider;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.SymbolLookup;
import java.util.List;

/** Gives the CUDA backend simulated drivers that it asks for by a device's name. */
public final class SimulatedDrivers implements SimulatorProvider {
  /** For the service loader. */
  public SimulatedDrivers() {}

  @Override
  public List<String> devices() {
    return SimulatedDriver.kinds();
  }

  /** The driver's functions live as long as somebody refers to them. */
  @Override
  @SuppressWarnings("resource")
  public SymbolLookup open(String device) {
    return SimulatedDriver.of(device).lookup();
  }
}
