package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Values;
import dev.minifloat.bench.Workload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * oneDNN's {@code matmul}. It comes as two peers: F32, which takes part in products of every format
 * with the F32 inputs, as the figure to reach; and BF16, with weights laid out ahead as it likes
 * best. The latter may use instructions that no Java code can reach.
 */
final class OneDnnPeer implements Peer {
  private final OneDnnLibrary library;
  private final Format format;

  private OneDnnPeer(OneDnnLibrary library, Format format) {
    this.library = library;
    this.format = format;
  }

  /** Loads both. */
  static List<Peer> load(Path folder) throws PeerAbsent {
    OneDnnLibrary library = OneDnnLibrary.load(folder.resolve("dnnl"));
    return List.of(new OneDnnPeer(library, Format.F32), new OneDnnPeer(library, Format.BF16));
  }

  @Override
  public String name() {
    return format == Format.F32 ? "oneDNN" : "oneDNN BF16";
  }

  @Override
  public String variant() {
    return library.variant();
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Gemm gemm when format == Format.F32 || gemm.type() == format ->
          Optional.of(new Matmul(gemm));
      default -> Optional.empty();
    };
  }

  @Override
  public void close() {
    // The library stays loaded; contestants own everything else.
  }

  private final class Matmul extends NativeContestant {
    private final int threads;
    private final MemorySegment description;
    private final MemorySegment primitive;
    private final MemorySegment src;
    private final MemorySegment weights;
    private final MemorySegment dst;
    private final MemorySegment arguments;

    Matmul(Workload.Gemm workload) {
      super(
          OneDnnPeer.this.name(),
          workload.type() == format,
          FormatError.ofProduct(Format.F32, Format.F32));
      threads = workload.threads();
      int type = format == Format.F32 ? OneDnnLibrary.F32 : OneDnnLibrary.BF16;
      int m = workload.m();
      int n = workload.n();
      int k = workload.k();
      library.useThreads(threads);
      MemorySegment srcType = library.matrix(type, m, k, k, 1);
      // B is [n, k]: as weights [k, n] its columns lie one after the other.
      MemorySegment plain = library.matrix(OneDnnLibrary.F32, k, n, 1, k);
      MemorySegment wanted = format == Format.F32 ? plain : library.anyMatrix(type, k, n);
      MemorySegment dstType = library.matrix(OneDnnLibrary.F32, m, n, n, 1);
      description = library.matmul(srcType, wanted, dstType);
      primitive = library.primitive(description);
      MemorySegment a = library.matrix(OneDnnLibrary.F32, m, k, k, 1);
      src = library.memory(srcType, converted(workload.a(), a, srcType));
      MemorySegment chosen = library.weights(description);
      weights = library.memory(chosen, converted(workload.b(), plain, chosen));
      dst = library.memory(dstType, output((long) m * n));
      arguments = library.arguments(src, weights, dst, arena());
      library.freeDescription(a);
      library.freeDescription(srcType);
      if (wanted.address() != plain.address()) {
        library.freeDescription(wanted);
      }
      library.freeDescription(plain);
      library.freeDescription(dstType);
    }

    private MemorySegment converted(Values values, MemorySegment from, MemorySegment to) {
      MemorySegment result = arena().allocate(library.bytes(to), NativeFloats.ALIGNMENT);
      try (Arena local = Arena.ofConfined()) {
        library.reorder(from, NativeFloats.of(values, local), to, result);
      }
      return result;
    }

    @Override
    public void run() {
      library.useThreads(threads);
      library.execute(primitive, 3, arguments);
    }

    @Override
    public void close() {
      library.freeMemory(dst);
      library.freeMemory(weights);
      library.freeMemory(src);
      library.freePrimitive(primitive);
      library.freePrimitiveDescription(description);
      super.close();
    }
  }
}
