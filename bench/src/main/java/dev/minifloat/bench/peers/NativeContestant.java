package dev.minifloat.bench.peers;

import dev.minifloat.bench.Contestant;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** One whose operands and F32 output are in native memory that it owns. */
abstract class NativeContestant implements Contestant {
  private final Arena arena = Arena.ofShared();
  private final String name;
  private final boolean exact;
  private final double tolerance;
  private MemorySegment output = MemorySegment.NULL;

  NativeContestant(String name, boolean exact, double tolerance) {
    this.name = name;
    this.exact = exact;
    this.tolerance = tolerance;
  }

  /** Memory until {@link #close}. */
  final Arena arena() {
    return arena;
  }

  /** Makes the output that {@link #result} reads. */
  final MemorySegment output(long elements) {
    output = NativeFloats.allocate(elements, arena);
    return output;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final float[] result() {
    return output.toArray(ValueLayout.JAVA_FLOAT);
  }

  @Override
  public final boolean isExact() {
    return exact;
  }

  @Override
  public final double tolerance() {
    return tolerance;
  }

  @Override
  public final boolean isNative() {
    return true;
  }

  @Override
  public void close() {
    arena.close();
  }
}
