package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;
import java.util.Deque;

/** Which context a thread uses. */
final class ContextApi {
  private static final int GREATEST_PRIORITY = -5;

  private final Simulation simulation;

  ContextApi(Simulation simulation) {
    this.simulation = simulation;
  }

  private Context context(MemorySegment handle) {
    Context context =
        simulation.handles().get(handle, Context.class, "ctx", CuResult.INVALID_CONTEXT);
    if (!context.isActive()) {
      throw CuResult.INVALID_CONTEXT.because("nobody retains this primary context");
    }
    return context;
  }

  private Deque<Context> stack() {
    return simulation.threads().current().contexts;
  }

  void cuCtxPushCurrent(MemorySegment handle) {
    stack().push(context(handle));
  }

  void cuCtxPopCurrent(MemorySegment out) {
    if (stack().isEmpty()) {
      throw CuResult.INVALID_CONTEXT.because("no context is current");
    }
    Context context = stack().pop();
    if (!Native.isNull(out)) {
      Native.putHandle(out, context, "pctx");
    }
  }

  void cuCtxSetCurrent(MemorySegment handle) {
    Context context = Native.isNull(handle) ? null : context(handle);
    stack().poll();
    if (context != null) {
      stack().push(context);
    }
  }

  void cuCtxGetCurrent(MemorySegment out) {
    Native.putHandle(out, stack().peek(), "pctx");
  }

  void cuCtxGetDevice(MemorySegment out) {
    Native.require(out, "device");
    Native.putInt(out, simulation.currentOrBroken().device().ordinal(), "device");
  }

  void cuCtxSynchronize() {
    simulation.finish(simulation.current());
  }

  void cuCtxSetLimit(int limit, long value) {
    Context context = simulation.current();
    limit(context, limit);
    context.limits().put(limit, value);
  }

  void cuCtxGetLimit(MemorySegment out, int limit) {
    Context context = simulation.current();
    Native.putLong(out, limit(context, limit), "pvalue");
  }

  private static long limit(Context context, int limit) {
    long initial =
        switch (limit) {
          case 0 -> 1024; // stack of a thread
          case 1 -> 1 << 20; // printf's buffer
          case Context.HEAP_LIMIT -> Context.DEFAULT_HEAP;
          case 5 -> 64; // granularity of fetches into L2
          case 6 -> 0; // L2 set aside
          case 3, 4, 7, 8, 9 ->
              throw CuResult.UNSUPPORTED_LIMIT.because("limit " + limit + " isn't simulated");
          default -> throw CuResult.INVALID_VALUE.because("there is no limit " + limit);
        };
    return context.limits().getOrDefault(limit, initial);
  }

  void cuCtxGetStreamPriorityRange(MemorySegment least, MemorySegment greatest) {
    simulation.current();
    if (!Native.isNull(least)) {
      Native.putInt(least, 0, "leastPriority");
    }
    if (!Native.isNull(greatest)) {
      Native.putInt(greatest, GREATEST_PRIORITY, "greatestPriority");
    }
  }
}
