package dev.minifloat;

import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the backends on the module path and the class path. */
public final class Backends {
  private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

  /** Stands before a device's name. */
  private static final char DEVICE = ':';

  private Backends() {}

  /**
   * One backend that was found.
   *
   * @param name what {@link Backends#open} takes
   * @param description one line about it
   * @param priority its rank in {@link Backends#best}; negative: by name only
   * @param availability whether it can run, or why not and what to do about it
   */
  public record Report(String name, String description, int priority, Availability availability) {
    @Override
    public String toString() {
      return switch (availability) {
        case Availability.Available(String device) -> name + ": usable, on " + device;
        case Availability.Unavailable(List<Availability.Reason> reasons) ->
            name + ": not usable: " + joined(reasons);
      };
    }
  }

  /**
   * Opens the available backend of the highest priority: CUDA if a device answers, else the Vector
   * API, else the reference. The choice, and why a better one was passed over, is logged once at
   * INFO.
   */
  public static Backend best() {
    List<String> passedOver = new ArrayList<>();
    for (BackendProvider provider : providers().values()) {
      if (provider.priority() < 0) {
        continue;
      }
      switch (availability(provider)) {
        case Availability.Available(String device) -> {
          Backend backend;
          try {
            backend = provider.create();
          } catch (BackendUnavailableException e) {
            passedOver.add(provider.name() + " (" + e.getMessage() + ")");
            continue;
          }
          LOG.info(
              "Using backend {} on {}{}",
              provider.name(),
              device,
              passedOver.isEmpty() ? "" : "; passed over " + String.join("; ", passedOver));
          return backend;
        }
        case Availability.Unavailable(List<Availability.Reason> reasons) ->
            passedOver.add(provider.name() + " (" + joined(reasons) + ")");
      }
    }
    throw new BackendUnavailableException("No backend can run: " + String.join("; ", passedOver));
  }

  /**
   * Opens a backend by name. Behind a colon the name may have one of the backend's devices: {@code
   * cuda:1}.
   *
   * @throws IllegalArgumentException if there is none of that name, naming those there are, or no
   *     such device
   * @throws BackendUnavailableException if it can't run here, with reasons and remedies
   */
  public static Backend open(String name) {
    BackendProvider provider = providers().get(withoutDevice(name));
    if (provider == null) {
      throw new IllegalArgumentException(
          "name: no backend is called \"" + name + "\"; there are " + names());
    }
    if (availability(provider) instanceof Availability.Unavailable(var reasons)) {
      throw new BackendUnavailableException(
          "Backend " + name + " can't run here: " + joined(reasons));
    }
    int colon = name.indexOf(DEVICE);
    return colon < 0 ? provider.create() : provider.create(name.substring(colon + 1));
  }

  /** Whether {@link #open} knows a backend of that name; its device isn't looked at. */
  public static boolean isKnown(String name) {
    return providers().containsKey(withoutDevice(name));
  }

  private static String withoutDevice(String name) {
    int colon = name.indexOf(DEVICE);
    return colon < 0 ? name : name.substring(0, colon);
  }

  /** Names of all backends that were found, best first. */
  public static List<String> names() {
    return List.copyOf(providers().keySet());
  }

  /** Every backend that was found, best first: usable, or why not and what to do about it. */
  public static List<Report> report() {
    return providers().values().stream()
        .map(p -> new Report(p.name(), p.description(), p.priority(), availability(p)))
        .toList();
  }

  /** A provider's answer; one that breaks its promise not to throw can't run, and says why. */
  private static Availability availability(BackendProvider provider) {
    try {
      return provider.availability();
    } catch (RuntimeException | LinkageError e) {
      LOG.debug("Backend {} failed to say whether it can run", provider.name(), e);
      return Availability.Unavailable.because(
          "finding out failed: " + e,
          "report this to the authors of " + provider.getClass().getName());
    }
  }

  private static String joined(List<Availability.Reason> reasons) {
    return reasons.stream().map(Availability.Reason::toString).collect(Collectors.joining("; "));
  }

  /** Providers by name, best first. */
  private static Map<String, BackendProvider> providers() {
    List<BackendProvider> found = new ArrayList<>();
    try {
      ServiceLoader.load(BackendProvider.class).forEach(found::add);
      if (found.isEmpty()) {
        // A context class loader, a container's say, need not see what this class's loader sees.
        ServiceLoader.load(BackendProvider.class, Backends.class.getClassLoader())
            .forEach(found::add);
      }
    } catch (ServiceConfigurationError e) {
      throw new MinifloatException("A backend provider can't be loaded: " + e.getMessage(), e);
    }
    found.sort(
        Comparator.comparingInt(BackendProvider::priority)
            .reversed()
            .thenComparing(BackendProvider::name));
    Map<String, BackendProvider> byName = new LinkedHashMap<>();
    found.forEach(provider -> byName.putIfAbsent(provider.name(), provider));
    return byName;
  }
}
