package dev.minifloat.cpu.internal.attention;

import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.AttentionCall;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Attention of few queries to many keys, as when a text is continued: K and V pass once, as they
 * lie, for all queries and all heads of a group.
 *
 * <pre>
 *   for each key head and chunk of its keys, in parallel:
 *     for each block of keys:
 *       decode K, or read it where it is
 *       for each row, a query of a head: scores, weights, the factor for what was summed before
 *       decode V, or read it where it is
 *       for each row: sums = factor · sums + Σ weight · v
 *   for each row: the chunks' sums, brought to one maximum, added up in their order
 * </pre>
 *
 * <p>Chunks are cut by the number of keys, so that the threads change no bit.
 */
final class StreamedAttention implements IntConsumer {
  /** Rows that share a key head: more of them would better share packed panels. */
  private static final int MOST_ROWS = 8;

  /** Keys of a task. */
  private static final int CHUNK = 1024;

  /** Keys of a block. */
  private static final int BLOCK = KeyBlock.KEYS;

  /** Multiplications below which a hand-over to another thread costs more than it gains. */
  private static final double LEAST_PARALLEL = 1 << 16;

  private final Workers workers;
  private final PackingBuffers buffers;
  private final Operands operands = new Operands();

  /** Rows of a key head, floats from a query to the next, and those of a row's part of a chunk. */
  private int rows;

  private int pitch;
  private int part;
  private int chunks;
  private float[] parts;

  StreamedAttention(Workers workers, PackingBuffers buffers) {
    this.workers = workers;
    this.buffers = buffers;
  }

  /** Whether so few queries share keys that these are better not packed. */
  static boolean suits(AttentionCall call) {
    long heads = call.q().shape().dim(1);
    long group = heads / call.k().shape().dim(1);
    return group * call.q().shape().rows() <= MOST_ROWS;
  }

  void run(AttentionCall call) {
    operands.show(call);
    rows = operands.group() * operands.queries;
    pitch = (operands.width + LANES - 1) / LANES * LANES;
    part = pitch + LANES;
    chunks = Math.max(1, Math.ceilDiv(operands.keys, CHUNK));
    int stack = Math.multiplyExact(operands.batch, operands.keyHeads);
    int tasks = Math.multiplyExact(stack, chunks);
    parts = buffers.take(Math.multiplyExact(tasks, rows * part));
    double products = (double) stack * rows * operands.keys * operands.width;
    if (products >= LEAST_PARALLEL) {
      workers.run(tasks, this);
    } else {
      for (int task = 0; task < tasks; task++) {
        accept(task);
      }
    }
    float[] factors = buffers.take(chunks + LANES);
    try (Memory.Block scratch = buffers.takeBytes(4L * pitch)) {
      for (int row = 0; row < stack * rows; row++) {
        combine(row / rows, row % rows, factors, scratch.segment());
      }
    }
    buffers.give(factors);
    buffers.give(parts);
    parts = null;
    operands.clear();
  }

  @Override
  public void accept(int task) {
    int matrix = task / chunks;
    int entry = matrix / operands.keyHeads;
    int length = operands.length(entry);
    int begin = task % chunks * CHUNK;
    int end = Math.min(begin + CHUNK, operands.seen(operands.queries - 1, length));
    float[] queries = buffers.take(rows * (pitch + KeyBlock.ROOM));
    try (Memory.Block scratch = buffers.takeBytes(4L * BLOCK * pitch)) {
      for (int r = 0; r < rows; r++) {
        int at = (task * rows + r) * part;
        Arrays.fill(parts, at, at + part, 0);
        parts[at + pitch] = Float.NEGATIVE_INFINITY;
        int head = matrix % operands.keyHeads * operands.group() + r / operands.queries;
        Arrays.fill(queries, r * pitch, (r + 1) * pitch, 0);
        operands.q.decodeRow(
            (long) entry * operands.heads + head,
            r % operands.queries,
            operands.width,
            queries,
            r * pitch,
            buffers);
      }
      for (int from = begin; from < end; from += BLOCK) {
        block(task, matrix, from, Math.min(BLOCK, end - from), length, queries, scratch.segment());
      }
    }
    buffers.give(queries);
  }

