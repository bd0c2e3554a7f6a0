package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Workload;
import java.lang.reflect.Field;
import java.util.Optional;
import org.apache.lucene.util.VectorUtil;
import org.apache.lucene.util.Version;

/** Lucene's {@code VectorUtil}: F32 dot products. */
final class LucenePeer implements Peer {
  private final String variant;

  private LucenePeer(String variant) {
    this.variant = variant;
  }

  /**
   * Finds it.
   *
   * @throws PeerAbsent also if it chose its scalar code
   */
  static Peer load() throws PeerAbsent {
    String implementation = implementation();
    if (!implementation.startsWith("Panama")) {
      throw new PeerAbsent(
          "it chose "
              + implementation
              + " instead of its vectorised code; its log says why (is --add-modules"
              + " jdk.incubator.vector there?)");
    }
    return new LucenePeer(Version.LATEST + ", " + implementation);
  }

  /** Which code it chose: nothing public tells. */
  private static String implementation() throws PeerAbsent {
    try {
      Field field = VectorUtil.class.getDeclaredField("IMPL");
      field.setAccessible(true);
      return field.get(null).getClass().getSimpleName();
    } catch (ReflectiveOperationException e) {
      throw new PeerAbsent("there is no telling which code it chose: " + e, e);
    }
  }

  @Override
  public String name() {
    return "Lucene";
  }

  @Override
  public String variant() {
    return variant;
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

  private static final class Dot implements Contestant {
    private final float[] a;
    private final float[] b;
    private float sum;

    Dot(Workload.Dot workload) {
      a = workload.a().distinct();
      b = workload.b().distinct();
    }

    @Override
    public String name() {
      return "Lucene";
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
