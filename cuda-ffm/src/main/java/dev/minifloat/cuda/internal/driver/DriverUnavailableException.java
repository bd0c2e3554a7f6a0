package dev.minifloat.cuda.internal.driver;

import dev.minifloat.MinifloatException;
import dev.minifloat.spi.Availability;

/** No driver can be used here. */
public final class DriverUnavailableException extends MinifloatException {
  private static final long serialVersionUID = 1L;

  private final transient Availability.Unavailable why;

  DriverUnavailableException(String what, String remedy, Throwable cause) {
    super(what + "; " + remedy, cause);
    this.why = Availability.Unavailable.because(what, remedy);
  }

  /** The reason, and what helps. */
  public Availability.Unavailable why() {
    return why;
  }
}
