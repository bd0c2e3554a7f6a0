package dev.minifloat.bench.peers;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Workload;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeSet;

/**
 * OpenBLAS: F32 only. It takes part in matrix products of every format with the F32 inputs, as the
 * figure to reach; in the others of F32 alone.
 */
final class OpenBlasPeer implements Peer {
  private static final int ROW_MAJOR = 101;
  private static final int AS_IS = 111;
  private static final int TRANSPOSED = 112;

  private final NativeFunction setThreads;
  private final NativeFunction sdot;
  private final NativeFunction sgemv;
  private final NativeFunction sgemm;
  private final String variant;

  private OpenBlasPeer(NativeLibrary library) throws PeerAbsent {
    setThreads = library.function("openblas_set_num_threads", FunctionDescriptor.ofVoid(JAVA_INT));
    sdot =
        library.function(
            "cblas_sdot",
            FunctionDescriptor.of(JAVA_FLOAT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT));
    sgemv =
        library.function(
            "cblas_sgemv",
            FunctionDescriptor.ofVoid(
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT,
                ADDRESS,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT));
    sgemm =
        library.function(
            "cblas_sgemm",
            FunctionDescriptor.ofVoid(
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT,
                ADDRESS,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT));
    variant =
        text(library, "openblas_get_config").replaceAll(" +", " ").strip()
            + ", core "
            + text(library, "openblas_get_corename");
  }

  /**
   * Loads it.
   *
   * @throws PeerAbsent also if the environment has a variable that may choose slower kernels
   */
  static Peer load(Path folder) throws PeerAbsent {
    TreeSet<String> set = new TreeSet<>(System.getenv().keySet());
    set.removeIf(name -> !name.startsWith("OPENBLAS_"));
    if (!set.isEmpty()) {
      throw new PeerAbsent(
          String.join(", ", set) + " is set and may slow it down; start again without it");
    }
    Path own = folder.resolve("openblas");
    // It looks for these by name; what is loaded already is found.
    NativeLibrary.load(own.resolve("libquadmath.so.0"));
    NativeLibrary.load(own.resolve("libgfortran.so.5"));
    return new OpenBlasPeer(NativeLibrary.load(own.resolve("libopenblas.so.0")));
  }

  private static String text(NativeLibrary library, String function) throws PeerAbsent {
    return library
        .function(function, FunctionDescriptor.of(ADDRESS))
        .pointer()
        .reinterpret(Long.MAX_VALUE)
        .getString(0);
  }

  @Override
  public String name() {
    return "OpenBLAS";
  }

  @Override
  public String variant() {
    return variant;
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Dot dot when dot.type() == Format.F32 -> Optional.of(new Dot(dot));
      case Workload.Gemv gemv when gemv.weights() == Format.F32 -> Optional.of(new Gemv(gemv));
      case Workload.Gemm gemm -> Optional.of(new Gemm(gemm));
      default -> Optional.empty();
    };
  }

  @Override
  public void close() {
    // The library stays loaded; contestants own everything else.
  }

  /** The number of threads is the library's, so each contestant asks for its own. */
  private void useThreads(int threads) {
    try {
      setThreads.handle().invokeExact(threads);
    } catch (Throwable e) {
      throw setThreads.failed(e);
    }
  }

  private final class Dot extends NativeContestant {
    private final int n;
    private final MemorySegment x;
    private final MemorySegment y;
    private final MemorySegment sum;

    Dot(Workload.Dot workload) {
      super(OpenBlasPeer.this.name(), true, 0);
      n = workload.n();
      x = NativeFloats.of(workload.a(), arena());
      y = NativeFloats.of(workload.b(), arena());
      sum = output(1);
    }

    @Override
    public void run() {
      try {
        sum.set(JAVA_FLOAT, 0, (float) sdot.handle().invokeExact(n, x, 1, y, 1));
      } catch (Throwable e) {
        throw sdot.failed(e);
      }
    }
  }

  private final class Gemv extends NativeContestant {
    private final Workload.Gemv workload;
    private final MemorySegment w;
    private final MemorySegment x;
    private final MemorySegment y;

    Gemv(Workload.Gemv workload) {
      super(OpenBlasPeer.this.name(), true, 0);
      this.workload = workload;
      w = NativeFloats.of(workload.w(), arena());
      x = NativeFloats.of(workload.x(), arena());
      y = output(workload.rows());
    }

    @Override
    public void run() {
      useThreads(workload.threads());
      try {
        sgemv
            .handle()
            .invokeExact(
                ROW_MAJOR,
                AS_IS,
                workload.rows(),
                workload.k(),
                1f,
                w,
                workload.k(),
                x,
                1,
                0f,
                y,
                1);
      } catch (Throwable e) {
        throw sgemv.failed(e);
      }
    }
  }

  private final class Gemm extends NativeContestant {
    private final Workload.Gemm workload;
    private final MemorySegment a;
    private final MemorySegment b;
    private final MemorySegment d;

    Gemm(Workload.Gemm workload) {
      super(
          OpenBlasPeer.this.name(),
          workload.type() == Format.F32,
          FormatError.ofProduct(Format.F32, Format.F32));
      this.workload = workload;
      a = NativeFloats.of(workload.a(), arena());
      b = NativeFloats.of(workload.b(), arena());
      d = output((long) workload.m() * workload.n());
    }

    @Override
    public void run() {
      useThreads(workload.threads());
      int n = workload.n();
      int k = workload.k();
      try {
        sgemm
            .handle()
            .invokeExact(
                ROW_MAJOR, AS_IS, TRANSPOSED, workload.m(), n, k, 1f, a, k, b, k, 0f, d, n);
      } catch (Throwable e) {
        throw sgemm.failed(e);
      }
    }
  }
}
