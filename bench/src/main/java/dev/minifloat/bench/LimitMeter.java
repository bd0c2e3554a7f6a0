package dev.minifloat.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Measures {@link Limits}: the best of several rounds, in native memory aligned to 64 bytes.
 *
 * <p>Caches are read in a buffer of half their size. Memory is read and copied in at least 1 GiB
 * and three times the last cache: a machine that rents out a part of its cores may show one the
 * whole cache that the others use as well, so less would say little.
 */
final class LimitMeter {
  private static final Path CACHES = Path.of("/sys/devices/system/cpu/cpu0/cache");
  private static final int ROUNDS = 7;
  private static final int PROBE_TURNS = 200_000;

  /** One call of a loop covers no more, so that offsets are ints. */
  static final int CHUNK = 1 << 20;

  private final int threads;
  private final long l1;
  private final long l2;
  private final long l3;
  private final long dram;

  /** Keeps the loops from being left out. */
  private final AtomicInteger sink = new AtomicInteger();

  LimitMeter(int threads) {
    this(threads, Math.max(1L << 30, ceil(3 * cache(3, 0), 1L << 26)));
  }

  /**
   * Makes a meter.
   *
   * @param dram bytes of the memory that is read and copied
   */
  LimitMeter(int threads, long dram) {
    this.threads = threads;
    this.l1 = cache(1, 32 << 10);
    this.l2 = cache(2, 1 << 20);
    this.l3 = cache(3, 0);
    this.dram = dram;
  }

  private static long ceil(long value, long unit) {
    return (value + unit - 1) / unit * unit;
  }

  /** Bytes of a core's data or unified cache of a level, or what is typical. */
  private static long cache(int level, long otherwise) {
    try (var folders = Files.newDirectoryStream(CACHES, "index*")) {
      for (Path folder : folders) {
        if (read(folder, "level").equals(Integer.toString(level))
            && !read(folder, "type").equals("Instruction")) {
          return bytes(read(folder, "size"));
        }
      }
    } catch (IOException e) {
      // Not Linux, or a sandbox that hides it.
      return otherwise;
    }
    return otherwise;
  }

  private static String read(Path folder, String file) throws IOException {
    return Files.readString(folder.resolve(file)).strip();
  }

  private static long bytes(String size) {
    String digits = size.replaceAll("[^0-9]", "");
    long value = Long.parseLong(digits);
    return switch (size.substring(digits.length()).toUpperCase(Locale.ROOT)) {
      case "K" -> value << 10;
      case "M" -> value << 20;
      default -> value;
    };
  }

  /** Reads a part of memory. */
  interface Reader {
    /** Something that depends on all of it. */
    int load(MemorySegment memory, long from, int bytes);
  }

  /** Bytes of memory that are larger than any cache. */
  long dram() {
    return dram;
  }

