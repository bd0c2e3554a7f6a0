package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.kernels.KernelParameter;
import dev.minifloat.kernels.ParameterType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Work in streams: copies, fills, kernels, events, graphs. */
class StreamTest {
  private Simulated sim;
  private PrimaryContext context;
  private Stream stream;
  private DeviceAllocator allocator;

  @BeforeEach
  void open() {
    sim = Simulated.of("sim:sm_80");
    context = sim.context();
    stream = Stream.create(context);
    allocator = new DeviceAllocator(stream);
  }

  @AfterEach
  void close() {
    allocator.close();
    stream.close();
    context.close();
    sim.close();
  }

  private float[] download(DeviceMemory memory) {
    float[] target = new float[(int) (memory.byteSize() / Float.BYTES)];
    try (Transfers transfers = new Transfers(stream)) {
      transfers.download(memory, 0, MemorySegment.ofArray(target));
    }
    return target;
  }

  private void fillFloats(DeviceMemory memory, float value) {
    stream.fillWords(memory, 0, memory.byteSize() / Float.BYTES, Float.floatToRawIntBits(value));
  }

  @Test
  void kernelsRunInOrderWithTheirArguments() {
    try (PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        Arena arena = Arena.ofConfined();
        DeviceMemory x = allocator.allocate(70 * 4)) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      fillFloats(x, 3);
      stream.launch(kernel, TestKernels.scale(arena, x, 2, 1));
      stream.launch(kernel, TestKernels.scale(arena, x, 10, -0.5f));
      float[] expected = new float[70];
      java.util.Arrays.fill(expected, 69.5f);
      assertArrayEquals(expected, download(x));
    }
  }

  @Test
  void argumentsMayChangeOnceTheLaunchIsMade() {
    try (PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        DeviceMemory x = allocator.allocate(4)) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      fillFloats(x, 1);
      try (Arena arena = Arena.ofConfined()) {
        Launch launch = TestKernels.scale(arena, x, 5, 0);
        stream.launch(kernel, launch);
        launch.arguments().pointers().fill((byte) 0);
      }
      assertArrayEquals(new float[] {5}, download(x));
    }
  }

  @Test
  void copiesAndFillsKeepToTheirRanges() {
    try (DeviceMemory a = allocator.allocate(16);
        DeviceMemory b = allocator.allocate(12);
        PinnedMemory pinned = PinnedMemory.allocate(context, 16)) {
      MemorySegment host = pinned.segment();
      stream.fill(a, 0, 16, (byte) 1);
      stream.fill(a, 4, 8, (byte) 2);
      stream.fillWords(b, 0, 3, 0x07070707);
      stream.copy(a, 4, b, 8, 4);
      stream.copyToHost(b, 0, host.asSlice(0, 12));
      stream.synchronize();
      assertEquals(0x07070707, host.get(ValueLayout.JAVA_INT, 4));
      assertEquals(0x02020202, host.get(ValueLayout.JAVA_INT, 8));
      host.set(ValueLayout.JAVA_INT, 0, 0x0B0B0B0B);
      stream.copyToDevice(host.asSlice(0, 4), a, 12);
      stream.copyToHost(a, 0, host);
      stream.synchronize();
      assertArrayEquals(
          new int[] {0x01010101, 0x02020202, 0x02020202, 0x0B0B0B0B},
          host.toArray(ValueLayout.JAVA_INT));
      stream.fill(a, 16, 0, (byte) 0);
      stream.fillWords(a, 16, 0, 0);
      stream.copy(a, 0, b, 0, 0);
      assertThrows(IllegalArgumentException.class, () -> stream.fill(a, 10, 7, (byte) 0));
      assertThrows(IllegalArgumentException.class, () -> stream.fill(a, -1, 1, (byte) 0));
      assertThrows(IllegalArgumentException.class, () -> stream.fillWords(b, 0, 4, 0));
      assertThrows(IllegalArgumentException.class, () -> stream.copy(a, 0, b, 0, 13));
      assertThrows(IllegalArgumentException.class, () -> stream.copy(a, 5, b, 0, 12));
      assertThrows(IllegalArgumentException.class, () -> stream.copyToHost(b, 0, host));
      assertThrows(IllegalArgumentException.class, () -> stream.copyToDevice(host, b, 0));
      assertThrows(
          IllegalArgumentException.class, () -> stream.fill(a, Long.MAX_VALUE, 8, (byte) 0));
    }
  }

  @Test
  void nothingIsWaitedForUntoldly() {
    try (DeviceMemory memory = allocator.allocate(1 << 16)) {
      stream.fill(memory, 0, 1 << 16, (byte) 3);
      assertTrue(sim.simulator().pendingWork() > 0);
      assertFalse(stream.isIdle());
      stream.synchronize();
      assertTrue(stream.isIdle());
      assertEquals(0, sim.simulator().pendingWork());
    }
  }

  @Test
  void eventsOrderStreamsAndMeasureTimes() {
    try (Stream other = Stream.create(context);
        Event start = Event.timed(context);
        Event done = Event.timed(context);
        Event untimed = Event.untimed(context);
        PinnedMemory pinned = PinnedMemory.allocate(context, 4);
        DeviceMemory memory = allocator.allocate(4)) {
      assertTrue(start.isDone(), "never recorded");
      start.synchronize();
      stream.record(start);
      stream.fillWords(memory, 0, 1, 42);
      stream.record(done);
      other.waitFor(done);
      other.copyToHost(memory, 0, pinned.segment());
      assertFalse(done.isDone());
      other.synchronize();
      assertEquals(42, pinned.segment().get(ValueLayout.JAVA_INT, 0));
      assertTrue(done.isDone());
      assertTrue(done.millisecondsSince(start) >= 0);
      stream.record(untimed);
      untimed.synchronize();
      CudaException e = assertThrows(CudaException.class, () -> untimed.millisecondsSince(start));
      assertEquals("CUDA_ERROR_INVALID_HANDLE", e.resultName());
    }
  }

  @Test
  void graphsRunAgainAndAgain() {
    try (PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        DeviceMemory x = allocator.allocate(40 * 4)) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      Graph graph;
      try (Arena arena = Arena.ofConfined()) {
        graph =
            Graph.record(
                context,
                recording -> {
                  recording.launch(kernel, TestKernels.scale(arena, x, 2, 0));
                  recording.launch(kernel, TestKernels.scale(arena, x, 1, 1));
                });
      }
      try (graph) {
        fillFloats(x, 1);
        for (int i = 0; i < 5; i++) {
          stream.launch(graph);
        }
        float[] values = download(x);
        assertEquals(63, values[0]);
        assertEquals(63, values[39]);
      }
      assertThrows(IllegalStateException.class, () -> stream.launch(graph));
    }
  }

  @Test
  void recordingsThatFailLeaveNothing() {
    IllegalStateException mine =
        assertThrows(
            IllegalStateException.class,
            () ->
                Graph.record(
                    context,
                    _ -> {
                      throw new IllegalStateException("mine");
                    }));
    assertEquals("mine", mine.getMessage());
    CudaException waited =
        assertThrows(CudaException.class, () -> Graph.record(context, Stream::synchronize));
    assertEquals("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", waited.resultName());
  }

  @Test
  void failuresNameTheLastKernels() {
    RecentWork recent = new RecentWork();
    CudaException failure = new CudaException("it failed", "cuStreamSynchronize", 700, "NAME");
    assertEquals(failure, recent.explain(failure));
    for (int i = 1; i <= 18; i++) {
      recent.add("k" + i);
    }
    String message = recent.explain(failure).getMessage();
    assertTrue(
        message.startsWith(
            "it failed; since the last wait the stream was given 2 others, k3, k4, "),
        message);
    assertTrue(message.endsWith(", k18"), message);
    recent.clear();
    assertEquals(failure, recent.explain(failure));
  }

  @Test
  void launchesAreOfTheKernelTheyWereMadeFor() {
    try (PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        Arena arena = Arena.ofConfined()) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      assertThrows(
          IllegalArgumentException.class, () -> stream.launch(kernel, TestKernels.stray(arena)));
    }
  }

  @Test
  void kernelsOfAnUnloadedModuleAreRefused() {
    PtxModule module = TestKernels.load(context, TestKernels.SCALE);
    Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
    module.close();
    try (Arena arena = Arena.ofConfined();
        DeviceMemory x = allocator.allocate(4)) {
      Launch launch = TestKernels.scale(arena, x, 1, 1);
      IllegalStateException e =
          assertThrows(IllegalStateException.class, () -> stream.launch(kernel, launch));
      assertEquals("the module is closed", e.getMessage());
    }
  }

  @Test
  void argumentsAreCheckedAgainstTheCatalog() {
    try (Arena arena = Arena.ofConfined()) {
      IllegalArgumentException type =
          assertThrows(
              IllegalArgumentException.class,
              () -> new Arguments(TestKernels.SCALE_ENTRY, arena).pointer(0).i64(1));
      assertEquals("n: parameter 1 of scale is I32, and I64 was given", type.getMessage());
      IllegalArgumentException few =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  Launch.of(
                      new Arguments(TestKernels.SCALE_ENTRY, arena).pointer(0).i32(1).f32(1),
                      1,
                      1,
                      1));
      assertEquals("b of scale was not given", few.getMessage());
      Arguments full =
          new Arguments(TestKernels.SCALE_ENTRY, arena).pointer(0).i32(1).f32(1).f32(2);
      IllegalArgumentException many =
          assertThrows(IllegalArgumentException.class, () -> full.i32(1));
      assertEquals("scale has 4 parameters, and one more was given", many.getMessage());
      assertThrows(IllegalArgumentException.class, () -> Launch.of(full, 0, 1, 1));
      assertThrows(IllegalArgumentException.class, () -> Launch.of(full, 1, 65_536, 1));
      assertThrows(IllegalArgumentException.class, () -> new Launch(full, 1, 1, 1, -1));
    }
  }

  @Test
  void structsLieAtTheirOffsets() {
    var entry =
        TestKernels.entry(
            "structs",
            0,
            new KernelParameter("count", ParameterType.I32, 0),
            new KernelParameter("grid", ParameterType.GRID, 8),
            new KernelParameter("last", ParameterType.I64, 56));
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments = new Arguments(entry, arena).i32(9);
      MemorySegment grid = arguments.struct(ParameterType.GRID);
      assertEquals(48, grid.byteSize());
      grid.setAtIndex(ValueLayout.JAVA_LONG, 5, 11);
      arguments.i64(12);
      MemorySegment pointers = arguments.pointers();
      assertEquals(3 * 8, pointers.byteSize());
      long first = pointers.getAtIndex(ValueLayout.JAVA_LONG, 0);
      assertEquals(first + 8, pointers.getAtIndex(ValueLayout.JAVA_LONG, 1));
      assertEquals(first + 56, pointers.getAtIndex(ValueLayout.JAVA_LONG, 2));
      MemorySegment values = MemorySegment.ofAddress(first).reinterpret(64);
      assertEquals(9, values.get(ValueLayout.JAVA_INT, 0));
      assertEquals(0, values.get(ValueLayout.JAVA_LONG, 8));
      assertEquals(11, values.get(ValueLayout.JAVA_LONG, 48));
      assertEquals(12, values.get(ValueLayout.JAVA_LONG, 56));
    }
  }
}
