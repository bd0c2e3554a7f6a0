package dev.minifloat.outside;

import dev.minifloat.Backend;
import dev.minifloat.Backends;

/** Prints the module of the library, the names of all backends and that of the best one. */
public final class ListBackends {
  private ListBackends() {}

  /** The program. */
  public static void main(String[] args) {
    System.out.println(Backends.class.getModule().getName());
    System.out.println(String.join(" ", Backends.names()));
    try (Backend backend = Backends.best()) {
      System.out.println(backend.name());
    }
  }
}
