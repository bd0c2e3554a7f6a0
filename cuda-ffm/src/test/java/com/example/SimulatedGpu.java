package com.example;

import dev.minifloat.Backend;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.Backends;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;

/** A program that knows nothing but the API: which backends there are, and a product on one. */
public final class SimulatedGpu {
  private SimulatedGpu() {}

  /** Prints what it finds. */
  public static void main(String[] arguments) {
    Backends.report().forEach(System.out::println);
    try (Backend best = Backends.best()) {
      System.out.println("best " + best.name());
    }
    try (Backend backend = Backends.open("cuda-sim:sm_89");
        Scope scope = backend.scope()) {
      Tensor x = scope.upload(HostTensor.of(new float[] {1, 2, 3}));
      System.out.println(backend.name() + " gives " + scope.dot(x, x));
    } catch (BackendUnavailableException e) {
      System.out.println(e.getMessage());
    }
  }
}
