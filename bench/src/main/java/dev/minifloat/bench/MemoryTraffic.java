package dev.minifloat.bench;

import dev.minifloat.bench.peers.Crew;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The limit that takes its turn among the contestants: as many bytes as a workload moves, only read
 * from memory, or only copied in it. Memory is shared with other programs and other machines, so
 * its speed of a minute ago says little.
 *
 * <p>Each run goes on where the one before ended, in a memory larger than any cache.
 */
final class MemoryTraffic implements AutoCloseable {
  private static final String LOOP = "DRAM";

  private static final String STREAMS = "DRAM, several streams";

  private static final String LIBRARY = "DRAM, by the JDK's copy";

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

  /** Whether a name among the measurements is that of such a limit. */
  static boolean isName(String contestant) {
    return contestant.equals(LOOP) || contestant.equals(STREAMS) || contestant.equals(LIBRARY);
  }

  /** Seconds of the fastest way to move the bytes of a workload, if that was measured. */
  static OptionalDouble seconds(Workload workload, Measurements measured) {
    return measured.of(workload).entrySet().stream()
        .filter(entry -> isName(entry.getKey()))
        .mapToDouble(Map.Entry::getValue)
        .min();
  }

  /** Ways to move the bytes of a workload that memory limits; none for other workloads. */
  List<Contestant> prepare(Workload workload) {
    boolean reads = workload instanceof Workload.Gemv gemv && gemv.fromMemory();
    boolean copies =
        workload instanceof Workload.Quantize
            || workload instanceof Workload.Dequantize
            || workload instanceof Workload.Convert;
    if (!reads && !copies) {
      return List.of();
    }
    if (memory == null) {
      memory = arena.allocate(bytes, 64);
      // Pages that were never written are all the same page of zeros.
      memory.fill((byte) 1);
    }
    if (reads) {
      return List.of(
          new Read(LOOP, workload.threads(), workload.bytes(), LimitLoops::load),
          new Read(STREAMS, workload.threads(), workload.bytes(), LimitLoops::loadStreams));
    }
    double half = workload.work() / 2;
    return List.of(
        new Copy(LOOP, workload.threads(), half, MemoryTraffic::copyInChunks),
        new Copy(
            LIBRARY,
            workload.threads(),
            half,
            // The more it is given at once, the faster it is.
            (source, target, from, bytes) ->
                MemorySegment.copy(source, from, target, from, bytes)));
  }

  @Override
  public void close() {
    arena.close();
  }

  private static void copyInChunks(
      MemorySegment source, MemorySegment target, long from, long bytes) {
    for (long at = from; at < from + bytes; at += CHUNK) {
      LimitLoops.copy(source, target, at, CHUNK);
    }
  }

  /** Copies a range of whole chunks. */
  private interface Copier {
    void copy(MemorySegment source, MemorySegment target, long from, long bytes);
  }

  private abstract static class Stream implements Contestant {
    private final String name;
    final Crew crew;
    final int chunks;
    final int all;
    int next;

    Stream(String name, int threads, double bytes, long memory) {
      this.name = name;
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
      return name;
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
    private final LimitMeter.Reader reader;

    Read(String name, int threads, double bytes, LimitMeter.Reader reader) {
      super(name, threads, bytes, memory.byteSize());
      this.reader = reader;
    }

    @Override
    public void run() {
      crew.split(
          chunks,
          (begin, end) -> {
            int seen = 0;
            for (int chunk = begin; chunk < end; chunk++) {
              seen |= reader.load(memory, at(chunk), CHUNK);
            }
            sink.addAndGet(seen);
          });
      finish();
    }
  }

  private final class Copy extends Stream {
    private final MemorySegment source = memory.asSlice(0, memory.byteSize() / 2);
    private final MemorySegment target = memory.asSlice(memory.byteSize() / 2);

    private final Copier copier;

    Copy(String name, int threads, double bytes, Copier copier) {
      super(name, threads, bytes, memory.byteSize() / 2);
      this.copier = copier;
    }

    @Override
    public void run() {
      crew.split(
          chunks,
          (begin, end) -> {
            int first = begin;
            while (first < end) {
              // Up to where memory begins anew.
              int count = Math.min(end - first, all - (next + first) % all);
              copier.copy(source, target, at(first), (long) count * CHUNK);
              first += count;
            }
          });
      finish();
    }
  }
}
