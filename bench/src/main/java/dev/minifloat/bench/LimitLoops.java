package dev.minifloat.bench;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/** The loops that reach the machine's limits: nothing but multiply-adds, loads, or copies. */
final class LimitLoops {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** Bytes of a vector. */
  static final long BYTES = FLOATS.vectorByteSize();

  /** Independent sums, more than the latency (4) times the multiply-adds a clock (2). */
  private static final int SUMS = 12;

  /** Vectors loaded in one turn of a loop. */
  static final int LOADS = 8;

  private LimitLoops() {}

  /** Operations of {@link #multiplyAdds}. */
  static double operations(int turns) {
    return 2.0 * SUMS * FLOATS.length() * turns;
  }

  static float multiplyAdds(int turns) {
    FloatVector x = FloatVector.broadcast(FLOATS, 0.5f);
    FloatVector y = FloatVector.broadcast(FLOATS, 1e-3f);
    FloatVector a = FloatVector.broadcast(FLOATS, 1);
    FloatVector b = a.mul(1.01f);
    FloatVector c = a.mul(1.02f);
    FloatVector d = a.mul(1.03f);
    FloatVector e = a.mul(1.04f);
    FloatVector f = a.mul(1.05f);
    FloatVector g = a.mul(1.06f);
    FloatVector h = a.mul(1.07f);
    FloatVector i = a.mul(1.08f);
    FloatVector j = a.mul(1.09f);
    FloatVector k = a.mul(1.10f);
    FloatVector l = a.mul(1.11f);
    for (int turn = 0; turn < turns; turn++) {
      a = x.fma(y, a);
      b = x.fma(y, b);
      c = x.fma(y, c);
      d = x.fma(y, d);
      e = x.fma(y, e);
      f = x.fma(y, f);
      g = x.fma(y, g);
      h = x.fma(y, h);
      i = x.fma(y, i);
      j = x.fma(y, j);
      k = x.fma(y, k);
      l = x.fma(y, l);
    }
    FloatVector sum = a.add(b).add(c).add(d).add(e).add(f);
    return sum.add(g).add(h).add(i).add(j).add(k).add(l).lane(0);
  }

  /** Loads {@code bytes}, a multiple of {@code LOADS} vectors, from {@code from} on. */
  static int load(MemorySegment memory, long from, int bytes) {
    IntVector a = IntVector.zero(INTS);
    IntVector b = a;
    IntVector c = a;
    IntVector d = a;
    IntVector e = a;
    IntVector f = a;
    IntVector g = a;
    IntVector h = a;
    MemorySegment part = memory.asSlice(from, bytes);
    // Counting turns, and not bytes, is a third faster: only then C2 leaves out the range checks.
    int turns = (int) (bytes / (LOADS * BYTES));
    for (int turn = 0; turn < turns; turn++) {
      long at = turn * (LOADS * BYTES);
      a = a.or(IntVector.fromMemorySegment(INTS, part, at, ORDER));
      b = b.or(IntVector.fromMemorySegment(INTS, part, at + BYTES, ORDER));
      c = c.or(IntVector.fromMemorySegment(INTS, part, at + 2 * BYTES, ORDER));
      d = d.or(IntVector.fromMemorySegment(INTS, part, at + 3 * BYTES, ORDER));
      e = e.or(IntVector.fromMemorySegment(INTS, part, at + 4 * BYTES, ORDER));
      f = f.or(IntVector.fromMemorySegment(INTS, part, at + 5 * BYTES, ORDER));
      g = g.or(IntVector.fromMemorySegment(INTS, part, at + 6 * BYTES, ORDER));
      h = h.or(IntVector.fromMemorySegment(INTS, part, at + 7 * BYTES, ORDER));
    }
    return a.or(b).or(c).or(d).or(e.or(f)).or(g.or(h)).lane(0);
  }

  /**
   * Loads {@code bytes}, a multiple of {@code LOADS} vectors, from {@code from} on, in as many
   * streams at once: one alone leaves a core waiting, since the processor fetches ahead of each
   * stream only so far.
   */
  static int loadStreams(MemorySegment memory, long from, int bytes) {
    IntVector a = IntVector.zero(INTS);
    IntVector b = a;
    IntVector c = a;
    IntVector d = a;
    IntVector e = a;
    IntVector f = a;
    IntVector g = a;
    IntVector h = a;
    MemorySegment part = memory.asSlice(from, bytes);
    long apart = bytes / LOADS;
    int turns = (int) (apart / BYTES);
    for (int turn = 0; turn < turns; turn++) {
      long at = turn * BYTES;
      a = a.or(IntVector.fromMemorySegment(INTS, part, at, ORDER));
      b = b.or(IntVector.fromMemorySegment(INTS, part, at + apart, ORDER));
      c = c.or(IntVector.fromMemorySegment(INTS, part, at + 2 * apart, ORDER));
      d = d.or(IntVector.fromMemorySegment(INTS, part, at + 3 * apart, ORDER));
      e = e.or(IntVector.fromMemorySegment(INTS, part, at + 4 * apart, ORDER));
      f = f.or(IntVector.fromMemorySegment(INTS, part, at + 5 * apart, ORDER));
      g = g.or(IntVector.fromMemorySegment(INTS, part, at + 6 * apart, ORDER));
      h = h.or(IntVector.fromMemorySegment(INTS, part, at + 7 * apart, ORDER));
    }
    return a.or(b).or(c).or(d).or(e.or(f)).or(g.or(h)).lane(0);
  }

  /** Copies {@code bytes}, a multiple of 4 vectors. */
  static void copy(MemorySegment source, MemorySegment target, long from, int bytes) {
    MemorySegment in = source.asSlice(from, bytes);
    MemorySegment out = target.asSlice(from, bytes);
    int turns = (int) (bytes / (4 * BYTES));
    for (int turn = 0; turn < turns; turn++) {
      long at = turn * (4 * BYTES);
      IntVector a = IntVector.fromMemorySegment(INTS, in, at, ORDER);
      IntVector b = IntVector.fromMemorySegment(INTS, in, at + BYTES, ORDER);
      IntVector c = IntVector.fromMemorySegment(INTS, in, at + 2 * BYTES, ORDER);
      IntVector d = IntVector.fromMemorySegment(INTS, in, at + 3 * BYTES, ORDER);
      a.intoMemorySegment(out, at, ORDER);
      b.intoMemorySegment(out, at + BYTES, ORDER);
      c.intoMemorySegment(out, at + 2 * BYTES, ORDER);
      d.intoMemorySegment(out, at + 3 * BYTES, ORDER);
    }
  }
}
