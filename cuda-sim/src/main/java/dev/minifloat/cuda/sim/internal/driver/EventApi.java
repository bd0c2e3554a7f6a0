package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Events. */
final class EventApi {
  private static final int BLOCKING_SYNC = 1;
  private static final int DISABLE_TIMING = 2;
  private static final int INTERPROCESS = 4;
  private static final float NANOSECONDS_PER_MILLISECOND = 1e6f;

  private final Simulation simulation;

  EventApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuEventCreate(MemorySegment out, int flags) {
    Context context = simulation.current();
    Native.require(out, "phEvent");
    if ((flags & INTERPROCESS) != 0) {
      throw CuResult.NOT_SUPPORTED.because("simulated events can't be shared with other processes");
    }
    if ((flags & ~(BLOCKING_SYNC | DISABLE_TIMING)) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    Native.putHandle(out, simulation.handles().add(new Event(context, flags)), "phEvent");
  }

  private Event event(MemorySegment handle) {
    simulation.current();
    Event event = simulation.handles().get(handle, Event.class, "hEvent");
    event.context().requireWhole();
    return event;
  }

  void cuEventRecord(MemorySegment hEvent, MemorySegment hStream) {
    cuEventRecordWithFlags(hEvent, hStream, 0);
  }

  void cuEventRecordWithFlags(MemorySegment hEvent, MemorySegment hStream, int flags) {
    Event event = event(hEvent);
    Stream stream = simulation.stream(hStream);
    if ((flags & ~1) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    if (event.context() != stream.context()) {
      throw CuResult.INVALID_HANDLE.because("event and stream belong to different contexts");
    }
    if (stream.capture != null) {
      event.capture = stream.capture;
      event.captured = stream.capture.tips(stream);
      return;
    }
    Task recorded = simulation.submit(stream, new Work.Mark("record of an event"));
    event.capture = null;
    event.captured = Set.of();
    event.recorded = recorded;
  }

  private static void requireUncaptured(Event event) {
    if (event.capture != null) {
      event.capture.invalidate();
      throw CuResult.CAPTURED_EVENT.because("the event was last recorded in a capture");
    }
  }

  void cuEventQuery(MemorySegment hEvent) {
    Event event = event(hEvent);
    requireUncaptured(event);
    boolean ready = simulation.scheduler().query(event.recorded);
    event.context().requireWhole();
    if (!ready) {
      throw CuResult.NOT_READY.because("the event hasn't happened");
    }
  }

  void cuEventSynchronize(MemorySegment hEvent) {
    Event event = event(hEvent);
    requireUncaptured(event);
    if (event.recorded != null) {
      simulation.scheduler().complete(event.recorded);
      event.context().releasePools();
    }
    event.context().requireWhole();
  }

  void cuEventDestroy(MemorySegment hEvent) {
    simulation.currentOrBroken();
    Event event = simulation.handles().get(hEvent, Event.class, "hEvent");
    simulation.handles().remove(event);
    event.context().requireWhole();
  }

  /** Milliseconds of the device's simulated clock. */
  void cuEventElapsedTime(MemorySegment out, MemorySegment hStart, MemorySegment hEnd) {
    Event start = event(hStart);
    Event end = event(hEnd);
    Native.require(out, "pMilliseconds");
    for (Event event : new Event[] {start, end}) {
      requireUncaptured(event);
      if (!event.isTimed() || event.recorded == null) {
        throw CuResult.INVALID_HANDLE.because("an event was not recorded, or keeps no time");
      }
      if (!event.recorded.done) {
        throw CuResult.NOT_READY.because("an event hasn't happened");
      }
    }
    long elapsed = end.recorded.endedAt - start.recorded.endedAt;
    Native.putFloat(out, elapsed / NANOSECONDS_PER_MILLISECOND, "pMilliseconds");
  }
}
