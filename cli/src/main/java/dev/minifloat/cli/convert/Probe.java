package dev.minifloat.cli.convert;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Looks at tensors of any size, in pieces, on several threads. */
public final class Probe implements AutoCloseable {
  private static final long PIECE = 1 << 18;

  /** Chunks of whole blocks for every scaling that is tried. */
  private static final Scaling COARSEST = Scaling.block(128, 1);

  private final Backend backend;
  private final Arena arena = Arena.ofShared();
  private final Pipeline pipeline;
  private final BlockingQueue<ReusedMemory> memories;

  /** A probe that quantizes on a backend. */
  public Probe(Backend backend) {
    this.backend = backend;
    int threads = Runtime.getRuntime().availableProcessors();
    this.pipeline = new Pipeline(threads, threads + 2);
    this.memories = new ArrayBlockingQueue<>(threads + 2);
    for (int i = 0; i < threads + 2; i++) {
      memories.add(new ReusedMemory(arena));
    }
  }

  /**
   * Reads all values of a tensor.
   *
   * @param progress told how many elements have been read since it was told last
   */
  public BasicStats values(TensorInfo info, MemorySegment data, LongConsumer progress) {
    StorageType type = info.type();
    return values(i -> type.decode(data, i), info.shape().elements(), progress);
  }

  /**
   * Reads all values of a quantized tensor: elements times scales.
   *
   * @param progress told how many elements have been read since it was told last
   */
  public BasicStats values(HostTensor tensor, LongConsumer progress) {
    return values(tensor::get, tensor.shape().elements(), progress);
  }

  private BasicStats values(LongToDoubleFunction value, long elements, LongConsumer progress) {
    BasicStats all = new BasicStats();
    Stream<Callable<BasicStats>> tasks =
        LongStream.range(0, Math.ceilDiv(elements, PIECE))
            .mapToObj(
                piece ->
                    () -> {
                      BasicStats stats = new BasicStats();
                      long from = piece * PIECE;
                      stats.add(value, from, Math.min(elements, from + PIECE));
                      return stats;
                    });
    pipeline.run(
        tasks.iterator(),
        stats -> {
          all.add(stats);
          progress.accept(PIECE);
        });
    return all;
  }

  /**
   * Tries formats on a tensor of floats.
   *
   * @param amax the largest |x|, by bits: NaN if there is one
   * @param blocks whether to look for the worst block too
   */
  public List<FormatStats> formats(
      RowSource source, List<QuantSpec> specs, float amax, boolean blocks) {
    List<FormatStats> all = fresh(specs);
    MemorySegment row = amaxRow(source, amax);
    Stream<Callable<List<FormatStats>>> tasks =
        StreamSupport.stream(new Chunks(source.shape(), COARSEST).spliterator(), false)
            .map(chunk -> () -> chunk(source, specs, chunk, row, blocks));
    pipeline.run(
        tasks.iterator(),
        stats -> {
          for (int i = 0; i < all.size(); i++) {
            all.get(i).add(stats.get(i));
          }
        });
    return all;
  }

  private static List<FormatStats> fresh(List<QuantSpec> specs) {
    return new ArrayList<>(specs.stream().map(FormatStats::new).toList());
  }

  private MemorySegment amaxRow(RowSource source, float amax) {
    DType dtype = source.dtype();
    MemorySegment row = arena.allocate(source.columns() * source.elementSize(), 64);
    if (source.columns() > 0) {
      PackedElements.set(dtype, row, 0, Codec.encode(dtype, amax));
    }
    return row;
  }

  private List<FormatStats> chunk(
      RowSource source,
      List<QuantSpec> specs,
      Chunks.Chunk chunk,
      MemorySegment row,
      boolean blocks)
      throws InterruptedException {
    List<FormatStats> stats = fresh(specs);
    ReusedMemory memory = memories.take();
    try {
      for (int i = 0; i < specs.size(); i++) {
        memory.close();
        QuantSpec spec = specs.get(i);
        boolean wholeTensor =
            spec.scaling() instanceof Scaling.PerTensor || spec.scaling() instanceof Scaling.NvFp4;
        ChunkQuantizer.Result result =
            new ChunkQuantizer(backend, spec, source)
                .quantize(chunk.first(), chunk.count(), wholeTensor ? row : null, memory);
        stats.get(i).add(result, chunk.first(), source.columns(), blocks);
      }
    } finally {
      memories.add(memory);
    }
    return stats;
  }

  /** Ends the threads and frees the memory. */
  @Override
  public void close() {
    pipeline.close();
    arena.close();
  }
}
