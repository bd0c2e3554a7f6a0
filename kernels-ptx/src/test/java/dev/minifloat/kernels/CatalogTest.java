package dev.minifloat.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalog against the PTX that ships, as resources. */
class CatalogTest {
  private static final KernelCatalog CATALOG = KernelCatalog.load();

  private static Ptx ptx(KernelFile file) throws IOException {
    return Ptx.parse(new String(CATALOG.open(file), StandardCharsets.UTF_8));
  }

  @Test
  void filesHaveTheirHashTargetAndVersion() throws IOException {
    for (KernelFile file : CATALOG.files()) {
      assertEquals(file.sha256(), Regenerate.sha256(CATALOG.open(file)), file.path());
      assertEquals(file.target().toString(), ptx(file).target(), file.path());
      assertEquals(file.version(), ptx(file).version(), file.path());
      assertTrue(file.path().startsWith(file.target() + "/"), file.path());
    }
  }

  @Test
  void filesHoldExactlyTheCatalogsEntries() throws IOException {
    for (KernelFile file : CATALOG.files()) {
      Set<String> listed =
          CATALOG.kernels().stream()
              .filter(kernel -> kernel.file().equals(file))
              .map(KernelEntry::entry)
              .collect(Collectors.toSet());
      assertEquals(listed, ptx(file).entries().keySet(), file.path());
    }
  }

  @Test
  void parametersAndSharedMemoryAreThoseOfThePtx() throws IOException {
    Map<KernelFile, Ptx> parsed = new java.util.HashMap<>();
    for (KernelEntry kernel : CATALOG.kernels()) {
      Ptx ptx = parsed.get(kernel.file());
      if (ptx == null) {
        ptx = ptx(kernel.file());
        parsed.put(kernel.file(), ptx);
      }
      Ptx.Entry entry = ptx.entries().get(kernel.entry());
      assertEquals(
          entry.offsets(),
          kernel.parameters().stream().map(KernelParameter::offset).toList(),
          kernel.entry());
      assertEquals(
          entry.sizes(),
          kernel.parameters().stream().map(p -> (int) p.type().byteSize()).toList(),
          kernel.entry());
      assertEquals(entry.shared(), kernel.staticShared(), kernel.entry());
      assertTrue(kernel.parameterBytes() <= 4096, kernel.entry());
      int threads = kernel.threads().get(0) * kernel.threads().get(1);
      assertTrue(
          entry.body().contains(".maxntid " + threads + "\n")
              || entry.body().contains(".maxntid " + threads + ", 1, 1"),
          kernel.entry() + " is compiled for " + threads + " threads");
      assertTrue(kernel.registers() > 0 && kernel.registers() <= 255, kernel.entry());
    }
  }

  @Test
  void noFileLiesBesideTheCatalogUnlisted() throws IOException {
    Path root = Path.of("src/main/resources/dev/minifloat/kernels");
    try (Stream<Path> found = Files.walk(root)) {
      Set<String> there =
          found
              .filter(path -> path.toString().endsWith(".ptx"))
              .map(path -> root.relativize(path).toString())
              .collect(Collectors.toSet());
      Set<String> listed =
          CATALOG.files().stream().map(KernelFile::path).collect(Collectors.toSet());
      assertEquals(listed, there);
    }
  }

  @Test
  void catalogIsWrittenAsTheScriptWritesIt() throws IOException {
    assertEquals(
        CatalogWriter.write(CATALOG.files(), CATALOG.kernels()),
        Files.readString(Path.of("src/main/resources/dev/minifloat/kernels/catalog.json")));
  }

  @Test
  void ptxNamesNoPathAndNoHashedSymbol() throws IOException {
    for (KernelFile file : CATALOG.files()) {
      String text = new String(CATALOG.open(file), StandardCharsets.UTF_8);
      assertFalse(text.contains("INTERNAL"), file.path());
      assertFalse(text.contains(".cu"), file.path() + " names a source");
      assertFalse(text.contains(".local"), file.path() + " uses local memory");
    }
  }

