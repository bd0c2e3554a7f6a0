package dev.minifloat.cpu.internal.attention;

import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.cpu.internal.gemm.GemmTile;
import dev.minifloat.cpu.internal.gemm.Packing;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.gemm.PanelTranspose;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.AttentionCall;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/**
 * Attention of many queries, with the register tile of the matrix product and everything
 * transposed: queries are lanes.
 *
 * <pre>
 *   for each head and block of its queries, in parallel:
 *     pack the queries: panels [width, C], C = {@link GemmTile#COLUMNS}
 *     for each block of keys:
 *       pack K: panels [width, R], R = {@link GemmTile#ROWS}, and Vᵀ: panels [keys, R]
 *       for each panel of queries:
 *         Sᵀ[keys, C] = K · Qᵀ                    one tile for R keys
 *         weights of Sᵀ, where it lies, and the factor for what was summed before
 *         Oᵀ[width, C] = factor · Oᵀ + Vᵀ · Sᵀ    one tile for R of the width
 *     Oᵀ / sum, turned back
 * </pre>
 *
 * <p>So the softmax needs no sum across lanes, and the weights are written as the panel that the
 * second product reads. What a lane computes depends on its own query only, so neither the cut of
 * queries nor the threads change a bit.
 */
final class PanelAttention implements IntConsumer {
  /** Keys of a block: even, and a multiple of the rows of every tile. */
  static final int KEYS = 192;

  /** Queries of a task: panels of K and V are packed once for all of them. */
  private static final int MOST_QUERIES = 256;

  private static final int LEAST_QUERIES = 64;

  /** Tasks of each thread above which it does not matter that they end at different times. */
  private static final int ENOUGH_TASKS = 4;

  /** Multiplications below which a hand-over to another thread costs more than it gains. */
  private static final double LEAST_PARALLEL = 1 << 17;

  private static final int C = GemmTile.COLUMNS;
  private static final int R = GemmTile.ROWS;

  /** Bytes of the rows of a panel's results; turned, they lie behind that in a row buffer. */
  private static final int TURNED = 4 * Attention.MOST_WIDTH * C;

  /** Bytes from the first eight values of a turned row to the others: the next ones. */
  private static final int NEXT = 8 * Float.BYTES;

  private final Workers workers;
  private final PackingBuffers buffers;
  private final Operands operands = new Operands();
  private final Layout layout = new Layout();
  private int block;
  private int blocks;

  /** Where things lie in the array of a task, in floats. */
  private static final class Layout {
    /** Floats from a panel of K to the next, the first of which is at 0. */
    int pitchK;

    int values;
    int pitchV;

    /** Scores [keys, C], and a row more. */
    int scores;

    /** Oᵀ of the first panel of queries, and floats to that of the next. */
    int sums;

    int pitchSums;

    /** State of the first panel: {@link OnlineSoftmax}. */
    int state;

    int end;

    void lay(int width, int panels) {
      pitchK = Packing.pitchA(width);
      values = KEYS / R * pitchK;
      pitchV = Packing.pitchA(KEYS);
      scores = values + Math.ceilDiv(width, R) * pitchV;
      sums = scores + (KEYS + 1) * C;
      pitchSums = Math.ceilDiv(width, R) * R * C;
      state = sums + panels * pitchSums;
      end = state + panels * OnlineSoftmax.STATE;
    }
  }

  PanelAttention(Workers workers, PackingBuffers buffers) {
    this.workers = workers;
    this.buffers = buffers;
  }

  void run(AttentionCall call) {
    operands.show(call);
    operands.v.transpose();
    int stack = Math.multiplyExact(operands.batch, operands.heads);
    double products = (double) stack * operands.queries * operands.keys * operands.width;
    int threads = products >= LEAST_PARALLEL ? workers.threads() : 1;
    block = MOST_QUERIES;
    while (block > LEAST_QUERIES
        && (long) stack * Math.ceilDiv(operands.queries, block) < (long) ENOUGH_TASKS * threads) {
      block /= 2;
    }
    block = Math.min(block, operands.queries);
    blocks = Math.ceilDiv(operands.queries, block);
    layout.lay(operands.width, Math.ceilDiv(block, C));
    int tasks = Math.multiplyExact(stack, blocks);
    if (threads > 1) {
      workers.run(tasks, this);
    } else {
      for (int task = 0; task < tasks; task++) {
        accept(task);
      }
    }
    operands.clear();
  }

  @Override
  public void accept(int task) {
    int head = task / blocks % operands.heads;
    int entry = task / blocks / operands.heads;
    int first = task % blocks * block;
    int count = Math.min(block, operands.queries - first);
    long weights = 4L * Packing.panelsB(count) * Packing.pitchB(operands.width);
    float[] floats = buffers.take(layout.end);
    try (Memory.Block rows = buffers.takeRows();
        Memory.Block panels = buffers.takeBytes(weights + 4L * C * (KEYS + 1))) {
      attend(entry, head, first, count, floats, panels.segment(), weights, rows.segment());
    }
    buffers.give(floats);
  }

