package dev.minifloat.cuda.driver;

import java.util.List;

/**
 * A service: drivers whose devices are simulated. It is all that the CUDA backend knows of a
 * simulator, and where there is none, it does without.
 */
public interface SimulatorProvider {
  /** The devices that can be simulated, by the names that NVIDIA gives them: sm_89. */
  List<String> devices();

  /**
   * A new driver.
   *
   * @param device the only one that it has, one of {@link #devices}; after a colon may stand how
   *     its tensor cores add up: {@code sm_90a:hardware-model}, with {@code exact} and {@code
   *     sequential-f32} the others
   * @return finds the driver's functions by their symbols ({@code cuMemAlloc_v2}); they stay
   *     callable while it is reachable
   * @throws IllegalArgumentException if there is no such device, or way to add up
   * @throws IllegalCallerException if the JVM denies it native access
   */
  java.lang.foreign.SymbolLookup open(String device);
}
