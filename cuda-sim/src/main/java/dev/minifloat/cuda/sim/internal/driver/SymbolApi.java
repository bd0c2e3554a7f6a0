package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.MemorySegment;

/** Looking functions up at run time. */
final class SymbolApi {
  private static final int FOUND = 0;
  private static final int NOT_FOUND = 1;

  private final Gate gate;

  SymbolApi(Gate gate) {
    this.gate = gate;
  }

  void cuGetProcAddress(
      MemorySegment symbol, MemorySegment out, int cudaVersion, long flags, MemorySegment status) {
    String name = Native.string(symbol, "symbol");
    Native.require(out, "pfn");
    DriverFunction function = cudaVersion < 2000 ? null : gate.named(name);
    if (!Native.isNull(status)) {
      Native.putInt(status, function == null ? NOT_FOUND : FOUND, "symbolStatus");
    }
    if (function == null) {
      Native.putLong(out, 0, "pfn");
      throw CuResult.NOT_FOUND.because("there is no function '" + name + "'");
    }
    Native.putLong(out, gate.stub(function).address(), "pfn");
  }
}
