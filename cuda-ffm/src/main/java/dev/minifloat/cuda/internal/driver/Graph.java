package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.function.Consumer;

/**
 * Work that is recorded once and run many times, at the cost of one call: addresses and sizes stay
 * what they were, so its memory must live as long as the graph is used.
 */
public final class Graph implements AutoCloseable {
  private final Handle handle;
  private final Cleaner.Cleanable cleanable;

  private Graph(Handle handle) {
    this.handle = handle;
    this.cleanable = handle.watch(this);
  }

  /**
   * Records what is given to a stream.
   *
   * @param work gives launches, copies and fills to the stream and waits for nothing; it can't
   *     allocate
   * @throws dev.minifloat.cuda.CudaException if it does something that can't be recorded
   */
  public static Graph record(PrimaryContext context, Consumer<Stream> work) {
    Graph graph = null;
    try (Stream stream = Stream.create(context);
        Recorded recorded = Recorded.of(stream, work)) {
      graph =
          new Graph(
              Handle.create(
                  context,
                  "graph",
                  DriverFunction.cuGraphExecDestroy,
                  DriverFunction.cuGraphInstantiateWithFlags,
                  recorded.graph(),
                  0L));
      return graph;
    } catch (RuntimeException e) {
      // Even the end of the recording may fail.
      if (graph != null) {
        Closing.because(e, graph);
      }
      throw e;
    }
  }

  /** What was recorded, before it is made ready to run. */
  private record Recorded(Handle graph) implements AutoCloseable {
    static Recorded of(Stream stream, Consumer<Stream> work) {
      PrimaryContext context = stream.context();
      // Relaxed: a capture of another mode belongs to a thread of the operating system, which a
      // virtual thread may change, and forbids calls that other threads make meanwhile.
      context.call(
          DriverFunction.cuStreamBeginCapture_v2,
          stream.handle(),
          Cuda.CU_STREAM_CAPTURE_MODE_RELAXED());
      try {
        work.accept(stream);
      } catch (RuntimeException | Error e) {
        discard(stream, e);
        throw e;
      }
      return new Recorded(end(stream));
    }

    private static Handle end(Stream stream) {
      return Handle.create(
          stream.context(),
          "recorded graph",
          Handle.Made.LAST,
          DriverFunction.cuGraphDestroy,
          DriverFunction.cuStreamEndCapture,
          stream.handle());
    }

    private static void discard(Stream stream, Throwable cause) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
        stream.context().result(DriverFunction.cuStreamEndCapture, stream.handle(), out);
        long made = out.get(ValueLayout.JAVA_LONG, 0);
        if (made != 0) {
          stream.context().call(DriverFunction.cuGraphDestroy, made);
        }
      } catch (RuntimeException e) {
        cause.addSuppressed(e);
      }
    }

    @Override
    public void close() {
      graph.close();
    }
  }

  Handle handle() {
    return handle;
  }

  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }
}
