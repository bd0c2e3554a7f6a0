package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;

/** Capturing streams. */
final class CaptureApi {
  private static final int NONE = 0;
  private static final int ACTIVE = 1;
  private static final int INVALIDATED = 2;

  private final Simulation simulation;

  CaptureApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuStreamBeginCapture(MemorySegment hStream, int mode) {
    Stream stream = simulation.stream(hStream);
    requireMode(mode);
    if (stream.role() == Stream.Role.LEGACY) {
      throw CuResult.STREAM_CAPTURE_UNSUPPORTED.because("the default stream can't be captured");
    }
    if (stream.capture != null) {
      throw CuResult.ILLEGAL_STATE.because("the stream is being captured already");
    }
    Graph graph = new Graph();
    simulation.captures().add(new Capture(stream, graph, mode, simulation.threads().current()));
  }

  private static void requireMode(int mode) {
    if (mode < Capture.GLOBAL || mode > Capture.RELAXED) {
      throw CuResult.INVALID_VALUE.because("capture mode " + mode);
    }
  }

  void cuThreadExchangeStreamCaptureMode(MemorySegment inOut) {
    int wanted = Native.getInt(inOut, 0, "mode");
    requireMode(wanted);
    Threads.State thread = simulation.threads().current();
    Native.putInt(inOut, thread.captureMode, "mode");
    thread.captureMode = wanted;
  }

  void cuStreamEndCapture(MemorySegment hStream, MemorySegment out) {
    Stream stream = simulation.stream(hStream);
    Native.putLong(out, 0, "phGraph");
    Capture capture = stream.capture;
    if (capture == null) {
      throw CuResult.ILLEGAL_STATE.because("the stream isn't being captured");
    }
    if (capture.origin() != stream) {
      capture.invalidate();
      throw CuResult.STREAM_CAPTURE_UNMATCHED.because("the capture began in another stream");
    }
    if (capture.mode() != Capture.RELAXED && capture.thread() != simulation.threads().current()) {
      throw CuResult.STREAM_CAPTURE_WRONG_THREAD.because("the capture began on another thread");
    }
    simulation.captures().remove(capture);
    capture.end();
    if (capture.isInvalid() || !capture.isJoined()) {
      capture.graph().destroy(simulation.handles());
      throw capture.isInvalid()
          ? CuResult.STREAM_CAPTURE_INVALIDATED.because("a call during the capture wasn't allowed")
          : CuResult.STREAM_CAPTURE_UNJOINED.because("a stream that took part was not waited for");
    }
    Native.putHandle(out, simulation.handles().add(capture.graph()), "phGraph");
  }

  void cuStreamIsCapturing(MemorySegment hStream, MemorySegment out) {
    Stream stream = simulation.stream(hStream);
    Native.require(out, "captureStatus");
    simulation.requireNoImplicitCapture(stream);
    Capture capture = stream.capture;
    int status = capture == null ? NONE : capture.isInvalid() ? INVALIDATED : ACTIVE;
    Native.putInt(out, status, "captureStatus");
  }
}
