package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;

/** Streams. */
final class StreamApi {
  private static final int NON_BLOCKING = 1;
  private static final int GREATEST_PRIORITY = -5;

  private final Simulation simulation;

  StreamApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuStreamCreate(MemorySegment out, int flags) {
    cuStreamCreateWithPriority(out, flags, 0);
  }

  /** Priorities out of range become the nearest one in it. */
  void cuStreamCreateWithPriority(MemorySegment out, int flags, int priority) {
    Context context = simulation.current();
    Native.require(out, "phStream");
    if ((flags & ~NON_BLOCKING) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    int within = Math.clamp(priority, GREATEST_PRIORITY, 0);
    Native.putHandle(out, context.create(flags, within), "phStream");
  }

  void cuStreamGetPriority(MemorySegment hStream, MemorySegment out) {
    Native.putInt(out, simulation.stream(hStream).priority(), "priority");
  }

  void cuStreamGetFlags(MemorySegment hStream, MemorySegment out) {
    Native.putInt(out, simulation.stream(hStream).flags(), "flags");
  }

  void cuStreamWaitEvent(MemorySegment hStream, MemorySegment hEvent, int flags) {
    Stream stream = simulation.stream(hStream);
    Event event = simulation.handles().get(hEvent, Event.class, "hEvent");
    if ((flags & ~1) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    if (event.capture != null) {
      waitCaptured(stream, event);
      return;
    }
    if (stream.capture != null) {
      stream.capture.invalidate();
      throw CuResult.STREAM_CAPTURE_ISOLATION.because(
          "a captured stream can't wait for work that isn't captured");
    }
    if (event.recorded != null && !event.recorded.done) {
      Task task = simulation.submit(stream, new Work.Mark("wait for an event"));
      task.after.add(event.recorded);
    }
  }

  private static void waitCaptured(Stream stream, Event event) {
    if (stream.role() == Stream.Role.LEGACY) {
      event.capture.invalidate();
      throw CuResult.STREAM_CAPTURE_IMPLICIT.because("the default stream can't be captured");
    }
    if (stream.capture != null && stream.capture != event.capture) {
      stream.capture.invalidate();
      event.capture.invalidate();
      throw CuResult.STREAM_CAPTURE_MERGE.because("the event belongs to another capture");
    }
    event.capture.join(stream, event.captured);
  }

  void cuStreamQuery(MemorySegment hStream) {
    Stream stream = simulation.stream(hStream);
    if (stream.capture != null) {
      stream.capture.invalidate();
      throw CuResult.STREAM_CAPTURE_UNSUPPORTED.because("the stream is being captured");
    }
    simulation.requireNoImplicitCapture(stream);
    boolean ready = simulation.scheduler().query(stream.pending.peekLast());
    stream.context().requireWhole();
    if (!ready) {
      throw CuResult.NOT_READY.because("the stream has work left");
    }
  }

  void cuStreamSynchronize(MemorySegment hStream) {
    simulation.finish(simulation.stream(hStream));
  }

  void cuStreamDestroy(MemorySegment hStream) {
    simulation.currentOrBroken();
    Stream stream = simulation.handles().get(hStream, Stream.class, "hStream");
    if (stream.capture != null) {
      stream.capture.invalidate();
      simulation.captures().remove(stream.capture);
      stream.capture.end();
    }
    stream.context().destroy(stream);
    stream.context().requireWhole();
  }

  void cuLaunchHostFunc(MemorySegment hStream, MemorySegment function, MemorySegment argument) {
    Stream stream = simulation.stream(hStream);
    Native.require(function, "fn");
    simulation.submit(stream, new Work.HostFunction(function, argument));
  }
}