  private void block(
      int task,
      int matrix,
      int from,
      int count,
      int length,
      float[] queries,
      MemorySegment scratch) {
    GemmOperand k = operands.k;
    boolean inPlace = isInPlace(k);
    MemorySegment source = inPlace ? k.storage().data() : scratch;
    long at = inPlace ? 4 * k.index(matrix, from, 0) : 0;
    long apart = inPlace ? 4 * k.rowStride() : 4L * pitch;
    if (!inPlace) {
      decode(k, matrix, from, count, scratch);
    }
    for (int r = 0; r < rows; r++) {
      int seen = seen(r, from, count, length);
      if (seen > 0) {
        int state = (task * rows + r) * part + pitch;
        int weights = rows * pitch + r * KeyBlock.ROOM;
        KeyBlock.score(source, at, apart, seen, queries, r * pitch, pitch, queries, weights);
        KeyBlock.weigh(queries, weights, seen, operands.call.scale(), parts, state);
      }
    }
    GemmOperand v = operands.v;
    inPlace = isInPlace(v);
    source = inPlace ? v.storage().data() : scratch;
    at = inPlace ? 4 * v.index(matrix, from, 0) : 0;
    apart = inPlace ? 4 * v.rowStride() : 4L * pitch;
    if (!inPlace) {
      decode(v, matrix, from, count, scratch);
    }
    for (int r = 0; r < rows; r++) {
      int seen = seen(r, from, count, length);
      if (seen > 0) {
        int sums = (task * rows + r) * part;
        float factor = parts[sums + pitch + 2];
        KeyBlock.add(
            source,
            at,
            apart,
            seen,
            queries,
            rows * pitch + r * KeyBlock.ROOM,
            factor,
            parts,
            sums,
            pitch);
      }
    }
  }

  /** Keys of a block that a row sees. */
  private int seen(int row, int from, int count, int length) {
    return Math.clamp(operands.seen(row % operands.queries, length) - (long) from, 0, count);
  }

  /** Whether rows can be read as vectors of floats where they are. */
  private boolean isInPlace(GemmOperand x) {
    return x.storage().dtype() == DType.F32 && x.hasDenseRows() && operands.width == pitch;
  }

  /** Decodes rows to whole vectors, zeros behind each. */
  private void decode(GemmOperand x, int matrix, int from, int count, MemorySegment target) {
    int width = operands.width;
    if (width == pitch && x.hasDenseRows() && x.rowStride() == width) {
      x.decodeRow(matrix, from, 0, count * width, target, 0);
      return;
    }
    for (int j = 0; j < count; j++) {
      x.decodeRow(matrix, from + j, 0, width, target, 4L * j * pitch);
      for (int d = width; d < pitch; d++) {
        target.set(PackedElements.FLOAT, 4L * (j * pitch + d), 0);
      }
    }
  }

  /** Adds a row's parts of all chunks up, divides by the sum of the weights, and stores it. */
  private void combine(int matrix, int row, float[] factors, MemorySegment scratch) {
    int entry = matrix / operands.keyHeads;
    int query = row % operands.queries;
    int head = matrix % operands.keyHeads * operands.group() + row / operands.queries;
    int first = (matrix * chunks * rows + row) * part;
    int step = rows * part;
    int padded = (chunks + LANES - 1) / LANES * LANES;
    Arrays.fill(factors, 0, padded, Float.NEGATIVE_INFINITY);
    float max = Float.NEGATIVE_INFINITY;
    for (int c = 0; c < chunks; c++) {
      factors[c] = parts[first + c * step + pitch];
      max = factors[c] > max ? factors[c] : max;
    }
    KeyBlock.exponentials(factors, 0, padded, max);
    float sum = 0;
    for (int c = 0; c < chunks; c++) {
      sum += factors[c] * parts[first + c * step + pitch + 1];
    }
    boolean blind = operands.seen(query, operands.length(entry)) == 0;
    float inverse = blind ? 0 : sum == 0 ? Float.NaN : 1 / sum;
    for (int d = 0; d < operands.width; d++) {
      float value = 0;
      for (int c = 0; c < chunks; c++) {
        value += factors[c] * parts[first + c * step + d];
      }
      scratch.set(PackedElements.FLOAT, 4L * d, Nans.canonical(value * inverse));
    }
    operands.store(scratch, 0, entry, query, head);
  }
}
