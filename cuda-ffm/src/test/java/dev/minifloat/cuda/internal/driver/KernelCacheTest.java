package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelParameter;
import dev.minifloat.kernels.Operation;
import dev.minifloat.kernels.ParameterType;
import dev.minifloat.kernels.Target;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Modules and their kernels. */
class KernelCacheTest {
  private static final KernelCatalog CATALOG = KernelCatalog.load();

  private static final List<KernelEntry> F8_PRODUCTS =
      CATALOG.find(Operation.GEMM, 89, List.of("F8_E4M3", "F8_E4M3", "BF16"), List.of("tensor"));

  private static KernelEntry scaleWith(KernelParameter... parameters) {
    return TestKernels.entry("scale", 0, parameters);
  }

  /** On a device of the target; of those for all newer devices, on an sm_89. */
  @Test
  void everyKernelOfTheCatalogLoads() {
    Map<String, List<KernelEntry>> byDevice =
        CATALOG.kernels().stream()
            .collect(
                Collectors.groupingBy(
                    kernel -> {
                      Target target = kernel.file().target();
                      return target.reach() == Target.Reach.NEWER ? "sm_89" : target.toString();
                    }));
    byDevice.forEach(
        (device, entries) -> {
          try (Simulated sim = Simulated.of("sim:" + device);
              PrimaryContext context = sim.context();
              KernelCache kernels = new KernelCache(context, CATALOG)) {
            for (KernelEntry entry : entries) {
              assertEquals(entry, kernels.get(entry).entry());
            }
            long files = entries.stream().map(KernelEntry::file).distinct().count();
            assertEquals(files, sim.simulator().faults().count("cuModuleLoadDataEx"));
          }
        });
  }

