package dev.minifloat.cpu.internal.runtime;

import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The vector species of every kernel: the machine's preferred width, held between 128 and 512 bits,
 * and the narrower shapes in which as many bytes or shorts fit as there are 32-bit lanes.
 */
public final class Species {
  /** Width of a vector in bits: 128, 256 or 512. */
  public static final int BITS =
      Math.clamp(FloatVector.SPECIES_PREFERRED.vectorBitSize(), 128, 512);

  private static final VectorShape SHAPE = VectorShape.forBitSize(BITS);

  /** F32 lanes. */
  public static final VectorSpecies<Float> FLOAT = VectorSpecies.of(float.class, SHAPE);

  /** 32-bit integer lanes, as many as {@link #FLOAT}. */
  public static final VectorSpecies<Integer> INT = VectorSpecies.of(int.class, SHAPE);

  /** Lanes of {@link #FLOAT} and {@link #INT}. */
  public static final int LANES = BITS / 32;

  /** One short for each lane. */
  public static final VectorSpecies<Short> SHORT =
      VectorSpecies.of(short.class, VectorShape.forBitSize(BITS / 2));

  /** One byte for each lane; at 128 bits twice as many, since no shape has 32 bits. */
  public static final VectorSpecies<Byte> BYTE =
      VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, BITS / 4)));

  /** Bytes that loading a {@link #BYTE} vector touches: {@link #LANES}, or 8 at 128 bits. */
  public static final int BYTE_REACH = BYTE.length();

  /** The order of everything in memory. */
  public static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

  /** Shorts that fill a vector. */
  public static final VectorSpecies<Short> WIDE_SHORT = VectorSpecies.of(short.class, SHAPE);

  /** Bytes that fill a vector. */
  public static final VectorSpecies<Byte> WIDE_BYTE = VectorSpecies.of(byte.class, SHAPE);

  /** Bytes that fill half a vector, as many as {@link #WIDE_SHORT} has shorts. */
  public static final VectorSpecies<Byte> HALF_BYTE =
      VectorSpecies.of(byte.class, VectorShape.forBitSize(BITS / 2));

  /** 64-bit integer lanes that fill a vector. */
  public static final VectorSpecies<Long> LONG = VectorSpecies.of(long.class, SHAPE);

  /** Eight bytes: one for each lane of {@link #LONG} at 512 bits. */
  public static final VectorSpecies<Byte> EIGHT_BYTES =
      VectorSpecies.of(byte.class, VectorShape.S_64_BIT);

  private Species() {}
}
