package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import java.util.List;
import java.util.function.Supplier;

/**
 * What every backend must do, as a list of checks that compare it with the codec and with exact
 * arithmetic. Checks share nothing but the backend, in which each leaves no tensor behind; they may
 * run in any order.
 */
public final class Contract {
  private Contract() {}

  /** The checks of a quick run, without those for what the backend doesn't support. */
  public static List<Check> checks(Backend backend) {
    return checks(backend, Size.QUICK);
  }

  /** The checks of a run of some size. */
  public static List<Check> checks(Backend backend, Size size) {
    return suite(backend, size).checks();
  }

  /**
   * The same, with the number of those that were left out. Checks that need a second backend, to
   * close it or to compare with, are there if {@link Backends#open} knows the backend's name.
   */
  public static Suite suite(Backend backend, Size size) {
    boolean known = Backends.isKnown(backend.name());
    return suite(backend, known ? () -> Backends.open(backend.name()) : null, size);
  }

  /**
   * The same for a backend that {@link Backends} need not know.
   *
   * @param fresh makes another backend of the same kind, which the check closes; null for none
   */
  public static Suite suite(Backend backend, Supplier<Backend> fresh, Size size) {
    Collector to = new Collector(backend, fresh, size);
    TransferChecks.addTo(to);
    ConvertChecks.addTo(to);
    QuantizeChecks.addTo(to);
    Fixture.addTo(to);
    DotChecks.addTo(to);
    GemmChecks.addTo(to);
    PackChecks.addTo(to);
    FloatChecks.addTo(to);
    AttentionChecks.addTo(to);
    GatherChecks.addTo(to);
    NanChecks.addTo(to);
    ExtremeChecks.addTo(to);
    ThreadChecks.addTo(to);
    LifecycleChecks.addTo(to);
    ArgumentChecks.addTo(to);
    SupportChecks.addTo(to);
    return to.suite();
  }
}
