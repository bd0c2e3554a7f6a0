package dev.minifloat.spi;

import dev.minifloat.Backend;

/**
 * How a backend is found: a service, declared with {@code provides} in a module descriptor and in
 * {@code META-INF/services/dev.minifloat.spi.BackendProvider} for the class path.
 *
 * <p>Creating a provider must neither fail nor load what may be missing; {@link #availability}
 * finds out.
 */
public interface BackendProvider {
  /** The backend's name: lower-case letters, digits and hyphens, unique. */
  String name();

  /** One line about it for people. */
  String description();

  /**
   * The rank in {@link dev.minifloat.Backends#best}: the highest available wins. The reference has
   * 0, the Vector API 100, a GPU 200. A negative one is opened by name only.
   */
  int priority();

  /** Whether it can run here, or why not. May be slow the first time; never throws. */
  Availability availability();

  /**
   * A new backend.
   *
   * @throws dev.minifloat.BackendUnavailableException if it can't run after all
   */
  Backend create();

  /**
   * A new backend on one of several devices.
   *
   * @param device what {@link dev.minifloat.Backends#open} was given behind the colon
   * @throws IllegalArgumentException if there is no such device, or nothing to choose from
   * @throws dev.minifloat.BackendUnavailableException if it can't run after all
   */
  default Backend create(String device) {
    throw new IllegalArgumentException(
        "name: backend " + name() + " has no device \"" + device + "\": its name goes without one");
  }
}
