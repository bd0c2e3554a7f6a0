package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.CUgraphExecUpdateResultInfo_st;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures and graphs. */
class GraphCallsTest {
  private static final int GLOBAL = 0;
  private static final int RELAXED = 2;

  /** A graph that fills two integers, one through a second stream. */
  private static long captured(Client client, long data, int value) {
    long stream = client.stream(1);
    long side = client.stream(1);
    long fork = client.event();
    long join = client.event();
    client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
    client.ok(cuEventRecord, fork, stream);
    client.ok(cuStreamWaitEvent, side, fork, 0);
    client.ok(cuMemsetD32Async, data, value, 1L, stream);
    client.ok(cuMemsetD32Async, data + 4, value + 1, 1L, side);
    client.ok(cuEventRecord, join, side);
    client.ok(cuStreamWaitEvent, stream, join, 0);
    MemorySegment out = client.slot();
    client.ok(cuStreamEndCapture, stream, out);
    client.ok(cuStreamDestroy_v2, stream);
    client.ok(cuStreamDestroy_v2, side);
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void capturedWorkRunsWhenItsGraphDoes() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = client.upload(client.ints(0, 0));
      client.ok(cuCtxSynchronize);
      long graph = captured(client, data, 5);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {0, 0}, client.peek(data, 2));
      long exec = client.get(cuGraphInstantiateWithFlags, graph, 0L);
      client.ok(cuGraphDestroy, graph);
      long stream = client.stream(1);
      client.ok(cuGraphUpload, exec, stream);
      client.ok(cuGraphLaunch, exec, stream);
      assertArrayEquals(new int[] {0, 0}, client.peek(data, 2));
      client.ok(cuStreamSynchronize, stream);
      assertArrayEquals(new int[] {5, 6}, client.peek(data, 2));
      client.ok(cuMemsetD32_v2, data, 0, 2L);
      client.ok(cuCtxSynchronize);
      client.ok(cuGraphLaunch, exec, stream);
      client.ok(cuStreamSynchronize, stream);
      assertArrayEquals(new int[] {5, 6}, client.peek(data, 2));
      client.ok(cuGraphExecDestroy, exec);
      client.fails(CuResult.INVALID_VALUE, cuGraphLaunch, exec, stream);
    }
  }

  @Test
  void graphsAreUpdated() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = client.upload(client.ints(0, 0));
      long exec = client.get(cuGraphInstantiateWithFlags, captured(client, data, 5), 0L);
      MemorySegment info = client.arena.allocate(CUgraphExecUpdateResultInfo_st.layout());
      client.ok(cuGraphExecUpdate_v2, exec, captured(client, data, 8), info);
      assertEquals(0, CUgraphExecUpdateResultInfo_st.result(info));
      client.ok(cuGraphLaunch, exec, 0L);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {8, 9}, client.peek(data, 2));
      long empty = client.get(cuGraphCreate, 0);
      client.fails(CuResult.GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2, exec, empty, info);
      assertEquals(2, CUgraphExecUpdateResultInfo_st.result(info));
    }
  }

  @Test
  void nodesAreCountedAndDrawn(@TempDir Path folder) throws IOException {
    try (Client client = Client.ready("sim:sm_80")) {
      long graph = captured(client, client.alloc(8), 1);
      MemorySegment count = client.slot();
      client.ok(cuGraphGetNodes, graph, 0L, count);
      assertEquals(2, count.get(ValueLayout.JAVA_LONG, 0));
      MemorySegment nodes = client.arena.allocate(24, 8);
      count.set(ValueLayout.JAVA_LONG, 0, 3);
      client.ok(cuGraphGetNodes, graph, nodes, count);
      assertEquals(2, count.get(ValueLayout.JAVA_LONG, 0));
      assertTrue(nodes.getAtIndex(ValueLayout.JAVA_LONG, 1) != 0);
      assertEquals(0, nodes.getAtIndex(ValueLayout.JAVA_LONG, 2));
      Path file = folder.resolve("graph.dot");
      client.ok(cuGraphDebugDotPrint, graph, client.arena.allocateFrom(file.toString()), 0);
      assertTrue(Files.readString(file).contains("fill of"));
      Path nowhere = folder.resolve("no/such/folder");
      client.fails(
          CuResult.OPERATING_SYSTEM,
          cuGraphDebugDotPrint,
          graph,
          client.arena.allocateFrom(nowhere.toString()),
          0);
    }
  }

  @Test
  void waitingEndsACaptureBadly() {
    try (Client client = Client.ready("sim:sm_80")) {
      long stream = client.stream(1);
      MemorySegment out = client.slot();
      client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
      client.ok(cuStreamIsCapturing, stream, out);
      assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
      client.fails(CuResult.STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize, stream);
      client.ok(cuStreamIsCapturing, stream, out);
      assertEquals(2, out.get(ValueLayout.JAVA_INT, 0));
      client.fails(CuResult.STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, out);
      client.fails(CuResult.ILLEGAL_STATE, cuStreamEndCapture, stream, out);
      client.ok(cuStreamSynchronize, stream);
    }
  }

  @Test
  void allocationsDisturbACaptureUnlessItIsRelaxed() {
    try (Client client = Client.ready("sim:sm_80")) {
      long stream = client.stream(1);
      MemorySegment out = client.slot();
      client.ok(cuStreamBeginCapture_v2, stream, GLOBAL);
      client.fails(CuResult.STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2, out, 4L);
      client.fails(CuResult.STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, out);
      MemorySegment mode = client.ints(RELAXED);
      client.ok(cuThreadExchangeStreamCaptureMode, mode);
      assertEquals(GLOBAL, mode.get(ValueLayout.JAVA_INT, 0));
      client.ok(cuStreamBeginCapture_v2, stream, GLOBAL);
      client.ok(cuMemAlloc_v2, out, 4L);
      client.ok(cuStreamEndCapture, stream, out);
    }
  }

  @Test
  void theDefaultStreamStaysOutOfCaptures() {
    try (Client client = Client.ready("sim:sm_80")) {
      MemorySegment out = client.slot();
      client.fails(CuResult.STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2, 0L, RELAXED);
      long data = client.alloc(4);
      long stream = client.stream(0);
      client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
      client.fails(CuResult.STREAM_CAPTURE_IMPLICIT, cuMemsetD32_v2, data, 1, 1L);
      client.fails(CuResult.STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, out);
    }
  }

  @Test
  void forkedStreamsMustJoin() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = client.alloc(4);
      long stream = client.stream(1);
      long side = client.stream(1);
      long event = client.event();
      MemorySegment out = client.slot();
      client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
      client.ok(cuEventRecord, event, stream);
      client.fails(CuResult.CAPTURED_EVENT, cuEventSynchronize, event);
      client.fails(CuResult.STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, out);
      client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
      client.ok(cuEventRecord, event, stream);
      client.ok(cuStreamWaitEvent, side, event, 0);
      client.ok(cuMemsetD32Async, data, 1, 1L, side);
      client.fails(CuResult.STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture, side, out);
      client.fails(CuResult.STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, out);
      client.ok(cuStreamBeginCapture_v2, stream, RELAXED);
      client.ok(cuEventRecord, event, stream);
      client.ok(cuStreamWaitEvent, side, event, 0);
      client.ok(cuMemsetD32Async, data, 1, 1L, side);
      client.fails(CuResult.STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, stream, out);
    }
  }
}
