package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.Dim3;
import dev.minifloat.cuda.sim.internal.exec.LaunchReport;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** What a stream, or a graph's node, does. */
sealed interface Work {
  /** What it is, for messages and for a graph's picture. */
  String describe();

  /**
   * Does it.
   *
   * @return how long it took, in simulated nanoseconds: a measure of the simulator's own, that says
   *     nothing about a GPU
   */
  long run(Simulation simulation, Context context);

  /** A place in a stream that others wait for, or at which it waits. */
  record Mark(String describe) implements Work {
    @Override
    public long run(Simulation simulation, Context context) {
      return 0;
    }
  }

  /**
   * A kernel's launch.
   *
   * @param cluster a cluster's size in blocks; null for what the kernel says
   * @param parameters a copy of its parameters' bytes
   */
  @SuppressWarnings("ArrayRecordComponent") // launches are never compared
  record Kernel(
      Function function, Dim3 grid, Dim3 block, Dim3 cluster, int dynamicBytes, byte[] parameters)
      implements Work {
    @Override
    public String describe() {
      return "kernel '" + function.name() + "'";
    }

    @Override
    public long run(Simulation simulation, Context context) {
      LaunchReport report =
          function
              .module()
              .launch(simulation, function.name(), grid, block, cluster, dynamicBytes, parameters);
      simulation.launched(report);
      return 1000 + report.counters().instructions();
    }
  }

  /** Rows of bytes from one place to another. */
  record Copy(Place target, Place source, long width, long height) implements Work {
    @Override
    public String describe() {
      return "copy of %d × %d bytes from %s to %s".formatted(height, width, source, target);
    }

    @Override
    public long run(Simulation simulation, Context context) {
      for (long row = 0; row < height; row++) {
        Place.copy(target, source, row, width);
      }
      return 500 + width * height / 16;
    }
  }

  /** Numbers of 1, 2 or 4 bytes written over and over. */
  record Fill(GlobalMemory memory, long address, int size, int value, long count) implements Work {
    @Override
    public String describe() {
      return "fill of %d × %d bytes at 0x%x".formatted(count, size, address);
    }

    @Override
    public long run(Simulation simulation, Context context) {
      memory.fill(address, size, value, count);
      return 500 + count * size / 16;
    }
  }

  /** The end of an allocation, in a stream's order. */
  record Free(DeviceAllocation allocation) implements Work {
    @Override
    public String describe() {
      return "free of 0x%x".formatted(allocation.address());
    }

    @Override
    public long run(Simulation simulation, Context context) {
      allocation.release();
      return 100;
    }
  }

  /** A function of the client's; it runs without the driver's lock. */
  record HostFunction(MemorySegment function, MemorySegment argument) implements Work {
    @Override
    public String describe() {
      return "host function 0x%x".formatted(function.address());
    }

    @Override
    public long run(Simulation simulation, Context context) {
      MethodHandle handle =
          Linker.nativeLinker()
              .downcallHandle(function, FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
      Threads.State thread = simulation.threads().current();
      boolean outer = thread.inHostFunction;
      thread.inHostFunction = true;
      simulation.lock().unlock();
      try {
        handle.invokeExact(argument);
      } catch (Throwable e) {
        throw new IllegalStateException(describe() + " can't be called", e);
      } finally {
        simulation.lock().lock();
        thread.inHostFunction = outer;
      }
      return 1000;
    }
  }

  /** A graph's nodes, each after those it depends on, in an order that the seed decides. */
  record GraphRun(List<GraphNode> nodes) implements Work {
    @Override
    public String describe() {
      return "graph of " + nodes.size() + " nodes";
    }

    @Override
    public long run(Simulation simulation, Context context) {
      long time = 0;
      for (GraphNode node : GraphNode.shuffled(nodes, simulation.scheduler())) {
        time += node.work().run(simulation, context);
      }
      return time;
    }
  }

  /** Where a copy starts or ends. */
  sealed interface Place {
    /** Device memory. */
    record Device(GlobalMemory memory, long address, long pitch) implements Place {
      @Override
      public String toString() {
        return "device memory 0x%x".formatted(address);
      }
    }

    /** The client's memory, looked at when the copy runs. */
    record Host(long address, long pitch) implements Place {
      @Override
      public String toString() {
        return "host memory 0x%x".formatted(address);
      }

      MemorySegment row(long row, long width) {
        return MemorySegment.ofAddress(address + row * pitch).reinterpret(width);
      }
    }

    /** What the client's memory held when the copy was asked for. */
    @SuppressWarnings("ArrayRecordComponent") // copies are never compared
    record Staged(byte[] bytes, long pitch) implements Place {
      @Override
      public String toString() {
        return "staged host memory";
      }

      MemorySegment row(long row, long width) {
        return MemorySegment.ofArray(bytes).asSlice(row * pitch, width);
      }
    }

    private static void copy(Place target, Place source, long row, long width) {
      switch (target) {
        case Device to -> {
          long address = to.address() + row * to.pitch();
          switch (source) {
            case Device from -> {
              long start = from.address() + row * from.pitch();
              if (from.memory() == to.memory()) {
                to.memory().copy(address, start, width);
              } else {
                try (Arena arena = Arena.ofConfined()) {
                  MemorySegment bytes = arena.allocate(width);
                  from.memory().read(start, bytes);
                  to.memory().write(address, bytes);
                }
              }
            }
            case Host from -> to.memory().write(address, from.row(row, width));
            case Staged from -> to.memory().write(address, from.row(row, width));
          }
        }
        case Host to -> {
          switch (source) {
            case Device from ->
                from.memory().read(from.address() + row * from.pitch(), to.row(row, width));
            case Host from -> to.row(row, width).copyFrom(from.row(row, width));
            case Staged from -> to.row(row, width).copyFrom(from.row(row, width));
          }
        }
        case Staged _ -> throw new IllegalStateException("nothing is copied to staged memory");
      }
    }
  }
}
