package dev.minifloat.bench;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.util.List;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * Uses vectors of every width and element, as other libraries in a process do: what they compute is
 * of no account.
 */
final class OtherWidths {
  private static final List<VectorShape> SHAPES =
      List.of(
          VectorShape.S_64_BIT,
          VectorShape.S_128_BIT,
          VectorShape.S_256_BIT,
          VectorShape.S_512_BIT);

  private static final int ROUNDS = 3000;

  private OtherWidths() {}

  /**
   * Runs everything often enough that the JVM knows all classes of vectors at every call.
   *
   * @return a sum that keeps the work alive
   */
  static double use() {
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (VectorShape shape : SHAPES) {
        sum += floats(shape) + ints(shape) + bytes(shape) + shorts(shape) + longs(shape);
      }
    }
    return sum;
  }

  private static float floats(VectorShape shape) {
    VectorSpecies<Float> species = VectorSpecies.of(float.class, shape);
    float[] array = new float[64];
    MemorySegment memory = MemorySegment.ofArray(new float[64]);
    FloatVector w = FloatVector.fromMemorySegment(species, memory, 8, LITTLE_ENDIAN);
    FloatVector v = FloatVector.fromArray(species, array, 1);
    for (int i = 0; i < 3; i++) {
      v = v.add(w).mul(v).sub(1f).fma(w, v).fma(2f, 1f).div(2f).max(w).min(v).neg().abs().sqrt();
      VectorMask<Float> mask =
          v.compare(VectorOperators.GT, w).or(v.test(VectorOperators.IS_NAN)).not();
      mask = mask.and(v.compare(VectorOperators.LT, 1f)).or(v.lt(w)).or(v.eq(w));
      v = v.blend(w, mask).blend(1f, mask).lanewise(VectorOperators.ADD, w).mul(2f).add(v, mask);
      v = v.lanewise(VectorOperators.MUL, w, mask).lanewise(VectorOperators.MAX, w);
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true));
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true), w);
      v = v.reinterpretAsInts().reinterpretAsFloats().unslice(1).slice(1, w);
      v = v.selectFrom(w).selectFrom(v, w);
      v =
          (FloatVector)
              v.convertShape(VectorOperators.F2I, species.withLanes(int.class), 0)
                  .convertShape(VectorOperators.I2F, species, 0);
      if (mask.anyTrue() && mask.allTrue()) {
        v = v.add(mask.trueCount());
      }
    }
    v.intoArray(array, 2);
    v.intoMemorySegment(memory, 16, LITTLE_ENDIAN);
    return v.reduceLanes(VectorOperators.ADD) + v.reduceLanes(VectorOperators.MAX) + v.lane(0);
  }

  private static float ints(VectorShape shape) {
    VectorSpecies<Integer> species = VectorSpecies.of(int.class, shape);
    int[] array = new int[64];
    MemorySegment memory = MemorySegment.ofArray(new int[64]);
    IntVector w = IntVector.fromMemorySegment(species, memory, 8, LITTLE_ENDIAN);
    IntVector v = IntVector.fromArray(species, array, 1);
    IntVector c = IntVector.broadcast(species, 3);
    for (int i = 0; i < 3; i++) {
      v = v.add(w).mul(3).sub(v).and(c).or(w).and(7).or(1).neg().abs().max(w).min(c).not();
      v = v.lanewise(VectorOperators.LSHL, 3).lanewise(VectorOperators.LSHR, 2);
      v = v.lanewise(VectorOperators.ASHR, 3).lanewise(VectorOperators.LSHL, c);
      v = v.lanewise(VectorOperators.LSHR, c).lanewise(VectorOperators.ASHR, c);
      v = v.lanewise(VectorOperators.XOR, c).lanewise(VectorOperators.XOR, 5);
      v = v.lanewise(VectorOperators.UMIN, c).lanewise(VectorOperators.LEADING_ZEROS_COUNT);
      VectorMask<Integer> mask =
          v.compare(VectorOperators.GT, w).or(v.compare(VectorOperators.EQ, 3));
      mask =
          mask.or(v.compare(VectorOperators.ULT, w))
              .or(v.lt(w))
              .or(v.compare(VectorOperators.NE, c));
      mask = mask.or(v.compare(VectorOperators.GE, w)).and(v.compare(VectorOperators.LE, 5));
      v = v.blend(w, mask).blend(3, mask).add(1, mask).add(w, mask);
      v = v.lanewise(VectorOperators.LSHL, 3, mask);
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true)).selectFrom(w).selectFrom(v, c);
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true), w);
      v = v.reinterpretAsFloats().reinterpretAsInts().reinterpretAsBytes().reinterpretAsInts();
      v = v.reinterpretAsShorts().reinterpretAsInts().reinterpretAsLongs().reinterpretAsInts();
      if (mask.anyTrue() && mask.allTrue()) {
        v = v.add(mask.trueCount());
      }
    }
    v.intoArray(array, 2);
    v.intoMemorySegment(memory, 16, LITTLE_ENDIAN);
    return v.reduceLanes(VectorOperators.ADD) + v.lane(0);
  }

  private static float bytes(VectorShape shape) {
    VectorSpecies<Byte> species = VectorSpecies.of(byte.class, shape);
    byte[] array = new byte[256];
    MemorySegment memory = MemorySegment.ofArray(new byte[256]);
    ByteVector w = ByteVector.fromMemorySegment(species, memory, 8, LITTLE_ENDIAN);
    ByteVector v = ByteVector.fromArray(species, array, 1);
    ByteVector c = ByteVector.broadcast(species, (byte) 3);
    float sum = 0;
    for (int i = 0; i < 3; i++) {
      v = v.add(w).sub(v).and(c).or(w).and((byte) 7).or((byte) 1).max(w).min(c).add((byte) 3);
      v = v.lanewise(VectorOperators.XOR, c).lanewise(VectorOperators.LSHR, 2);
      v = v.lanewise(VectorOperators.LSHL, 2).lanewise(VectorOperators.ASHR, 1);
      VectorMask<Byte> mask = v.compare(VectorOperators.GT, w).or(v.compare(VectorOperators.EQ, 3));
      mask =
          mask.or(v.compare(VectorOperators.ULT, w))
              .or(v.lt(w))
              .or(v.compare(VectorOperators.NE, c));
      v = v.blend(w, mask).rearrange(VectorShuffle.iota(species, 0, 1, true)).selectFrom(w);
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true), w).selectFrom(v, c);
      v = v.reinterpretAsInts().reinterpretAsBytes().reinterpretAsShorts().reinterpretAsBytes();
      for (VectorShape wide : SHAPES) {
        VectorSpecies<Integer> ints = VectorSpecies.of(int.class, wide);
        Vector<Integer> lanes = v.convertShape(VectorOperators.ZERO_EXTEND_B2I, ints, 0);
        sum += lanes.lanewise(VectorOperators.ADD, 1).reinterpretAsInts().lane(0);
        sum += v.convertShape(VectorOperators.B2I, ints, 0).reinterpretAsInts().lane(0);
        sum +=
            v.convertShape(VectorOperators.B2S, VectorSpecies.of(short.class, wide), 0)
                .reinterpretAsShorts()
                .lane(0);
        sum +=
            ints.zero().convertShape(VectorOperators.I2B, species, 0).reinterpretAsBytes().lane(0);
      }
      if (mask.anyTrue() && mask.allTrue()) {
        v = v.add((byte) mask.trueCount());
      }
    }
    v.intoArray(array, 2);
    v.intoMemorySegment(memory, 16, LITTLE_ENDIAN);
    return sum + v.reduceLanes(VectorOperators.ADD) + v.lane(0);
  }

  private static float shorts(VectorShape shape) {
    VectorSpecies<Short> species = VectorSpecies.of(short.class, shape);
    short[] array = new short[128];
    MemorySegment memory = MemorySegment.ofArray(new short[128]);
    ShortVector w = ShortVector.fromMemorySegment(species, memory, 8, LITTLE_ENDIAN);
    ShortVector v = ShortVector.fromArray(species, array, 1);
    ShortVector c = ShortVector.broadcast(species, (short) 3);
    float sum = 0;
    for (int i = 0; i < 3; i++) {
      v = v.add(w).sub(v).mul(c).and(c).or(w).and((short) 7).max(w).min(c).add((short) 3);
      v = v.lanewise(VectorOperators.XOR, c).lanewise(VectorOperators.LSHR, 2);
      v = v.lanewise(VectorOperators.LSHL, 2).lanewise(VectorOperators.ASHR, 1);
      VectorMask<Short> mask = v.compare(VectorOperators.GT, w).or(v.lt(w)).or(v.eq(c));
      v = v.blend(w, mask).rearrange(VectorShuffle.iota(species, 0, 1, true)).selectFrom(w);
      v = v.rearrange(VectorShuffle.iota(species, 0, 1, true), w);
      v = v.reinterpretAsInts().reinterpretAsShorts();
      for (VectorShape wide : SHAPES) {
        VectorSpecies<Integer> ints = VectorSpecies.of(int.class, wide);
        sum += v.convertShape(VectorOperators.ZERO_EXTEND_S2I, ints, 0).reinterpretAsInts().lane(0);
        sum += v.convertShape(VectorOperators.S2I, ints, 0).reinterpretAsInts().lane(0);
        sum +=
            v.convertShape(VectorOperators.S2B, VectorSpecies.of(byte.class, wide), 0)
                .reinterpretAsBytes()
                .lane(0);
        sum +=
            ints.zero().convertShape(VectorOperators.I2S, species, 0).reinterpretAsShorts().lane(0);
      }
    }
    v.intoArray(array, 2);
    v.intoMemorySegment(memory, 16, LITTLE_ENDIAN);
    return sum + v.reduceLanes(VectorOperators.ADD) + v.lane(0);
  }

  private static float longs(VectorShape shape) {
    VectorSpecies<Long> species = VectorSpecies.of(long.class, shape);
    MemorySegment memory = MemorySegment.ofArray(new long[64]);
    LongVector v = LongVector.fromMemorySegment(species, memory, 8, LITTLE_ENDIAN);
    for (int i = 0; i < 3; i++) {
      v = v.mul(v).add(3).and(0x55).lanewise(VectorOperators.LSHR, 32).or(v);
      v = v.lanewise(VectorOperators.LSHL, 32).lanewise(VectorOperators.XOR, 5);
      v = v.reinterpretAsInts().reinterpretAsLongs();
      v = v.blend(3, v.compare(VectorOperators.GT, 5));
    }
    v.intoMemorySegment(memory, 16, LITTLE_ENDIAN);
    return v.lane(0);
  }
}
