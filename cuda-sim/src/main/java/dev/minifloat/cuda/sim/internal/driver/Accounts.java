package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.List;

/** What a client made and didn't give back. */
public final class Accounts {
  /**
   * One thing.
   *
   * @param kind what sort of thing
   * @param details which one
   * @param sweptUp whether its context's end took it away
   * @param origin the client's frames where it was made, innermost first
   */
  public record Entry(String kind, String details, boolean sweptUp, List<String> origin) {}

  private final Handles handles;
  private final List<Entry> swept = new ArrayList<>();

  Accounts(Handles handles) {
    this.handles = handles;
  }

  /** Notes that something ended with its context and not by the client's wish. */
  void swept(Resource resource) {
    swept.add(entry(resource, true));
  }

  private static Entry entry(Resource resource, boolean sweptUp) {
    return new Entry(resource.kind(), resource.details(), sweptUp, resource.origin());
  }

  List<Entry> entries(List<Device> devices) {
    List<Entry> found = new ArrayList<>(swept);
    for (Device device : devices) {
      Context context = device.primary();
      if (context.isActive()) {
        String details =
            "device %d's primary context, retained %d times"
                .formatted(device.ordinal(), context.users());
        found.add(new Entry(context.kind(), details, false, context.retainedAt()));
      }
    }
    for (Resource resource : handles.all()) {
      if (resource.isOwned()) {
        found.add(entry(resource, false));
      }
    }
    return found;
  }
}
