package dev.minifloat.bench.peers;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Values;
import dev.minifloat.bench.Workload;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class PeersTest {
  private static final Path LIB = Path.of("peers", "lib");
  private static final Path MODELS = Path.of("..", "encoder", "target", "models");
  private static final Set<String> NATIVE = Set.of("ggml", "OpenBLAS", "oneDNN");

  private static List<Workload> workloads() {
    List<Workload> workloads = new ArrayList<>();
    for (Format format : Format.values()) {
      for (int n : new int[] {64, 1024, 4096}) {
        workloads.add(new Workload.Dot(format, n));
      }
      for (int threads = 1; threads <= 2; threads++) {
        workloads.add(new Workload.Gemv(format, 300, 512, threads));
        workloads.add(new Workload.Gemm(format, 17, 64, 256, threads));
        workloads.add(new Workload.Gemm(format, 96, 128, 64, threads));
      }
    }
    return workloads;
  }

  @TestFactory
  Stream<DynamicTest> whatIsPresentComputesWhatItSays() {
    return Peers.discover(LIB, MODELS).present().stream()
        .flatMap(
            peer ->
                workloads().stream()
                    .flatMap(
                        workload -> peer.prepare(workload).map(c -> check(c, workload)).stream()));
  }

  private static DynamicTest check(Contestant contestant, Workload workload) {
    return DynamicTest.dynamicTest(
        contestant.name() + ": " + workload,
        () -> {
          try (contestant) {
            contestant.run();
            contestant.run();
            Product product = Product.of(workload);
            if (contestant.isExact()) {
              product.assertWithinBound(contestant.result());
            } else {
              product.assertWithinTolerance(contestant.result(), contestant.tolerance());
            }
          }
        });
  }

  @Test
  void encodesToNormalizedVectors() {
    Workload.Encode workload = new Workload.Encode(2, 9, Format.F32, 1);
    try (Peers peers = Peers.discover(LIB, MODELS)) {
      for (Peer peer : peers.present()) {
        Optional<Contestant> encoder = peer.prepare(workload);
        if (encoder.isPresent()) {
          try (Contestant contestant = encoder.get()) {
            contestant.run();
            float[] vectors = contestant.result();
            assertEquals(2 * 384, vectors.length);
            for (int text = 0; text < 2; text++) {
              double squares = 0;
              for (int i = 0; i < 384; i++) {
                squares += (double) vectors[384 * text + i] * vectors[384 * text + i];
              }
              assertEquals(1, squares, 1e-5);
            }
          }
        }
      }
    }
  }

  @Test
  void javaPeersAreVectorised() {
    List<String> present =
        Peers.discover(LIB, MODELS).present().stream()
            .map(peer -> peer.name() + " " + peer.variant())
            .toList();
    assertAll(
        Stream.of("Jlama Panama", "Lucene 10.6.0, Panama", "JVector Panama")
            .map(
                start ->
                    () ->
                        assertTrue(
                            present.stream().anyMatch(name -> name.startsWith(start)),
                            start + " is not among " + present)));
  }

  @Test
  void missingLibrariesAreReportedWithTheCommandThatGetsThem(@TempDir Path empty) {
    Peers peers = Peers.discover(empty, empty);
    assertTrue(names(peers).containsAll(NATIVE));
    for (Peers.Absent absent : peers.absent()) {
      if (NATIVE.contains(absent.name())) {
        assertTrue(absent.reason().contains("bench/peers/install"), absent::toString);
      }
    }
  }

  @Test
  void aMissingModelIsReported(@TempDir Path empty) {
    Peers.Absent absent = reason(Peers.discover(empty, empty), "ONNX Runtime");
    assertTrue(absent.reason().contains("fetch it with"), absent::toString);
  }

  @Test
  void damagedLibrariesAreReported(@TempDir Path folder) throws IOException {
    for (String file :
        List.of("ggml/libggml-base.so", "openblas/libquadmath.so.0", "dnnl/libgomp.so.1")) {
      Path path = folder.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(
          path, "not a library, whatever its name is, but long enough to be read as one's header");
    }
    Peers peers = Peers.discover(folder, folder);
    for (String name : NATIVE) {
      Peers.Absent absent = reason(peers, name);
      assertTrue(absent.reason().contains("is not a 64-bit ELF shared library"), absent::toString);
    }
  }

  @Test
  void javaPeersThatAreNotOnTheClassPathAreReported(@TempDir Path empty) throws Exception {
    List<URL> others = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":", -1)) {
      String name = Path.of(entry).getFileName().toString().toLowerCase(Locale.ROOT);
      if (!name.matches("(jlama|lucene|jvector|onnxruntime|guava|jctools).*")) {
        others.add(Path.of(entry).toUri().toURL());
      }
    }
    try (URLClassLoader without =
        new URLClassLoader(others.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Object peers =
          without
              .loadClass(Peers.class.getName())
              .getMethod("discover", Path.class, Path.class)
              .invoke(null, empty, MODELS);
      String absent = peers.toString();
      for (String name : List.of("Jlama", "Lucene", "JVector")) {
        assertTrue(
            absent.contains("Absent[name=" + name + ", reason=it isn't installed; run bench"),
            absent);
      }
    }
  }

  private static Set<String> names(Peers peers) {
    Set<String> names = new TreeSet<>();
    peers.absent().forEach(absent -> names.add(absent.name()));
    return names;
  }

  private static Peers.Absent reason(Peers peers, String name) {
    return peers.absent().stream()
        .filter(absent -> absent.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is there: " + peers));
  }

  /** x · wᵀ for all rows of both, in doubles. */
  private record Product(Format x, Values xs, Format w, Values ws) {
    static Product of(Workload workload) {
      return switch (workload) {
        case Workload.Dot dot -> new Product(dot.type(), dot.a(), dot.type(), dot.b());
        case Workload.Gemv gemv -> new Product(Format.F32, gemv.x(), gemv.weights(), gemv.w());
        case Workload.Gemm gemm -> new Product(gemm.type(), gemm.a(), gemm.type(), gemm.b());
        default -> throw new IllegalArgumentException("workload: " + workload);
      };
    }

    void assertWithinBound(float[] result) {
      int k = xs.columns();
      float[] a = rounded(xs.distinct(), x);
      float[] b = rounded(ws.distinct(), w);
      double gamma = (k + 4) * 0x1p-24 / (1 - (k + 4) * 0x1p-24);
      for (int i = 0; i < xs.rows(); i++) {
        for (int j = 0; j < ws.rows(); j++) {
          double sum = 0;
          double magnitude = 0;
          for (int l = 0; l < k; l++) {
            double product = (double) a[i * k + l] * b[j % ws.period() * k + l];
            sum += product;
            magnitude += Math.abs(product);
          }
          assertEquals(sum, result[i * ws.rows() + j], gamma * magnitude, "row " + i + ", " + j);
        }
      }
      assertEquals(xs.rows() * ws.rows(), result.length);
    }

    void assertWithinTolerance(float[] result, double tolerance) {
      int k = xs.columns();
      float[] a = xs.distinct();
      float[] b = ws.distinct();
      double error = 0;
      double norm = 0;
      for (int i = 0; i < xs.rows(); i++) {
        for (int j = 0; j < ws.rows(); j++) {
          double sum = 0;
          for (int l = 0; l < k; l++) {
            sum += (double) a[i * k + l] * b[j % ws.period() * k + l];
          }
          double difference = result[i * ws.rows() + j] - sum;
          error += difference * difference;
          norm += sum * sum;
        }
      }
      double relative = Math.sqrt(error / norm);
      assertTrue(relative <= tolerance, "relative error " + relative + " > " + tolerance);
    }

    /** Formats that peers share with us, nearest-even. */
    private static float[] rounded(float[] values, Format format) {
      float[] result = values.clone();
      for (int i = 0; i < result.length; i++) {
        result[i] =
            switch (format) {
              case F32 -> values[i];
              case F16 -> Float.float16ToFloat(Float.floatToFloat16(values[i]));
              case BF16 -> {
                int bits = Float.floatToRawIntBits(values[i]);
                yield Float.intBitsToFloat(bits + 0x7fff + (bits >>> 16 & 1) & 0xffff0000);
              }
              case E4M3, E5M2, I8, MXFP4, NVFP4 ->
                  throw new IllegalArgumentException("format: " + format + " is no peer's");
            };
      }
      return result;
    }
  }
}