  private void attend(
      int entry,
      int head,
      int first,
      int count,
      float[] floats,
      MemorySegment panelMemory,
      long weights,
      MemorySegment scratch) {
    int matrix = entry * operands.keyHeads + head / operands.group();
    int length = operands.length(entry);
    int most = operands.seen(first + count - 1, length);
    int panels = Math.ceilDiv(count, C);
    Packing.packB(
        operands.q,
        (long) entry * operands.heads + head,
        first,
        (int) Packing.panelsB(count),
        0,
        operands.width,
        panelMemory,
        0,
        scratch);
    for (int p = 0; p < panels; p++) {
      OnlineSoftmax.begin(floats, layout.state + p * OnlineSoftmax.STATE);
    }
    for (int from = 0; from < most; from += KEYS) {
      int keys = Math.min(KEYS, most - from);
      packKeys(matrix, from, keys, floats, scratch);
      for (int p = 0; p < panels; p++) {
        int last = Math.min(first + (p + 1) * C, first + count) - 1;
        int seen = Math.min(keys, operands.seen(last, length) - from);
        if (seen > 0) {
          panel(first + p * C, p, from, seen, floats, panelMemory, weights);
        }
      }
    }
    for (int p = 0; p < panels; p++) {
      int rows = Math.min(C, count - p * C);
      if (operands.seen(first + p * C + rows - 1, length) > 0) {
        store(entry, head, first + p * C, rows, p, floats, scratch);
      } else {
        storeZeros(entry, head, first + p * C, rows, scratch);
      }
    }
  }

  private void packKeys(int matrix, int from, int keys, float[] floats, MemorySegment scratch) {
    int panels = Math.ceilDiv(keys, R);
    for (int p = 0; p < panels; p += Packing.GROUP) {
      Packing.packA(
          operands.k,
          matrix,
          from + p * R,
          Math.min(Packing.GROUP, panels - p),
          0,
          operands.width,
          floats,
          p * layout.pitchK,
          layout.pitchK,
          scratch);
    }
    panels = Math.ceilDiv(operands.width, R);
    for (int p = 0; p < panels; p += Packing.GROUP) {
      Packing.packA(
          operands.v,
          matrix,
          (long) p * R,
          Math.min(Packing.GROUP, panels - p),
          from,
          keys,
          floats,
          layout.values + p * layout.pitchV,
          layout.pitchV,
          scratch);
    }
  }

  /** A block of keys for a panel of queries, the last of which sees {@code seen} of them. */
  private void panel(
      int query, int p, int from, int seen, float[] floats, MemorySegment panels, long weights) {
    int width = operands.width + (operands.width & 1);
    int q = p * Packing.pitchB(operands.width);
    for (int j = 0; j < seen; j += R) {
      int k = j / R * layout.pitchK;
      GemmTile.multiply(floats, k, panels, q, width, floats, layout.scores + j * C);
    }
    int state = layout.state + p * OnlineSoftmax.STATE;
    float scale = operands.call.scale();
    // Of the first query's keys in this block; each query after it sees one more.
    int sure = operands.call.causal() ? query + 1 + operands.keys - operands.queries - from : seen;
    if (sure < seen) {
      OnlineSoftmax.mask(floats, layout.scores, sure, seen, scale);
      scale = 1;
    }
    OnlineSoftmax.weigh(floats, layout.scores, seen, scale, state, panels, weights);
    int even = seen + (seen & 1);
    int sums = layout.sums + p * layout.pitchSums;
    boolean begun = from > 0;
    if (begun) {
      OnlineSoftmax.shrink(floats, sums, operands.width, state);
    }
    for (int d = 0; d < operands.width; d += R) {
      int v = layout.values + d / R * layout.pitchV;
      int at = sums + d * C;
      int b = (int) (weights / Float.BYTES);
      if (begun) {
        GemmTile.multiply(floats, v, panels, b, even, floats, at, C, floats, at, C);
      } else {
        GemmTile.multiply(floats, v, panels, b, even, floats, at);
      }
    }
  }

  /** Turns a panel's sums, divided by those of the weights, to rows, and stores them. */
  private void store(
      int entry, int head, int query, int rows, int p, float[] floats, MemorySegment scratch) {
    int width = operands.width;
    int blind = operands.call.causal() ? operands.queries - operands.keys - query : 0;
    int state = layout.state + p * OnlineSoftmax.STATE;
    OnlineSoftmax.divide(
        floats, layout.sums + p * layout.pitchSums, width, state, Math.max(0, blind), scratch);
    int together = PanelTranspose.ROWS;
    boolean direct = operands.out.dtype() == DType.F32 && width % together == 0 && rows == C;
    MemorySegment target = direct ? operands.out.data() : scratch;
    long to = direct ? 4 * operands.outIndex(entry, query, head) : TURNED;
    long pitch = direct ? 4L * operands.heads * width : 4L * Attention.MOST_WIDTH;
    for (int d = 0; d < width; d += together) {
      PanelTranspose.transpose(
          scratch, 4L * d * C, 4L * C, C, scratch, 4L * C, target, to + 4L * d, pitch, NEXT);
    }
    for (int r = 0; r < rows && !direct; r++) {
      operands.store(scratch, TURNED + r * pitch, entry, query + r, head);
    }
  }

  private void storeZeros(int entry, int head, int query, int rows, MemorySegment scratch) {
    scratch.asSlice(0, 4L * operands.width).fill((byte) 0);
    for (int r = 0; r < rows; r++) {
      operands.store(scratch, 0, entry, query + r, head);
    }
  }
}