  /** Measures everything; takes a few seconds. */
  Limits measure() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(dram, 64);
      // Pages that were never written are all the same page of zeros.
      memory.fill((byte) 1);
      Limits.Rates one = rates(1, memory);
      return new Limits(
          threads, one, threads == 1 ? one : rates(threads, memory), l1, l2, l3, dram);
    }
  }

  private Limits.Rates rates(int number, MemorySegment memory) {
    return new Limits.Rates(
        fma(number),
        cacheLoads(number, memory, l1 / 2),
        cacheLoads(number, memory, l2 / 2),
        l3 == 0 ? 0 : cacheLoads(number, memory, Math.max(2 * l2, Math.min(l3 / 16, 16 << 20))),
        dramRead(number, memory),
        dramCopy(number, memory));
  }

  /** The multiply-add rate of one thread in a few milliseconds; falls where the clock falls. */
  double probe() {
    double best = 0;
    for (int i = 0; i < 3; i++) {
      double nanos =
          Stopwatch.nanos(() -> sink.addAndGet((int) LimitLoops.multiplyAdds(PROBE_TURNS)));
      best = Math.max(best, LimitLoops.operations(PROBE_TURNS) / nanos);
    }
    return best;
  }

  private double fma(int number) {
    int turns = 2_000_000;
    return best(
        number,
        LimitLoops.operations(turns),
        _ -> sink.addAndGet((int) LimitLoops.multiplyAdds(turns)));
  }

  private double cacheLoads(int number, MemorySegment memory, long bytes) {
    long step = LimitLoops.LOADS * LimitLoops.BYTES;
    long share = Math.min(bytes, memory.byteSize() / number);
    int size = (int) Math.min(share / step * step, CHUNK);
    long parts = Math.max(1, share / size);
    long times = Math.max(1, (256L << 20) / (parts * size));
    long region = ceil(parts * size, 1 << 12);
    return best(
        number,
        (double) times * parts * size,
        thread -> {
          int seen = 0;
          for (long t = 0; t < times; t++) {
            for (long part = 0; part < parts; part++) {
              seen |= LimitLoops.load(memory, thread * region + part * size, size);
            }
          }
          sink.addAndGet(seen);
        });
  }

  /** The faster of one stream a thread and of several. */
  private double dramRead(int number, MemorySegment memory) {
    return Math.max(
        dramRead(number, memory, LimitLoops::load),
        dramRead(number, memory, LimitLoops::loadStreams));
  }

  private double dramRead(int number, MemorySegment memory, Reader reader) {
    long share = memory.byteSize() / number / CHUNK * CHUNK;
    return best(
        number,
        (double) share,
        thread -> {
          int seen = 0;
          for (long at = thread * share; at < (thread + 1) * share; at += CHUNK) {
            seen |= reader.load(memory, at, CHUNK);
          }
          sink.addAndGet(seen);
        });
  }

  /** The faster of a loop of vectors and of the JDK's own copy. */
  private double dramCopy(int number, MemorySegment memory) {
    long half = memory.byteSize() / 2;
    MemorySegment source = memory.asSlice(0, half);
    MemorySegment target = memory.asSlice(half, half);
    long share = half / number / CHUNK * CHUNK;
    double loop =
        best(
            number,
            2.0 * share,
            thread -> {
              for (long at = thread * share; at < (thread + 1) * share; at += CHUNK) {
                LimitLoops.copy(source, target, at, CHUNK);
              }
            });
    double library =
        best(
            number,
            2.0 * share,
            thread -> MemorySegment.copy(source, thread * share, target, thread * share, share));
    return Math.max(loop, library);
  }

  /** The best rate of several rounds: work of all threads through the time until the last ends. */
  private double best(int number, double work, IntConsumer body) {
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
      best = Math.max(best, number * work / nanos(number, body));
    }
    return best;
  }

  private static long nanos(int number, IntConsumer body) {
    if (number == 1) {
      // As contestants of one thread are timed.
      return Stopwatch.nanos(() -> body.accept(0));
    }
    long[] starts = new long[number];
    long[] ends = new long[number];
    CyclicBarrier barrier = new CyclicBarrier(number);
    List<FutureTask<Void>> all = new ArrayList<>();
    for (int t = 0; t < number; t++) {
      int thread = t;
      FutureTask<Void> task =
          new FutureTask<>(
              () -> {
                await(barrier);
                starts[thread] = System.nanoTime();
                body.accept(thread);
                ends[thread] = System.nanoTime();
              },
              null);
      Thread.ofPlatform().start(task);
      all.add(task);
    }
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int t = 0; t < number; t++) {
      join(all.get(t));
      first = Math.min(first, starts[t]);
      last = Math.max(last, ends[t]);
    }
    return last - first;
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException("waiting for the other threads", e);
    }
  }

  private static void join(FutureTask<Void> task) {
    try {
      task.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("waiting for the other threads", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("one of the threads failed", e.getCause());
    }
  }
}
