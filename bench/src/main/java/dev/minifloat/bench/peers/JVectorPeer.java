package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Workload;
import io.github.jbellis.jvector.vector.VectorUtil;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.util.Optional;

/** JVector's {@code VectorUtil}: F32 dot products, of the vectors that its provider makes. */
final class JVectorPeer implements Peer {
  private final VectorizationProvider provider;

  private JVectorPeer(VectorizationProvider provider) {
    this.provider = provider;
  }

  /**
   * Finds it.
   *
   * @throws PeerAbsent also if it chose its scalar code
   */
  static Peer load() throws PeerAbsent {
    VectorizationProvider provider = VectorizationProvider.getInstance();
    String implementation = provider.getClass().getSimpleName();
    if (implementation.startsWith("Default")) {
      throw new PeerAbsent(
          "it chose "
              + implementation
              + " instead of its vectorised code; its log says why (is --add-modules"
              + " jdk.incubator.vector there?)");
    }
    return new JVectorPeer(provider);
  }

  @Override
  public String name() {
    return "JVector";
  }

  @Override
  public String variant() {
    return provider.getClass().getSimpleName();
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Dot dot when dot.type() == Format.F32 -> Optional.of(new Dot(dot));
      default -> Optional.empty();
    };
  }

  @Override
  public void close() {
    // Nothing to unload.
  }

  private final class Dot implements Contestant {
    private final VectorFloat<?> a;
    private final VectorFloat<?> b;
    private float sum;

    Dot(Workload.Dot workload) {
      a = provider.getVectorTypeSupport().createFloatVector(workload.a().distinct());
      b = provider.getVectorTypeSupport().createFloatVector(workload.b().distinct());
    }

    @Override
    public String name() {
      return "JVector";
    }

    @Override
    public void run() {
      sum = VectorUtil.dotProduct(a, b);
    }

    @Override
    public float[] result() {
      return new float[] {sum};
    }

    @Override
    public void close() {
      // Nothing to free.
    }
  }
}
