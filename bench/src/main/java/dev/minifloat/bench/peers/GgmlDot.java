package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Workload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * {@code vec_dot} of ggml: the left operand in a type, the right one in the type that goes with it.
 */
final class GgmlDot implements Contestant {
  private final Arena arena = Arena.ofShared();
  private final String name;
  private final GgmlType type;
  private final GgmlType other;
  private final double tolerance;
  private final NativeFunction function;
  private final MethodHandle vecDot;
  private final int n;
  private final MemorySegment x;
  private final MemorySegment y;
  private final MemorySegment sum = NativeFloats.allocate(1, arena);

  GgmlDot(String name, GgmlLibrary library, GgmlType type, Workload.Dot workload) {
    this.name = name;
    this.type = type;
    n = workload.n();
    GgmlLibrary.VecDot dot = library.vecDot(type);
    other = dot.other();
    function = dot.function();
    vecDot = function.handle();
    x = library.weights(type, workload.a(), arena);
    float[] b = workload.b().distinct();
    y = library.activations(other, b, arena);
    tolerance = FormatError.ofDot(type.format(), workload.a().distinct(), other.format(), b);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run() {
    try {
      vecDot.invokeExact(n, sum, 0L, x, 0L, y, 0L, 1);
    } catch (Throwable e) {
      throw function.failed(e);
    }
  }

  @Override
  public float[] result() {
    return sum.toArray(ValueLayout.JAVA_FLOAT);
  }

  @Override
  public boolean isExact() {
    return type.isSame() && other == type;
  }

  @Override
  public double tolerance() {
    return tolerance;
  }

  @Override
  public boolean isNative() {
    return true;
  }

  @Override
  public void close() {
    arena.close();
  }
}
