package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Values;
import dev.minifloat.bench.Workload;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * ggml, the tensor library of llama.cpp: {@code vec_dot}, and products as graphs. It comes as two
 * peers: with weights as its model files have them, and with weights that it packed ahead for its
 * matrix kernels, where it has such for the type.
 */
final class GgmlPeer implements Peer {
  private final GgmlLibrary library;
  private final boolean packed;

  private GgmlPeer(GgmlLibrary library, boolean packed) {
    this.library = library;
    this.packed = packed;
  }

  /** Loads both. */
  static List<Peer> load(Path folder) throws PeerAbsent {
    GgmlLibrary library = GgmlLibrary.load(folder.resolve("ggml"));
    GgmlPeer plain = new GgmlPeer(library, false);
    return library.packedBufferTypes().isEmpty()
        ? List.of(plain)
        : List.of(plain, new GgmlPeer(library, true));
  }

  @Override
  public String name() {
    return packed ? "ggml packed" : "ggml";
  }

  @Override
  public String variant() {
    return packed
        ? library.variant()
            + ", "
            + library.packedBufferTypes().stream()
                .map(library::name)
                .collect(Collectors.joining(" or "))
        : library.variant();
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Dot dot when !packed ->
          type(dot.type(), dot.n()).map(type -> new GgmlDot(name(), library, type, dot));
      case Workload.Gemv gemv ->
          mulMat(gemv.weights(), gemv.w(), gemv.x(), Format.F32, gemv.threads());
      case Workload.Gemm gemm ->
          mulMat(gemm.type(), gemm.b(), gemm.a(), gemm.type(), gemm.threads());
      default -> Optional.empty();
    };
  }

  private Optional<Contestant> mulMat(
      Format weights, Values w, Values x, Format activations, int threads) {
    Optional<GgmlType> type = type(weights, w.columns());
    if (type.isEmpty()) {
      return Optional.empty();
    }
    List<MemorySegment> bufferTypes =
        packed ? library.packedBufferTypes() : List.of(library.plainBufferType());
    return GgmlMulMat.of(name(), library, bufferTypes, type.get(), w, x, activations, threads);
  }

  /** The type for a format; rows of whole blocks only. */
  private static Optional<GgmlType> type(Format format, int columns) {
    return GgmlType.of(format).filter(type -> type.isSame() || columns % 64 == 0);
  }

  @Override
  public void close() {
    // The library stays loaded; contestants own everything else.
  }
}
