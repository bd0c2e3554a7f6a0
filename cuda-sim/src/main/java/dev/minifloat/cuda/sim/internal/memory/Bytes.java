package dev.minifloat.cuda.sim.internal.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Little-endian numbers of 1, 2, 4 and 8 bytes in byte arrays, zero-extended to 64 bits. */
public final class Bytes {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Bytes() {}

  public static long get(byte[] data, int offset, int size) {
    return switch (size) {
      case 1 -> data[offset] & 0xFFL;
      case 2 -> (short) SHORT.get(data, offset) & 0xFFFFL;
      case 4 -> (int) INT.get(data, offset) & 0xFFFF_FFFFL;
      case 8 -> (long) LONG.get(data, offset);
      default -> throw new IllegalArgumentException(size + " bytes are no number's size");
    };
  }

  public static void put(byte[] data, int offset, int size, long value) {
    switch (size) {
      case 1 -> data[offset] = (byte) value;
      case 2 -> SHORT.set(data, offset, (short) value);
      case 4 -> INT.set(data, offset, (int) value);
      case 8 -> LONG.set(data, offset, value);
      default -> throw new IllegalArgumentException(size + " bytes are no number's size");
    }
  }
}
