package dev.minifloat.cuda.sim.internal;

import dev.minifloat.cuda.driver.SimulatorProvider;
import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    String[] parts = device.split(":", 2);
    SimulatedDriver.Builder builder = SimulatedDriver.builder().device(parts[0]);
    if (parts.length > 1) {
      builder.arithmetic(arithmetic(parts[1]));
    }
    return builder.build().lookup();
  }

  private static Arithmetic arithmetic(String wanted) {
    return Stream.of(Arithmetic.values())
        .filter(arithmetic -> name(arithmetic).equals(wanted))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "name: simulated tensor cores can't add up as \"%s\"; there are %s"
                        .formatted(
                            wanted,
                            Stream.of(Arithmetic.values())
                                .map(SimulatedDrivers::name)
                                .collect(Collectors.joining(", ")))));
  }

  private static String name(Arithmetic arithmetic) {
    return arithmetic.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
