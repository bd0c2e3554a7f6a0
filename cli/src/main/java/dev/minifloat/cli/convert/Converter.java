package dev.minifloat.cli.convert;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.Scales;
import dev.minifloat.formats.SafetensorsWriter;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.layout.QuantizedLayout;
import dev.minifloat.formats.layout.QuantizedTensor;
import dev.minifloat.formats.layout.StoredTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;

/**
 * Quantizes a file of tensors into a safetensors file, chunk by chunk: threads read and quantize
 * while the caller's thread writes. Memory does not grow with the file.
 */
public final class Converter implements AutoCloseable {
  /** Unconverted bytes written between two reports of progress. */
  private static final long COPY_STEP = 64 << 20;

  private final TensorFile input;
  private final Backend backend;
  private final QuantSpec spec;
  private final QuantizedLayout layout;
  private final LongConsumer progress;

  private final Arena arena = Arena.ofShared();
  private final Pipeline pipeline;
  private final BlockingQueue<ReusedMemory> memories;
  private final Map<String, Float> amaxes = new HashMap<>();
  private final Map<String, StoredTensor> stored = new LinkedHashMap<>();

  /**
   * A converter of one file.
   *
   * @param progress told how many bytes of the input have been worked on since it was told last;
   *     called on the thread of the caller
   */
  public Converter(
      TensorFile input,
      Backend backend,
      QuantSpec spec,
      QuantizedLayout layout,
      LongConsumer progress) {
    this.input = input;
    this.backend = backend;
    this.spec = spec;
    this.layout = layout;
    this.progress = progress;
    int threads = Runtime.getRuntime().availableProcessors();
    int places = threads + 2;
    this.pipeline = new Pipeline(threads, places);
    this.memories = new ArrayBlockingQueue<>(places);
    for (int i = 0; i < places; i++) {
      memories.add(new ReusedMemory(arena));
    }
  }

  /** What a worker made of a chunk. */
  private record Quantized(
      Chunks.Chunk chunk, ChunkQuantizer.Result result, ErrorStats stats, ReusedMemory memory) {}

  /** Bytes of input that {@link #plan} and {@link #write} will report as progress. */
  public long work(List<SourceTensor> tensors) {
    long bytes = 0;
    for (SourceTensor tensor : tensors) {
      bytes += tensor.info().byteSize() * (tensor.converted() && needsAmax() ? 2 : 1);
    }
    return bytes;
  }

  /**
   * Plans the output. With scales that span a tensor, reads the converted ones for their amax.
   *
   * @throws IllegalArgumentException if the layout can't hold one of them
   */
  public SafetensorsWriter.Plan plan(Path target, List<SourceTensor> tensors) {
    SafetensorsWriter.Plan plan = SafetensorsWriter.to(target);
    Map<String, String> metadata = new LinkedHashMap<>(input.metadata());
    metadata.putIfAbsent("format", "pt");
    // Refusals first: they need no reading.
    for (SourceTensor tensor : tensors) {
      if (tensor.converted()) {
        layout.plan(tensor.name(), spec.dtype(), tensor.shape(), spec.scaling(), 1);
      }
    }
    for (SourceTensor tensor : tensors) {
      if (!tensor.converted()) {
        plan.tensor(tensor.name(), tensor.info().type(), tensor.shape());
        continue;
      }
      float global = 1;
      if (needsAmax()) {
        float amax = amax(tensor);
        amaxes.put(tensor.name(), amax);
        global = spec.scaling() instanceof Scaling.NvFp4 ? Scales.nvfp4Global(amax) : 1;
      }
      StoredTensor parts =
          layout.plan(tensor.name(), spec.dtype(), tensor.shape(), spec.scaling(), global);
      parts.parts().forEach(part -> plan.tensor(part.name(), part.type(), part.shape()));
      metadata.putAll(parts.metadata());
      stored.put(tensor.name(), parts);
    }
    return plan.metadata(metadata).sync(true);
  }

  private boolean needsAmax() {
    return spec.scaling() instanceof Scaling.PerTensor || spec.scaling() instanceof Scaling.NvFp4;
  }

