package dev.minifloat.bench;

import dev.minifloat.bench.peers.Crew;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The limit that takes its turn among the contestants: as many bytes as a workload moves, only read
 * from memory, or only copied in it. Memory is shared with other programs and other machines, so
 * its speed of a minute ago says little.
 *
 * <p>Each run goes on where the one before ended, in a memory larger than any cache.
 */
final class MemoryTraffic implements AutoCloseable {
  /** What the measurements call it. */
  static final String NAME = "DRAM";

  private static final int CHUNK = LimitMeter.CHUNK;

  private final long bytes;
  private final Arena arena = Arena.ofShared();

  /** Keeps the loads from being left out. */
  private final AtomicInteger sink = new AtomicInteger();

  private MemorySegment memory;

  /**
   * Allocates nothing yet.
   *
   * @param bytes size of the memory
   */
  MemoryTraffic(long bytes) {
    this.bytes = bytes / 2 / CHUNK * 2 * CHUNK;
  }

  /** Who moves the bytes of a workload that memory limits; empty for other workloads. */
  Optional<Contestant> prepare(Workload workload) {
    boolean reads = workload instanceof Workload.Gemv gemv && gemv.fromMemory();
    boolean copies =
        workload instanceof Workload.Quantize
            || workload instanceof Workload.Dequantize
            || workload instanceof Workload.Convert;
    if (!reads && !copies) {
      return Optional.empty();
    }
    if (memory == null) {
      memory = arena.allocate(bytes, 64);
      // Pages that were never written are all the same page of zeros.
      memory.fill((byte) 1);
    }
    return Optional.of(
        copies
            ? new Copy(workload.threads(), workload.work() / 2)
            : new Read(workload.threads(), workload.bytes()));
  }

  @Override
  public void close() {
    arena.close();
  }

  private abstract static class Stream implements Contestant {
    final Crew crew;
    final int chunks;
    final int all;
    int next;

    Stream(int threads, double bytes, long memory) {
      crew = new Crew(threads);
      chunks = (int) Math.max(threads, Math.round(bytes / CHUNK));
      all = (int) (memory / CHUNK);
    }

    /** Where in memory a chunk of this run begins. */
    final long at(int chunk) {
      return (next + chunk) % all * (long) CHUNK;
    }

    final void finish() {
      next = (next + chunks) % all;
    }

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public float[] result() {
      throw new UnsupportedOperationException("a limit computes nothing");
    }

    @Override
    public void close() {
      crew.close();
    }
  }

  private final class Read extends Stream {
    Read(int threads, double bytes) {
      super(threads, bytes, memory.byteSize());
    }

    @Override
    public void run() {
      crew.split(
          chunks,
          (begin, end) -> {
            int seen = 0;
            for (int chunk = begin; chunk < end; chunk++) {
              seen |= LimitLoops.load(memory, at(chunk), CHUNK);
            }
            sink.addAndGet(seen);
          });
      finish();
    }
  }

  private final class Copy extends Stream {
    private final MemorySegment source = memory.asSlice(0, memory.byteSize() / 2);
    private final MemorySegment target = memory.asSlice(memory.byteSize() / 2);

    Copy(int threads, double bytes) {
      super(threads, bytes, memory.byteSize() / 2);
    }

    @Override
    public void run() {
      crew.split(
          chunks,
          (begin, end) -> {
            for (int chunk = begin; chunk < end; chunk++) {
              MemorySegment.copy(source, at(chunk), target, at(chunk), CHUNK);
            }
          });
      finish();
    }
  }
}