  @Test
  void aKernelIsLoadedOnce() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context();
        KernelCache kernels = new KernelCache(context, CATALOG)) {
      KernelEntry entry = CATALOG.kernel("dot_sum", 80);
      assertSame(kernels.get(entry), kernels.get(entry));
      assertEquals(1, sim.simulator().faults().count("cuModuleGetFunction"));
    }
  }

  @Test
  void ptxThatIsTooNewGivesWayToOlderKernels() {
    assertEquals("8.4", F8_PRODUCTS.getFirst().file().version());
    SimulatedDriver old = SimulatedDriver.builder().device("sim:sm_89").newestPtx(8, 0).build();
    try (Simulated sim = Simulated.of(old);
        PrimaryContext context = sim.context();
        KernelCache kernels = new KernelCache(context, CATALOG)) {
      KernelEntry chosen = F8_PRODUCTS.stream().filter(kernels::takes).findFirst().orElseThrow();
      assertEquals("gemm_f8_e4m3_f8_e4m3", chosen.entry());
      long loads = sim.simulator().faults().count("cuModuleLoadDataEx");
      assertEquals(false, kernels.takes(F8_PRODUCTS.getFirst()));
      assertEquals(loads, sim.simulator().faults().count("cuModuleLoadDataEx"), "asked again");
      CudaException none =
          assertThrows(CudaException.class, () -> kernels.get(F8_PRODUCTS.getFirst()));
      assertEquals("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", none.resultName());
      assertTrue(
          none.getMessage()
              .startsWith(
                  "gemm_f8_native_e4m3_e4m3 needs a driver that knows PTX 8.4: install a newer one; "),
          none.getMessage());
      assertTrue(none.getMessage().contains("current version is '8.0'"), none.getMessage());
    }
  }

  @Test
  void otherFailuresGiveWayToNothing() {
    try (Simulated sim = Simulated.of("sim:sm_89");
        PrimaryContext context = sim.context();
        KernelCache kernels = new KernelCache(context, CATALOG)) {
      KernelEntry wanted = F8_PRODUCTS.getFirst();
      sim.simulator().faults().failCall("cuModuleLoadDataEx", 1, 2);
      CudaException e = assertThrows(CudaException.class, () -> kernels.takes(wanted));
      assertEquals("CUDA_ERROR_OUT_OF_MEMORY", e.resultName());
      assertTrue(kernels.takes(wanted), "the next time");
      assertSame(kernels.get(wanted), kernels.get(wanted));
    }
  }

  @Test
  void kernelsThatEveryDriverKnowsAreNotCompiledForTheQuestion() {
    try (Simulated sim = Simulated.of("sim:sm_89");
        PrimaryContext context = sim.context();
        KernelCache kernels = new KernelCache(context, CATALOG)) {
      assertTrue(kernels.takes(CATALOG.kernel("dot_sum", 80)));
      assertEquals(0, sim.simulator().faults().count("cuModuleLoadDataEx"));
    }
  }

  @Test
  void closedCachesLoadNothing() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context()) {
      KernelCache kernels = new KernelCache(context, CATALOG);
      KernelEntry entry = CATALOG.kernel("dot_sum", 80);
      kernels.get(entry);
      kernels.close();
      kernels.close();
      assertThrows(IllegalStateException.class, () -> kernels.get(entry));
    }
  }

  @Test
  void theCompilersWordsAreInTheMessage() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context()) {
      String wrong = TestKernels.SCALE.replace("fma.rn.f32", "fma.rn.f33");
      CudaException e = assertThrows(CudaException.class, () -> TestKernels.load(context, wrong));
      assertEquals("CUDA_ERROR_INVALID_PTX", e.resultName());
      assertTrue(e.getMessage().startsWith("test.ptx can't be compiled for Simulated sm_80"));
      assertTrue(e.getMessage().contains("ptxas error"), e.getMessage());
      assertTrue(e.getMessage().contains("21"), "the line: " + e.getMessage());
    }
  }

  @Test
  void kernelsThatAModuleLacksAreNamed() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context();
        PtxModule module = TestKernels.load(context, TestKernels.SCALE)) {
      CudaException e =
          assertThrows(CudaException.class, () -> module.kernel(TestKernels.STRAY_ENTRY));
      assertTrue(e.getMessage().startsWith("no kernel stray in test.ptx: cuModuleGetFunction("));
      assertEquals("CUDA_ERROR_NOT_FOUND", e.resultName());
    }
  }

  @Test
  void parametersMustBeTheCatalogs() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context();
        PtxModule module = TestKernels.load(context, TestKernels.SCALE)) {
      KernelEntry wider =
          scaleWith(
              new KernelParameter("x", ParameterType.POINTER, 0),
              new KernelParameter("n", ParameterType.I64, 8));
      MinifloatException e = assertThrows(MinifloatException.class, () -> module.kernel(wider));
      assertEquals(
          "scale of test.ptx: parameter n has 4 bytes at 8 in the PTX, and 8 at 8 in the catalog",
          e.getMessage());
      KernelEntry more =
          scaleWith(
              new KernelParameter("x", ParameterType.POINTER, 0),
              new KernelParameter("n", ParameterType.I32, 8),
              new KernelParameter("a", ParameterType.F32, 12),
              new KernelParameter("b", ParameterType.F32, 16),
              new KernelParameter("c", ParameterType.F32, 20));
      assertThrows(CudaException.class, () -> module.kernel(more));
    }
  }

  @Test
  void driversThatCannotTellParametersAreTrusted() {
    try (Simulated sim = Simulated.without(SimulatedDriver.of("sim:sm_80"), "cuFuncGetParamInfo");
        PrimaryContext context = sim.context();
        PtxModule module = TestKernels.load(context, TestKernels.SCALE)) {
      assertEquals(TestKernels.SCALE_ENTRY, module.kernel(TestKernels.SCALE_ENTRY).entry());
    }
  }

  @Test
  void moreSharedMemoryThanTheDeviceHasIsRefused() {
    try (Simulated sim = Simulated.of("sim:sm_89");
        PrimaryContext context = sim.context();
        PtxModule module = TestKernels.load(context, TestKernels.SCALE)) {
      KernelEntry[] sizes = new KernelEntry[2];
      for (int i = 0; i < 2; i++) {
        sizes[i] =
            TestKernels.entry(
                "scale",
                (99 << 10) + i,
                TestKernels.SCALE_ENTRY.parameters().toArray(KernelParameter[]::new));
      }
      module.kernel(sizes[0]);
      MinifloatException e = assertThrows(MinifloatException.class, () -> module.kernel(sizes[1]));
      assertEquals(
          "scale needs 101377 bytes of shared memory, and a block of Simulated sm_89 (device 0 of the simulator, sm_89) has at most 101376",
          e.getMessage());
    }
  }
}
