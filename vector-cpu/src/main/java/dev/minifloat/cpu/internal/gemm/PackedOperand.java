package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * A right operand [K, N] packed once for all its products: what {@link Packing} makes of it, beside
 * the elements that other operations read.
 *
 * <pre>
 *   blocks of K, each: panels [depth of the block, {@link GemmTile#COLUMNS}] of all N
 * </pre>
 */
public final class PackedOperand implements HostStorage.Attachment {
  /** Floats that offsets of a tile reach; larger operands are not packed. */
  private static final long MOST_FLOATS = 1L << 30;

  /** Panels that a task packs. */
  private static final int GROUP = 16;

  private final Memory.Block block;
  private final long k;
  private final long n;
  private final boolean transposed;
  private final int step;
  private final int panels;

  private PackedOperand(Memory.Block block, long k, long n, boolean transposed) {
    this.block = block;
    this.k = k;
    this.n = n;
    this.transposed = transposed;
    this.step = GemmBlocks.stepOf(k);
    this.panels = (int) Packing.panelsB(n);
  }

  private static long floatsOf(long k, long n) {
    int step = GemmBlocks.stepOf(k);
    return Math.ceilDiv(k, step) * Packing.panelsB(n) * Packing.pitchB(step);
  }

  /**
   * Packs a whole matrix and attaches it to its storage, unless it is empty or larger than products
   * can use.
   *
   * @param x the whole of its storage
   * @param transposed whether it is [N, K]
   */
  public static void attach(
      TensorView x, boolean transposed, Workers workers, PackingBuffers buffers) {
    GemmOperand rows = transposed ? GemmOperand.of(x) : GemmOperand.of(x).transposed();
    long k = rows.columns();
    long n = rows.rows();
    if (k == 0 || n == 0 || k > MOST_FLOATS || n > MOST_FLOATS || floatsOf(k, n) > MOST_FLOATS) {
      return;
    }
    Memory.Block block = buffers.takeBytes(floatsOf(k, n) * Float.BYTES);
    boolean done = false;
    try {
      PackedOperand packed = new PackedOperand(block, k, n, transposed);
      packed.fill(rows, workers, buffers);
      ((HostStorage) x.storage()).attach(packed);
      done = true;
    } finally {
      if (!done) {
        block.close();
      }
    }
  }

  private void fill(GemmOperand rows, Workers workers, PackingBuffers buffers) {
    int groups = Math.ceilDiv(panels, GROUP);
    workers.run(
        (int) Math.ceilDiv(k, step) * groups,
        task -> {
          int part = task / groups;
          int panel = task % groups * GROUP;
          long column = (long) part * step;
          try (Memory.Block scratch = buffers.takeRows()) {
            Packing.packB(
                rows,
                0,
                (long) panel * GemmTile.COLUMNS,
                Math.min(GROUP, panels - panel),
                column,
                (int) Math.min(step, k - column),
                block.segment(),
                4L * floatOf(part, panel),
                scratch.segment());
          }
        });
  }

  /** The packed form of a view that shows a packed operand as it was packed; null for others. */
  public static PackedOperand of(TensorView b) {
    HostStorage storage = (HostStorage) b.storage();
    return storage.attachment() instanceof PackedOperand packed && packed.isShownBy(b)
        ? packed
        : null;
  }

  private boolean isShownBy(TensorView b) {
    return b.offset() == 0
        && b.shape().rows() == k
        && b.shape().columns() == n
        && (k == 1 || b.stride(-2) == (transposed ? 1 : n))
        && (n == 1 || b.stride(-1) == (transposed ? k : 1));
  }

  /** Where the panels are. */
  MemorySegment segment() {
    return block.segment();
  }

  /** The float at which a panel of a block of K begins. */
  int floatOf(int block, int panel) {
    long depth = Math.min(step, k - (long) block * step);
    return block * panels * Packing.pitchB(step) + panel * Packing.pitchB((int) depth);
  }

  @Override
  public long byteSize() {
    return block.segment().byteSize();
  }

  @Override
  public void free() {
    block.close();
  }
}
