package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Reads and writes what a client's pointers point at; their sizes are what the prototype says. */
final class Native {
  /** No client's memory lies below: such an address is a small number by mistake. */
  private static final long LOWEST = 1 << 16;

  private static final int LONGEST_NAME = 1 << 16;

  private Native() {}

  /** The memory behind a pointer that must not be null. */
  static MemorySegment at(MemorySegment pointer, long bytes, String parameter) {
    long address = pointer.address();
    if (address == 0) {
      throw CuResult.INVALID_VALUE.because(parameter + " is NULL");
    }
    if (address > 0 && address < LOWEST) {
      throw CuResult.INVALID_VALUE.because(
          "%s is 0x%x, which is no address".formatted(parameter, address));
    }
    return pointer.reinterpret(bytes);
  }

  static MemorySegment at(long address, long bytes, String parameter) {
    return at(MemorySegment.ofAddress(address), bytes, parameter);
  }

  static void putInt(MemorySegment pointer, int value, String parameter) {
    at(pointer, 4, parameter).set(ValueLayout.JAVA_INT_UNALIGNED, 0, value);
  }

  static void putLong(MemorySegment pointer, long value, String parameter) {
    at(pointer, 8, parameter).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
  }

  static void putFloat(MemorySegment pointer, float value, String parameter) {
    at(pointer, 4, parameter).set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, value);
  }

  static void putHandle(MemorySegment pointer, Resource resource, String parameter) {
    putLong(pointer, resource == null ? 0 : resource.handle(), parameter);
  }

  static int getInt(MemorySegment pointer, long index, String parameter) {
    return at(pointer, index * 4 + 4, parameter).get(ValueLayout.JAVA_INT_UNALIGNED, index * 4);
  }

  static long getLong(MemorySegment pointer, long index, String parameter) {
    return at(pointer, index * 8 + 8, parameter).get(ValueLayout.JAVA_LONG_UNALIGNED, index * 8);
  }

  /** A string that ends with a zero byte. */
  static String string(MemorySegment pointer, String parameter) {
    MemorySegment bytes = at(pointer, LONGEST_NAME, parameter);
    try {
      return bytes.getString(0, StandardCharsets.UTF_8);
    } catch (IndexOutOfBoundsException e) {
      throw CuResult.INVALID_VALUE.because(parameter + " doesn't end: " + e.getMessage());
    }
  }

  /** Writes a string cut off to fit, with its zero byte. */
  static void putString(MemorySegment pointer, int capacity, String text, String parameter) {
    if (capacity <= 0) {
      throw CuResult.INVALID_VALUE.because(parameter + " has room for " + capacity + " bytes");
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, capacity - 1);
    MemorySegment target = at(pointer, capacity, parameter);
    MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, 0, length);
    target.set(ValueLayout.JAVA_BYTE, length, (byte) 0);
  }

  static boolean isNull(MemorySegment pointer) {
    return pointer.address() == 0;
  }

  /** Checks a pointer that a result will go to before anything is done. */
  static void require(MemorySegment pointer, String parameter) {
    at(pointer, 1, parameter);
  }
}
