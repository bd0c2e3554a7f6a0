package dev.minifloat.outside;

import dev.minifloat.Backend;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.reference.ReferenceBackend;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;
import java.util.List;

/** Providers as others might write them, good and bad, declared for the class path. */
public final class Providers {
  private Providers() {}

  /** Ranks first and can't run, for two reasons. */
  public static final class Absent extends Named {
    /** For the service loader. */
    public Absent() {
      super("absent", 300);
    }

    @Override
    public Availability availability() {
      return new Availability.Unavailable(
          List.of(
              new Availability.Reason("there is no such card", "insert one"),
              new Availability.Reason("there is no driver", "install libabsent")));
    }
  }

  /** Breaks the promise not to throw. */
  public static final class Broken extends Named {
    /** For the service loader. */
    public Broken() {
      super("broken", 250);
    }

    @Override
    public Availability availability() {
      throw new UnsupportedOperationException("not today");
    }
  }

  /** Says that it can run, and then can't. */
  public static final class Fickle extends Named {
    /** For the service loader. */
    public Fickle() {
      super("fickle", 220);
    }

    @Override
    public Backend create() {
      throw new BackendUnavailableException("the card fell off the bus");
    }
  }

  /** Works, but is opened by name only. */
  public static final class Shy extends Named {
    /** For the service loader. */
    public Shy() {
      super("shy", -1);
    }

    @Override
    public Backend create(String device) {
      if (device.equals("corner")) {
        return create();
      }
      throw new IllegalArgumentException("name: there is no " + device);
    }
  }

  /** A provider of the reference backend under another name. */
  abstract static class Named implements BackendProvider {
    private final String name;
    private final int priority;

    Named(String name, int priority) {
      this.name = name;
      this.priority = priority;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public String description() {
      return name + " for a test";
    }

    @Override
    public int priority() {
      return priority;
    }

    @Override
    public Availability availability() {
      return new Availability.Available("a test");
    }

    @Override
    public Backend create() {
      return new ReferenceBackend();
    }
  }
}