  @Test
  void typesAreNamedAndNumberedAsTheApiDoes() throws IOException {
    String source = Files.readString(Path.of("src/main/cuda/formats.cuh"));
    String names = Arrays.stream(DType.values()).map(DType::name).collect(Collectors.joining(", "));
    assertTrue(source.contains("enum DType { " + names + " };"), names);
    Set<String> known = Arrays.stream(DType.values()).map(DType::name).collect(Collectors.toSet());
    for (KernelEntry kernel : CATALOG.kernels()) {
      Set<String> types = new HashSet<>(kernel.a());
      types.addAll(kernel.b());
      types.addAll(kernel.out());
      assertTrue(known.containsAll(types), kernel.entry());
    }
  }

  @Test
  void committedPtxIsWhatTheSourcesCompileTo() throws Exception {
    Optional<Path> nvcc = CudaTools.nvcc();
    forEachFile(
        file -> {
          byte[] committed = CATALOG.open(file);
          if (nvcc.isPresent()) {
            String compiled =
                CudaTools.compile(nvcc.get(), file.source(), file.target(), file.version());
            assertEquals(
                compiled,
                new String(committed, StandardCharsets.UTF_8),
                "recompiled " + file.path());
          }
          assertTrue(
              Files.exists(Path.of("src/main/cuda", file.source())),
              file.path() + " has its source");
        });
  }

  /**
   * Where ptxas is on the PATH: for the oldest and the newest of the devices that a file claims,
   * or, with {@code -Dkernels.targets=all}, for each of them, which takes minutes. What {@code
   * regenerate} writes was assembled for all.
   */
  @Test
  void targetsAssembleWithoutSpills() throws Exception {
    Optional<Path> ptxas = CudaTools.find("ptxas");
    boolean all = System.getProperty("kernels.targets", "some").equals("all");
    forEachFile(
        file -> {
          List<String> claimed = file.assembledFor();
          assertEquals(file.target().toString(), claimed.getFirst(), file.path());
          for (String device : claimed) {
            assertTrue(file.target().runsOn(Target.parse(device).capability()), file.path());
          }
          if (ptxas.isPresent()) {
            assemble(ptxas.get(), file, all ? claimed : ends(claimed));
          }
        });
  }

  private static List<String> ends(List<String> claimed) {
    return claimed.stream()
        .filter(device -> device.equals(claimed.getFirst()) || device.equals(claimed.getLast()))
        .toList();
  }

  private static void assemble(Path ptxas, KernelFile file, List<String> devices)
      throws IOException, InterruptedException {
    Path path = Files.createTempFile("minifloat", ".ptx");
    try {
      Files.write(path, CATALOG.open(file));
      for (String device : devices) {
        Map<String, Integer> used = CudaTools.assemble(ptxas, path, device);
        if (device.equals(file.target().toString())) {
          Map<String, Integer> recorded = new TreeMap<>();
          CATALOG.kernels().stream()
              .filter(kernel -> kernel.file().equals(file))
              .forEach(kernel -> recorded.put(kernel.entry(), kernel.registers()));
          assertEquals(recorded, new TreeMap<>(used), file.path() + " for " + device);
        }
      }
    } finally {
      Files.delete(path);
    }
  }

  /** What is checked of a file. */
  private interface FileCheck {
    void run(KernelFile file) throws IOException, InterruptedException;
  }

  /** Checks all files, as many at a time as there are processors. */
  private static void forEachFile(FileCheck check) throws Exception {
    int processors = Runtime.getRuntime().availableProcessors();
    try (ExecutorService executor = Executors.newFixedThreadPool(processors)) {
      List<Future<?>> checks = new ArrayList<>();
      for (KernelFile file : CATALOG.files()) {
        checks.add(
            executor.submit(
                () -> {
                  check.run(file);
                  return null;
                }));
      }
      for (Future<?> future : checks) {
        future.get();
      }
    }
  }

