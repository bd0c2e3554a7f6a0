package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The 13 conversions over all 2^32 inputs, in 256 chunks of the inputs whose top byte is the same:
 * chunks are hashed in parallel, and one that differs is searched for its first wrong result.
 */
final class GoldenExhaustive {
  /** Chunks of a conversion. */
  static final int CHUNKS = 256;

  private static final int CHUNK_BITS = 24;

  private final ConversionEngine engine;
  private final GoldenConversions.Progress progress;
  private final int total;
  private final AtomicInteger done = new AtomicInteger();

  GoldenExhaustive(
      ConversionEngine engine, List<GoldenConversion> conversions, GoldenConversions.Progress p) {
    this.engine = engine;
    this.progress = p;
    this.total = conversions.size() * CHUNKS;
  }

  List<GoldenResult> run(List<GoldenConversion> conversions, int threads)
      throws InterruptedException {
    Map<GoldenConversion, List<Future<Long>>> running = new EnumMap<>(GoldenConversion.class);
    List<GoldenResult> results = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (GoldenConversion conversion : conversions) {
        List<Future<Long>> chunks = new ArrayList<>();
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
          int top = chunk;
          chunks.add(pool.submit(() -> hash(conversion, top)));
        }
        running.put(conversion, chunks);
      }
      Map<String, long[]> recorded = GoldenData.chunks();
      for (GoldenConversion conversion : conversions) {
        long[] expected = recorded.get(conversion.recordedName());
        results.add(result(conversion, expected, running.get(conversion)));
      }
    } finally {
      pool.shutdownNow();
      pool.close();
    }
    return results;
  }

  private long hash(GoldenConversion conversion, int chunk) {
    Fnv hash = new Fnv();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment inputs = arena.allocate(4L * GoldenConversions.BATCH, 64);
      for (int from = 0; from < 1 << CHUNK_BITS; from += GoldenConversions.BATCH) {
        fill(inputs, chunk, from);
        GoldenConversions.addTo(hash, engine, conversion, inputs, GoldenConversions.BATCH);
      }
    }
    progress.chunk(done.incrementAndGet(), total);
    return hash.value();
  }

  private static void fill(MemorySegment inputs, int chunk, int from) {
    int first = chunk << CHUNK_BITS | from;
    for (int i = 0; i < GoldenConversions.BATCH; i++) {
      inputs.set(PackedElements.INT, 4L * i, first + i);
    }
  }

  /** The whole result: the hashes of the chunks, hashed in their turn. */
  private GoldenResult result(
      GoldenConversion conversion, long[] expected, List<Future<Long>> chunks)
      throws InterruptedException {
    Fnv want = new Fnv();
    Fnv got = new Fnv();
    String detail = "";
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      long hash = value(chunks.get(chunk));
      if (hash != expected[chunk] && detail.isEmpty()) {
        detail = located(conversion, chunk);
      }
      add(want, expected[chunk]);
      add(got, hash);
    }
    return new GoldenResult(conversion.recordedName(), want.value(), got.value(), detail);
  }

  /** One chunk by itself. */
  GoldenResult chunk(GoldenConversion conversion, int chunk) {
    long expected = GoldenData.chunks().get(conversion.recordedName())[chunk];
    long actual = hash(conversion, chunk);
    return new GoldenResult(
        "%s %02x".formatted(conversion.recordedName(), chunk),
        expected,
        actual,
        actual == expected ? "" : located(conversion, chunk));
  }

  private String located(GoldenConversion conversion, int chunk) {
    return "inputs %02x…… differ: %s".formatted(chunk, locate(conversion, chunk));
  }

  private static long value(Future<Long> chunk) throws InterruptedException {
    try {
      return chunk.get();
    } catch (ExecutionException e) {
      throw new ContractViolation("A conversion threw " + e.getCause(), e.getCause());
    }
  }

  private static void add(Fnv hash, long value) {
    hash.add((int) value, 32);
    hash.add((int) (value >>> 32), 32);
  }

  /** The first input of a chunk whose result is not the codec's. */
  private String locate(GoldenConversion conversion, int chunk) {
    DType target = conversion.target();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment inputs = arena.allocate(4L * GoldenConversions.BATCH, 64);
      HostTensor source = HostTensor.wrap(DType.F32, Shape.of(GoldenConversions.BATCH), inputs);
      for (int from = 0; from < 1 << CHUNK_BITS; from += GoldenConversions.BATCH) {
        fill(inputs, chunk, from);
        try (Arena batch = Arena.ofShared()) {
          HostTensor results =
              engine.convert(source, target, conversion.rounding(), conversion.overflow(), batch);
          for (int i = 0; i < GoldenConversions.BATCH; i++) {
            int bits = source.code(i);
            int want = conversion.canonical(encode(conversion, bits));
            int got = conversion.canonical(results.code(i));
            if (want != got) {
              return "the first is %08x (%s), which gives %x and not %x"
                  .formatted(bits, Float.intBitsToFloat(bits), got, want);
            }
          }
        }
      }
    }
    return "every result is the codec's, so that the codec is wrong too";
  }

  private static int encode(GoldenConversion conversion, int bits) {
    double value = Codec.decodeDouble(DType.F32, bits);
    return Codec.encode(
        conversion.target(), value, conversion.rounding(), conversion.overflow(), 0);
  }
}
