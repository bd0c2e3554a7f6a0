package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Values;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/**
 * A graph of one {@code mul_mat}: F32 activations x [batch, k] times weights w [rows, k]. The
 * product itself converts x to the type that goes with the weights', as it does in a model.
 */
final class GgmlMulMat implements Contestant {
  private final String name;
  private final GgmlLibrary library;
  private final GgmlType type;
  private final GgmlType other;
  private final Format activations;
  private final boolean plain;
  private final long outputs;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment weightContext;
  private final MemorySegment context;
  private final MemorySegment weightBuffer;
  private final MemorySegment buffer;
  private final MemorySegment pool;
  private final MemorySegment y;
  private final MemorySegment graph;
  private final MemorySegment plan;
  private final MethodHandle compute;

  /**
   * Prepares it, or finds that none of the buffer types takes these weights.
   *
   * @param bufferTypes where the weights may lie, the best first
   * @param activations the workload's format of x
   */
  static Optional<Contestant> of(
      String name,
      GgmlLibrary library,
      List<MemorySegment> bufferTypes,
      GgmlType type,
      Values w,
      Values x,
      Format activations,
      int threads) {
    MemorySegment contexts = library.newContext();
    try {
      MemorySegment tensor = library.tensor(contexts, type, w.rows(), w.columns());
      MemorySegment argument = library.tensor(contexts, GgmlType.F32, x.rows(), x.columns());
      MemorySegment product = library.mulMat(contexts, tensor, argument);
      for (MemorySegment bufferType : bufferTypes) {
        if (library.supports(bufferType, tensor, product)) {
          return Optional.of(
              new GgmlMulMat(name, library, bufferType, type, w, x, activations, threads));
        }
      }
      return Optional.empty();
    } finally {
      library.freeContext(contexts);
    }
  }

  private GgmlMulMat(
      String name,
      GgmlLibrary library,
      MemorySegment bufferType,
      GgmlType type,
      Values w,
      Values x,
      Format activations,
      int threads) {
    this.name = name;
    this.library = library;
    this.type = type;
    this.activations = activations;
    plain = bufferType.equals(library.plainBufferType());
    other = library.vecDot(type).other();
    outputs = (long) w.rows() * x.rows();
    weightContext = library.newContext();
    context = library.newContext();
    MemorySegment weights = library.tensor(weightContext, type, w.rows(), w.columns());
    MemorySegment argument = library.tensor(context, GgmlType.F32, x.rows(), x.columns());
    y = library.mulMat(context, weights, argument);
    weightBuffer = library.allocate(weightContext, bufferType);
    buffer = library.allocate(context, library.plainBufferType());
    try (Arena local = Arena.ofConfined()) {
      library.set(weights, library.weights(type, w, local));
      library.set(argument, NativeFloats.of(x, local));
    }
    graph = library.graph(context, y);
    pool = threads > 1 ? library.newPool(threads) : MemorySegment.NULL;
    plan = library.plan(graph, threads, pool, arena);
    compute = library.compute().handle();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run() {
    int status;
    try {
      status = (int) compute.invokeExact(graph, plan);
    } catch (Throwable e) {
      throw library.compute().failed(e);
    }
    if (status != 0) {
      throw new IllegalStateException("ggml_graph_compute gave status " + status);
    }
  }

  @Override
  public float[] result() {
    return library.data(y, 4 * outputs).toArray(ValueLayout.JAVA_FLOAT);
  }

  @Override
  public boolean isExact() {
    // Kernels for packed weights may convert the activations in other ways.
    return plain && type.isSame() && other.format() == activations;
  }

  @Override
  public double tolerance() {
    return FormatError.ofProduct(type.format(), other.format());
  }

  @Override
  public boolean isNative() {
    return true;
  }

  @Override
  public void close() {
    if (pool.address() != 0) {
      library.freePool(pool);
    }
    library.freeBuffer(buffer);
    library.freeBuffer(weightBuffer);
    library.freeContext(context);
    library.freeContext(weightContext);
    arena.close();
  }
}
