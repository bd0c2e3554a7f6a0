package dev.minifloat.reference;

import dev.minifloat.Backend;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;

/** Offers {@link ReferenceBackend}, which runs everywhere. */
public final class ReferenceProvider implements BackendProvider {
  /** For the service loader. */
  public ReferenceProvider() {}

  @Override
  public String name() {
    return ReferenceBackend.NAME;
  }

  @Override
  public String description() {
    return "plain Java loops with sums in double: the oracle";
  }

  @Override
  public int priority() {
    return 0;
  }

  @Override
  public Availability availability() {
    return new Availability.Available("any JVM");
  }

  @Override
  public Backend create() {
    return new ReferenceBackend();
  }
}