  private RowSource source(SourceTensor tensor) {
    return new RowSource(
        tensor.info().type(),
        tensor.info().shape(),
        input.data(tensor.info().name()),
        tensor.transposed());
  }

  private float amax(SourceTensor tensor) {
    // Read as it lies in the file, also where it will be written turned.
    RowSource source =
        new RowSource(
            tensor.info().type(), tensor.info().shape(), input.data(tensor.info().name()), false);
    int[] largest = {0};
    pipeline.run(
        tasks(
            source,
            chunk -> {
              ReusedMemory memory = memories.take();
              try (memory) {
                MemorySegment target =
                    source.isDirect()
                        ? MemorySegment.NULL
                        : memory.allocate(chunk.count() * source.columns() * 4, 64);
                return Map.entry(
                    chunk, source.amaxBits(source.read(chunk.first(), chunk.count(), target)));
              } finally {
                memories.add(memory);
              }
            }),
        found -> {
          largest[0] = Math.max(largest[0], found.getValue());
          report(tensor, found.getKey(), source);
        });
    return Float.intBitsToFloat(largest[0]);
  }

  /** A piece of work on a chunk, which may wait for memory. */
  private interface Work<T> {
    T on(Chunks.Chunk chunk) throws InterruptedException;
  }

  private <T> Iterator<Callable<T>> tasks(RowSource source, Work<T> work) {
    Iterator<Chunks.Chunk> chunks = new Chunks(source.shape(), spec.scaling()).iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return chunks.hasNext();
      }

