package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.Leak;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A simulated driver for a test, whose end finds what the test didn't close. */
public final class Simulated implements AutoCloseable {
  private final SimulatedDriver simulator;
  private final Driver driver;

  private Simulated(SimulatedDriver simulator, Driver driver) {
    this.simulator = simulator;
    this.driver = driver;
  }

  /** Devices by their names, {@code sim:sm_89} for example, separated by commas. */
  public static Simulated of(String devices) {
    return of(SimulatedDriver.of(devices));
  }

  /** A given driver. */
  public static Simulated of(SimulatedDriver simulator) {
    return new Simulated(simulator, Driver.open(simulator.lookup(), "the simulator"));
  }

  /** A driver without some functions. */
  static Simulated without(SimulatedDriver simulator, String... functions) {
    Set<String> absent = Set.of(functions);
    SymbolLookup lookup =
        name -> absent.contains(name) ? Optional.empty() : simulator.lookup().find(name);
    return new Simulated(simulator, Driver.open(lookup, "an older simulator"));
  }

  /** Its insides: faults, leaks, counters. */
  public SimulatedDriver simulator() {
    return simulator;
  }

  /** The driver under test. */
  public Driver driver() {
    return driver;
  }

  /** The first device's context, retained for the caller to close. */
  public PrimaryContext context() {
    return PrimaryContext.retain(driver.devices().getFirst());
  }

  /** Throws unless everything that was made has been given back. */
  public void requireNoLeaks() {
    assertEquals(List.of(), simulator.leaks().stream().map(Leak::toString).toList(), "leaks");
  }

  @Override
  public void close() {
    try {
      requireNoLeaks();
    } finally {
      simulator.close();
    }
  }
}