  @Test
  void findGivesTheNewestAndNarrowestFirst() {
    List<KernelEntry> any =
        CATALOG.find(Operation.GEMM, 80, List.of("F32", "F32", "F32"), List.of());
    assertEquals(List.of("gemm_f32", "gemm_any"), any.stream().map(KernelEntry::entry).toList());
    List<KernelEntry> scaled =
        CATALOG.find(Operation.GEMM, 80, List.of("F32", "F32", "F32"), List.of("block"));
    assertEquals(List.of("gemm_any"), scaled.stream().map(KernelEntry::entry).toList());
    List<String> eight = List.of("F8_E4M3", "F8_E4M3", "BF16");
    assertEquals(
        "gemm_f8_e4m3_f8_e4m3",
        CATALOG.find(Operation.GEMM, 86, eight, List.of("block")).getFirst().entry());
    assertEquals(
        "gemm_hopper_e4m3_e4m3",
        CATALOG.find(Operation.GEMM, 90, eight, List.of("block")).getFirst().entry());
    assertEquals(
        "gemm_blackwell_e4m3_e4m3",
        CATALOG.find(Operation.GEMM, 100, eight, List.of("block")).getFirst().entry());
    assertEquals(
        "gemm_f8_e4m3_f8_e4m3",
        CATALOG.find(Operation.GEMM, 90, eight, List.of("mx")).getFirst().entry());
    assertEquals(
        "gemm_block_e4m3_e4m3",
        CATALOG.find(Operation.GEMM, 121, eight, List.of("mx")).getFirst().entry());
    assertEquals(
        "gemm_blackwell_mx_e4m3_e4m3",
        CATALOG.find(Operation.GEMM, 100, eight, List.of("mx")).getFirst().entry());
    assertEquals(
        "gemm_f8_native_e4m3_e4m3",
        CATALOG.find(Operation.GEMM, 120, eight, List.of("block")).getFirst().entry());
    assertEquals(
        List.of(), CATALOG.find(Operation.GEMM, 75, List.of("F32", "F32", "F32"), List.of()));
  }

  @Test
  void everyOperationIsThereForAmpere() {
    for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
      for (Operation operation :
          List.of(
              Operation.ADD,
              Operation.ACTIVATION,
              Operation.ROPE,
              Operation.SOFTMAX,
              Operation.LAYER_NORM,
              Operation.RMS_NORM,
              Operation.L2_NORMALIZE,
              Operation.MEAN_POOL,
              Operation.ATTENTION)) {
        assertFalse(
            CATALOG.find(operation, 80, List.of(type.name()), List.of()).isEmpty(),
            operation + " of " + type);
      }
    }
    for (DType type : DType.values()) {
      for (Operation operation :
          List.of(Operation.COPY, Operation.CONVERT, Operation.DEQUANTIZE, Operation.AMAX)) {
        assertFalse(
            CATALOG.find(operation, 80, List.of(type.name()), List.of()).isEmpty(),
            operation + " of " + type);
      }
    }
  }

  @Test
  void anUnknownNameAndAnOldDeviceAreToldApart() {
    IllegalArgumentException unknown =
        assertThrows(IllegalArgumentException.class, () -> CATALOG.kernel("gemm_x", 80));
    assertEquals("entry: there is no kernel gemm_x", unknown.getMessage());
    IllegalArgumentException old =
        assertThrows(IllegalArgumentException.class, () -> CATALOG.kernel("gemm_f32", 75));
    assertEquals(
        "capability: gemm_f32 is there for [sm_80], and a device of sm_75 runs none of these",
        old.getMessage());
    assertEquals("gemm_f32", CATALOG.kernel("gemm_f32", 120).entry());
  }

  @Test
  void targetsReachAsTheirSuffixSays() {
    assertTrue(Target.parse("sm_80").runsOn(121));
    assertFalse(Target.parse("sm_80").runsOn(75));
    assertTrue(Target.parse("sm_90a").runsOn(90));
    assertFalse(Target.parse("sm_90a").runsOn(100));
    assertTrue(Target.parse("sm_100f").runsOn(103));
    assertFalse(Target.parse("sm_100f").runsOn(120));
    assertEquals("sm_120f", Target.parse("sm_120f").toString());
    assertThrows(IllegalArgumentException.class, () -> Target.parse("compute_80"));
  }

  @Test
  void brokenCatalogsAreRefusedWithTheirPlace() {
    assertEquals(
        "The catalog of kernels, line 1, column 1: expected START_OBJECT, found START_ARRAY",
        refusal("[]"));
    assertTrue(refusal("{\"files\": []}").endsWith("there is no kernels"));
    assertTrue(
        refusal("{\"files\": [], \"kernels\": [], \"more\": 1}")
            .endsWith("unknown members [more]"));
    assertTrue(refusal("{\"files\": [").startsWith("The catalog of kernels isn't JSON"));
  }

  private static String refusal(String text) {
    return assertThrows(
            IllegalStateException.class,
            () ->
                CatalogReader.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))))
        .getMessage();
  }
}
