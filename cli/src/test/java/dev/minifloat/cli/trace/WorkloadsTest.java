package dev.minifloat.cli.trace;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.Scope;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.cuda.sim.trace.TracedLaunch;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import dev.minifloat.cuda.sim.trace.Tracer;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadsTest {
  /** Which kernels were launched. */
  private static final class Launched implements Tracer {
    private final Set<String> kernels = new HashSet<>();

    @Override
    public boolean begins(TracedLaunch launch) {
      kernels.add(launch.kernel());
      return false;
    }

    @Override
    public boolean step(TracedWarp warp) {
      throw new AssertionError("nobody asked for steps");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {80, 89, 90, 100, 120})
  void everyKernelOfTheCatalogIsLaunchedBySomeUse(int capability) {
    Launched launched = new Launched();
    try (SimulatedDriver driver =
            SimulatedDriver.builder().device("sm_" + capability).tracer(launched).build();
        Backend backend = CudaBackend.on("test", driver.lookup(), 0)) {
      List<KernelEntry> kernels =
          KernelCatalog.load().kernels().stream()
              .filter(kernel -> kernel.file().target().capability() == capability)
              .toList();
      for (KernelEntry kernel : kernels) {
        for (Consumer<Scope> use : new Workloads(kernel, List.of()).uses()) {
          if (!launched.kernels.contains(kernel.entry())) {
            try (Scope scope = backend.scope()) {
              use.accept(scope);
              backend.synchronize();
            }
          }
        }
        assertTrue(launched.kernels.contains(kernel.entry()), kernel.entry());
      }
    }
  }
}
