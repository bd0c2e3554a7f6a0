package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.PtxModule;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** A module in memory of its own, for tests. */
final class Device {
  static final String HEADER = ".version 9.0\n.target sm_120a\n.address_size 64\n";

  final GlobalMemory memory = new GlobalMemory(1L << 30);
  final LinkedModule module;
  ExecutionOptions options = ExecutionOptions.of(80);

  Device(String ptx) {
    module = LinkedModule.link(PtxModule.parse(ptx), memory);
  }

  /** A module of one kernel {@code k} with these parameters and this body. */
  static Device kernel(String parameters, String body) {
    return new Device(HEADER + ".visible .entry k(" + parameters + ") {\n" + body + "\n}\n");
  }

  Allocation ints(int... values) {
    Allocation allocation = memory.allocate(Math.max(4L * values.length, 4), "ints");
    memory.write(allocation.base(), MemorySegment.ofArray(values));
    return allocation;
  }

  Allocation longs(long... values) {
    Allocation allocation = memory.allocate(8L * values.length, "longs");
    memory.write(allocation.base(), MemorySegment.ofArray(values));
    return allocation;
  }

  Allocation bytes(byte... values) {
    Allocation allocation = memory.allocate(values.length, "bytes");
    memory.write(allocation.base(), MemorySegment.ofArray(values));
    return allocation;
  }

  Allocation space(long bytes) {
    return memory.allocate(bytes, "space");
  }

  int[] ints(Allocation allocation) {
    int[] values = new int[allocation.size() / 4];
    memory.read(allocation.base(), MemorySegment.ofArray(values));
    return values;
  }

  long[] longs(Allocation allocation) {
    long[] values = new long[allocation.size() / 8];
    memory.read(allocation.base(), MemorySegment.ofArray(values));
    return values;
  }

  byte[] bytes(Allocation allocation) {
    byte[] values = new byte[allocation.size()];
    memory.read(allocation.base(), MemorySegment.ofArray(values));
    return values;
  }

  LaunchReport run(int blocks, int threads, Object... arguments) {
    return launch("k", new Dim3(blocks, 1, 1), new Dim3(threads, 1, 1), 0, arguments);
  }

  LaunchReport launch(String name, Dim3 grid, Dim3 block, int shared, Object... arguments) {
    return new Interpreter(options)
        .launch(module, name, grid, block, shared, parameters(name, arguments), memory);
  }

  byte[] parameters(String name, Object... arguments) {
    PtxFunction kernel = module.kernel(name);
    List<Integer> offsets = kernel.parameterOffsets();
    ByteBuffer bytes = ByteBuffer.allocate(kernel.parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < arguments.length; i++) {
      int at = offsets.get(i);
      switch (arguments[i]) {
        case Allocation allocation -> bytes.putLong(at, allocation.base());
        case Integer value -> bytes.putInt(at, value);
        case Long value -> bytes.putLong(at, value);
        case Float value -> bytes.putFloat(at, value);
        case Double value -> bytes.putDouble(at, value);
        case byte[] value -> bytes.put(at, value);
        default -> throw new IllegalArgumentException("argument " + arguments[i]);
      }
    }
    return bytes.array();
  }
}
