package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** Names and texts of results. */
final class ErrorApi {
  private final Map<CuResult, MemorySegment> names = new EnumMap<>(CuResult.class);
  private final Map<CuResult, MemorySegment> texts = new EnumMap<>(CuResult.class);
  private final Arena arena;

  ErrorApi(Arena arena) {
    this.arena = arena;
  }

  void cuGetErrorName(int error, MemorySegment out) {
    CuResult result = known(error, out);
    put(out, names.computeIfAbsent(result, known -> arena.allocateFrom(known.symbol())));
  }

  void cuGetErrorString(int error, MemorySegment out) {
    CuResult result = known(error, out);
    put(out, texts.computeIfAbsent(result, known -> arena.allocateFrom(known.text())));
  }

  private static CuResult known(int error, MemorySegment out) {
    Native.putLong(out, 0, "pStr");
    CuResult result = CuResult.of(error);
    if (result == null) {
      throw CuResult.INVALID_VALUE.because(error + " is no CUresult");
    }
    return result;
  }

  private static void put(MemorySegment out, MemorySegment text) {
    Native.putLong(out, text.address(), "pStr");
  }
}
