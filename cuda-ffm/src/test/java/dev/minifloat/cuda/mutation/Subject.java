package dev.minifloat.cuda.mutation;

import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.mutation.Laboratory.Outcome;
import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.Arena;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/** A backend on a simulated device whose kernels can be replaced. One thread at a time uses it. */
final class Subject implements AutoCloseable {
  /** Warp instructions of a launch; no probe needs a tenth of them. */
  private static final long MOST_INSTRUCTIONS = 5_000_000;

  /**
   * Decides in which order CTAs begin: one in which a later one's elements may be written first.
   */
  private static final long SEED = 7;

  private final SimulatedDriver driver;
  private final Arena arena = Arena.ofShared();
  private final MutatedDriver mutated;
  private final CudaBackend backend;
  private boolean usable = true;

  /**
   * Opens a device.
   *
   * @param device as {@code sm_80}
   * @param covering whether kernels note which of their blocks threads come to
   */
  Subject(String device, KernelTexts texts, boolean covering) {
    driver =
        SimulatedDriver.builder()
            .device("sim:" + device)
            // Products are exact, so that any order of their sums will do: this is the quickest.
            .arithmetic(Arithmetic.SEQUENTIAL_F32)
            .maxInstructions(MOST_INSTRUCTIONS)
            .seed(SEED)
            .build();
    mutated = new MutatedDriver(driver.lookup(), arena, texts, covering);
    backend = CudaBackend.on("mutated", mutated, 0);
  }

  /** Whether no kernel has ended the device's context. */
  boolean usable() {
    return usable;
  }

  /** The blocks of each kernel that threads came to since the last call. */
  Map<String, BitSet> covered() {
    return mutated.covered();
  }

  /**
   * Whether a probe tells a mutant from its kernel.
   *
   * @param mutant null for the kernels as they are
   */
  Outcome run(Probe probe, List<HostTensor> expected, Mutant mutant) {
    mutated.limit(probe.limit());
    mutated.mutate(mutant);
    try {
      Outcome outcome = compare(probe, expected);
      // What was launched for results that nobody looked at any more.
      backend.synchronize();
      return outcome;
    } catch (MinifloatException e) {
      usable = false;
      String why = driver.lastTrap().orElse(e.getMessage());
      return mutated.refused() ? new Outcome.Refused(why) : new Outcome.Killed(probe, why, true);
    }
  }

  private Outcome compare(Probe probe, List<HostTensor> expected) {
    try (Scope scope = backend.scope()) {
      List<Tensor> results = probe.use().on(scope);
      for (int i = 0; i < results.size(); i++) {
        String difference = probe.difference(expected.get(i), scope.download(results.get(i)));
        if (difference != null) {
          return new Outcome.Killed(probe, difference, false);
        }
      }
    }
    return new Outcome.Survived(1);
  }

  @Override
  public void close() {
    try (arena;
        driver) {
      backend.close();
    } catch (MinifloatException e) {
      // A context that a kernel ended can't give back what is in it.
      if (usable) {
        throw e;
      }
    }
  }
}
