package dev.minifloat.cpu;

import dev.minifloat.Backend;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;

/**
 * Offers {@link VectorBackend} where the Vector API is there.
 *
 * <p>The API is an incubator module: a program on the module path gets it with this module, one on
 * the class path only with a flag, which {@link #availability} names. This class itself mentions
 * nothing of it, so that it loads either way.
 */
public final class VectorProvider implements BackendProvider {
  private static final String MODULE = "jdk.incubator.vector";

  /** For the service loader. */
  public VectorProvider() {}

  @Override
  public String name() {
    return "vector";
  }

  @Override
  public String description() {
    return "the Vector API on all cores";
  }

  @Override
  public int priority() {
    return 100;
  }

  @Override
  public Availability availability() {
    if (ModuleLayer.boot().findModule(MODULE).isEmpty()) {
      return Availability.Unavailable.because(
          "the JVM runs without the module " + MODULE, "start java with --add-modules " + MODULE);
    }
    return new Availability.Available(VectorBackend.device());
  }

  @Override
  public Backend create() {
    return new VectorBackend();
  }

  /**
   * Throws if the backend can't run here.
   *
   * @throws BackendUnavailableException with the flag that helps
   */
  static void requireAvailable() {
    if (new VectorProvider().availability() instanceof Availability.Unavailable(var reasons)) {
      throw new BackendUnavailableException("Backend vector can't run here: " + reasons.getFirst());
    }
  }
}
