package dev.minifloat.bench.peers;

import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.BFloat16BufferTensor;
import com.github.tjake.jlama.tensor.FloatBufferTensor;
import com.github.tjake.jlama.tensor.operations.PanamaTensorOperations;
import com.github.tjake.jlama.tensor.operations.TensorOperations;
import com.github.tjake.jlama.util.MachineSpec;
import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Peer;
import dev.minifloat.bench.Values;
import dev.minifloat.bench.Workload;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Jlama's matrix products on the Vector API: F32, F32 × BF16 and BF16. */
final class JlamaPeer implements Peer {
  private static final long WARM_UP_NANOS = 1_500_000_000;

  private final TensorOperations operations;
  private final Set<List<Format>> warm = new HashSet<>();

  private JlamaPeer(TensorOperations operations) {
    this.operations = operations;
  }

  /** Finds it. */
  static Peer load() throws PeerAbsent {
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      throw new PeerAbsent("it needs --add-modules jdk.incubator.vector");
    }
    // A first tensor, to meet what else it needs here and not later.
    new FloatBufferTensor(1, 32).close();
    return new JlamaPeer(new PanamaTensorOperations(MachineSpec.VECTOR_TYPE));
  }

  @Override
  public String name() {
    return "Jlama";
  }

  @Override
  public String variant() {
    return operations.name() + ", " + MachineSpec.VECTOR_TYPE;
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return switch (workload) {
      case Workload.Gemv gemv when has(gemv.weights(), gemv.k()) ->
          Optional.of(new Product(gemv.x(), Format.F32, gemv.w(), gemv.weights(), gemv.threads()));
      case Workload.Gemm gemm when has(gemm.type(), gemm.k()) ->
          Optional.of(new Product(gemm.a(), gemm.type(), gemm.b(), gemm.type(), gemm.threads()));
      default -> Optional.empty();
    };
  }

  /** Its loops have no tails. */
  private static boolean has(Format format, int k) {
    return (format == Format.F32 || format == Format.BF16) && k % 32 == 0;
  }

  @Override
  public void close() {
    // Nothing to unload.
  }

  private final class Product implements Contestant {
    private final AbstractTensor<?, ?> a;
    private final AbstractTensor<?, ?> b;
    private final AbstractTensor<?, ?> d;
    private final int rows;
    private final int columns;
    private final Crew crew;

    Product(Values x, Format xFormat, Values w, Format wFormat, int threads) {
      a = tensor(x, xFormat);
      b = tensor(w, wFormat);
      rows = w.rows();
      columns = w.columns();
      d = new FloatBufferTensor(x.rows(), rows);
      crew = new Crew(threads);
      if (warm.add(List.of(xFormat, wFormat))) {
        warmUp();
      }
    }

    /** Its loops box every vector until C2 has compiled them, a hundred times slower. */
    private void warmUp() {
      for (long start = System.nanoTime(); System.nanoTime() - start < WARM_UP_NANOS; ) {
        run();
      }
    }

    @Override
    public String name() {
      return "Jlama";
    }

    @Override
    public void run() {
      crew.split(
          rows,
          (begin, end) ->
              operations.batchDotProduct(d, a, b, 0, 0, columns, 0, begin, end - begin));
    }

    @Override
    public float[] result() {
      return d.getMemorySegment().toArray(ValueLayout.JAVA_FLOAT);
    }

    @Override
    public void close() {
      crew.close();
    }
  }

  private static AbstractTensor<?, ?> tensor(Values values, Format format) {
    FloatBufferTensor floats = new FloatBufferTensor(values.rows(), values.columns());
    float[] distinct = values.distinct();
    MemorySegment memory = floats.getMemorySegment();
    MemorySegment.copy(distinct, 0, memory, ValueLayout.JAVA_FLOAT, 0, distinct.length);
    NativeFloats.repeat(memory, 4L * distinct.length);
    return format == Format.F32 ? floats : new BFloat16BufferTensor(floats);
  }
}