      @Override
      public Callable<T> next() {
        Chunks.Chunk chunk = chunks.next();
        return () -> work.on(chunk);
      }
    };
  }

  private void report(SourceTensor tensor, Chunks.Chunk chunk, RowSource source) {
    progress.accept(chunk.count() * source.columns() * (tensor.info().type().bits() / 8));
  }

  /** Copies a tensor's bytes, turned if need be. */
  public void copy(SourceTensor tensor, SafetensorsWriter writer) {
    MemorySegment data = input.data(tensor.info().name());
    if (tensor.transposed() && RowSource.isFloat(tensor.info().type())) {
      copyTurned(tensor, data, writer);
      return;
    }
    for (long at = 0; at < data.byteSize(); at += COPY_STEP) {
      long size = Math.min(COPY_STEP, data.byteSize() - at);
      writer.append(tensor.name(), data.asSlice(at, size));
      progress.accept(size);
    }
  }

  private void copyTurned(SourceTensor tensor, MemorySegment data, SafetensorsWriter writer) {
    RowSource source = new RowSource(tensor.info().type(), tensor.info().shape(), data, true);
    if (source.type().bits() / 8 != source.elementSize()) {
      throw new MinifloatException(
          input.path()
              + ": tensor \""
              + tensor.info().name()
              + "\": an F64 matrix is not written transposed unless it is converted; convert it"
              + " too, with --include");
    }
    ReusedMemory memory = memories.remove();
    for (Chunks.Chunk chunk : new Chunks(source.shape(), Scaling.none())) {
      try (memory) {
        MemorySegment target =
            memory.allocate(chunk.count() * source.columns() * source.elementSize(), 64);
        writer.append(tensor.name(), source.read(chunk.first(), chunk.count(), target));
        report(tensor, chunk, source);
      }
    }
    memories.add(memory);
  }

  /** Quantizes a tensor into its parts of the output, and says how well that went. */
  public ErrorStats convert(SourceTensor tensor, SafetensorsWriter writer) {
    RowSource source = source(tensor);
    StoredTensor parts = stored.get(tensor.name());
    if (source.shape().elements() == 0) {
      writeEmpty(source, parts, writer);
      return new ErrorStats();
    }
    ChunkQuantizer quantizer = new ChunkQuantizer(backend, spec, source);
    Map<Long, MemorySegment> appended = appendedRows(tensor, source);
    ErrorStats stats = new ErrorStats();
    pipeline.run(
        tasks(
            source,
            chunk -> {
              MemorySegment row = appended.get(chunk.first() / Math.max(1, source.shape().rows()));
              return quantize(quantizer, source, chunk, row);
            }),
        done -> {
          write(done, parts, writer);
          stats.add(done.stats);
          report(tensor, done.chunk, source);
          memories.add(done.memory);
        });
    return stats;
  }

  private Quantized quantize(
      ChunkQuantizer quantizer, RowSource source, Chunks.Chunk chunk, MemorySegment row)
      throws InterruptedException {
    ReusedMemory memory = memories.take();
    boolean done = false;
    try {
      memory.close();
      ChunkQuantizer.Result result = quantizer.quantize(chunk.first(), chunk.count(), row, memory);
      ErrorStats stats = new ErrorStats();
      stats.add(result.before(), result.after());
      Saturation.count(stats, spec, source.columns(), result);
      done = true;
      return new Quantized(chunk, result, stats, memory);
    } finally {
      if (!done) {
        memories.add(memory);
      }
    }
  }

  private void write(Quantized done, StoredTensor parts, SafetensorsWriter writer) {
    ChunkQuantizer.Result result = done.result;
    writer.append(parts.data().name(), result.data());
    boolean wholeTensor = spec.scaling() instanceof Scaling.PerTensor;
    boolean first =
        wholeTensor
            ? done.chunk.first() == 0
            : !(spec.scaling() instanceof Scaling.Columns) || done.chunk.startsMatrix();
    if (first) {
      parts.scales().ifPresent(part -> writer.append(part.name(), result.scales()));
    }
    if (done.chunk.first() == 0) {
      float global = layout.storedGlobalScale(result.globalScale());
      parts
          .globalScale()
          .ifPresent(part -> writer.append(part.name(), QuantizedTensor.floatBytes(global)));
    }
  }

  private void writeEmpty(RowSource source, StoredTensor parts, SafetensorsWriter writer) {
    HostTensor empty =
        HostTensor.wrap(
            source.dtype(), source.shape(), arena.allocate(source.shape().elements(), 64));
    HostTensor result =
        spec.scaling() instanceof Scaling.None
            ? HostTensor.allocate(arena, spec.dtype(), source.shape(), spec.scaling())
            : dev.minifloat.codec.BlockQuantizer.quantize(arena, empty, spec);
    QuantizedTensor.of(result, layout).bytes(parts).forEach(writer::append);
  }

  /**
   * For each matrix the row that carries what its chunks can't know; empty if scales don't span
   * rows.
   */
  private Map<Long, MemorySegment> appendedRows(SourceTensor tensor, RowSource source) {
    Map<Long, MemorySegment> rows = new HashMap<>();
    long rowBytes = source.columns() * source.elementSize();
    for (long matrix = 0; matrix < source.shape().batch(); matrix++) {
      if (needsAmax()) {
        MemorySegment row = arena.allocate(rowBytes, 64);
        int code = Codec.encode(source.dtype(), amaxes.get(tensor.name()));
        PackedElements.set(source.dtype(), row, 0, code);
        rows.put(matrix, row);
      } else if (spec.scaling() instanceof Scaling.Columns) {
        rows.put(matrix, columnAmaxes(source, matrix));
      }
    }
    return rows;
  }

  private MemorySegment columnAmaxes(RowSource source, long matrix) {
    int[] largest = new int[Math.toIntExact(source.columns())];
    Shape one = Shape.of(source.shape().rows(), source.columns());
    ReusedMemory memory = memories.remove();
    for (Chunks.Chunk chunk : new Chunks(one, Scaling.none())) {
      try (memory) {
        MemorySegment target =
            source.isDirect()
                ? MemorySegment.NULL
                : memory.allocate(chunk.count() * source.columns() * source.elementSize(), 64);
        long first = matrix * source.shape().rows() + chunk.first();
        source.columnAmax(source.read(first, chunk.count(), target), largest);
      }
    }
    memories.add(memory);
    MemorySegment row = arena.allocate(source.columns() * source.elementSize(), 64);
    DType dtype = source.dtype();
    for (int c = 0; c < largest.length; c++) {
      PackedElements.set(dtype, row, c, largest[c]);
    }
    return row;
  }

  /** Ends the threads and frees the memory. */
  @Override
  public void close() {
    pipeline.close();
    arena.close();
  }
}
