package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.mma.InstructionDescriptor;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.mma.TensorKind;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import java.util.List;

/**
 * tcgen05.mma: D = ±A·±B, or that and D, where A lies in shared or Tensor Memory, B in shared
 * memory and D in Tensor Memory (PTX ISA, "tcgen05.mma"). Of two blocks each holds half of A's
 * rows, half of B's columns and half of D's rows. Element (i, j) of D is in
 *
 * <pre>
 *   1 block,  M = 128    lane i                      column j
 *             M = 64     lane 32·(i / 16) + i % 16   column j
 *   2 blocks, M = 256    lane i % 128                column j             of block i / 128
 *             M = 128    lane i % 64 + 64·(2·j / N)  column j % (N / 2)   of block i / 64
 * </pre>
 */
final class TensorMmaOp extends Op {
  /** Bytes of a row along K, whatever the kind. */
  static final int ROW_BYTES = 32;

  static final int PIECE = 16;
  private static final int CELLS_OF_ROW = ROW_BYTES / 4;

  private final TensorKind kind;
  private final int blocks;
  private final int scalesOfRow;
  private final AddressSource d;
  private final AddressSource aCells;
  private final int aDescriptor;
  private final int bDescriptor;
  private final int descriptor;
  private final AddressSource aScales;
  private final AddressSource bScales;
  private final PredicateSource accumulates;

  TensorMmaOp(Operands o, Instruction i) {
    kind =
        i.modifiers().stream()
            .map(TensorKind::of)
            .filter(java.util.Objects::nonNull)
            .findFirst()
            .orElseThrow();
    blocks = TensorOps.blocks(i);
    scalesOfRow =
        switch (kind) {
          case F16, TF32, F8F6F4 -> 0;
          case MXF8F6F4 -> 1;
          case MXF4 -> 2;
          case MXF4NVF4 -> i.has(".block16") || i.has(".scale_vec::4X") ? 4 : 2;
        };
    d = o.address(0);
    boolean inCells = o.get(1) instanceof Operand.Address;
    aCells = inCells ? o.address(1) : null;
    aDescriptor = inCells ? Operands.NOWHERE : o.source(1, PtxType.B64);
    bDescriptor = o.source(2, PtxType.B64);
    descriptor = o.source(3, PtxType.B32);
    aScales = kind.isScaled() ? o.address(4) : null;
    bScales = kind.isScaled() ? o.address(5) : null;
    accumulates = o.predicateSource(kind.isScaled() ? 6 : 4);
  }

  /** One multiplication. */
  final class Product extends TensorQueue.Work {
    final InstructionDescriptor shape;

    /** A in shared memory; null if it lies in Tensor Memory. */
    final MatrixDescriptor a;

    final int aColumn;
    final MatrixDescriptor b;
    final int dColumn;
    final int aScaleColumn;
    final int bScaleColumn;
    final boolean adds;
    final List<Block> held;

    Product(Warp warp, Frame frame, int lane) {
      super(warp, lane);
      held = TensorOps.participants(warp.block, blocks);
      try {
        int bits = (int) frame.registers[descriptor + lane];
        shape = InstructionDescriptor.decode(bits, kind, scalesOfRow, blocks);
        a =
            aDescriptor < 0
                ? null
                : MatrixDescriptor.ofTensorCore(frame.registers[aDescriptor + lane]);
        b = MatrixDescriptor.ofTensorCore(frame.registers[bDescriptor + lane]);
      } catch (IllegalArgumentException e) {
        throw illegal(e.getMessage());
      }
      aColumn = aCells == null ? 0 : TensorOps.column(aCells.of(frame, lane), "A");
      dColumn = TensorOps.column(d.of(frame, lane), "D");
      aScaleColumn = aScales == null ? 0 : TensorOps.column(aScales.of(frame, lane), "A's scales");
      bScaleColumn = bScales == null ? 0 : TensorOps.column(bScales.of(frame, lane), "B's scales");
      adds = (accumulates.lanes(frame) >>> lane & 1) != 0;
      if (a == null && (rows() != TensorMemory.LANES || !shape.aKMajor())) {
        throw illegal("A in Tensor Memory needs 128 rows of each block, along K");
      }
      if (a == null && kind.heldBits() != Math.max(4, width(shape.aFormat().bits()))) {
        throw illegal("A of fewer than 8 bits in Tensor Memory isn't simulated for " + kind);
      }
    }

    private int width(int bits) {
      return kind == TensorKind.TF32 ? 32 : bits;
    }

    private DeviceFault illegal(String message) {
      return new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, message);
    }

    TensorKind kind() {
      return kind;
    }

    int scalesOfRow() {
      return scalesOfRow;
    }

    /** Rows of A in each block. */
    int rows() {
      return shape.rows() / blocks;
    }

    /** Columns of B in each block. */
    int columns() {
      return shape.columns() / blocks;
    }

    /** Columns of Tensor Memory that D takes up. */
    private int cellColumns() {
      return blocks == 2 && rows() == 64 ? columns() : shape.columns();
    }

    /** The block of an element of D among those that take part. */
    int block(int row) {
      return row / rows();
    }

    int lane(int row, int column) {
      int own = row % rows();
      if (rows() == TensorMemory.LANES) {
        return own;
      }
      return blocks == 1 ? 32 * (own / 16) + own % 16 : own + 64 * (column / columns());
    }

    int cell(int column) {
      return dColumn + column % cellColumns();
    }

    /** Where a piece of 16 bytes along K, or along rows, begins in shared memory. */
    static int address(MatrixDescriptor of, boolean kMajor, int major, int piece) {
      return kMajor
          ? of.address(major, piece * PIECE, 1, true)
          : of.address(piece * PIECE, major, 1, false);
    }

    /** Begins or ends the accesses, which are in flight between. */
    private void accesses(boolean begins) {
      for (Block block : held) {
        if (a != null) {
          shared(block, a, shape.aKMajor(), rows(), begins);
        } else {
          cells(block, aColumn, CELLS_OF_ROW, "A", false, begins);
        }
        shared(block, b, shape.bKMajor(), columns(), begins);
        if (kind.isScaled()) {
          cells(block, aScaleColumn, rows() / 32, "A's scales", false, begins);
          cells(block, bScaleColumn, (shape.columns() + 31) / 32, "B's scales", false, begins);
        }
        cells(block, dColumn, cellColumns(), "D", true, begins);
      }
    }

    private void cells(
        Block block, int column, int columns, String what, boolean writes, boolean begins) {
      TensorMemory memory = block.tensorMemory();
      if (begins) {
        memory.requireAllocated(column, columns, what);
        memory.takeOff(column, columns, writes, warp.clusterIndex, pc);
      } else {
        memory.land(column, columns, writes, pc);
      }
    }

    private void shared(
        Block block, MatrixDescriptor of, boolean kMajor, int extent, boolean begins) {
      RaceDetector races = block.shared().races();
      int major = kMajor ? extent : kind.depth();
      int pieces = kMajor ? ROW_BYTES / PIECE : extent * kind.heldBits() / 8 / PIECE;
      if (begins) {
        block.launch().counters().sharedBytesRead += (long) major * pieces * PIECE;
      }
      for (int i = 0; i < major; i++) {
        for (int piece = 0; piece < pieces; piece++) {
          int offset = block.shared().range(address(of, kMajor, i, piece), PIECE, PIECE);
          if (races != null && begins) {
            races.takeOffRead(offset, PIECE, warp.actor(lane), pc);
          } else if (races != null) {
            races.landReadsAsync(offset, PIECE, 1, pc);
          }
        }
      }
    }

    @Override
    void happen() {
      warp.block.launch().tensorProduct().multiply(this);
      accesses(false);
    }
  }

  @Override
  void execute(Warp warp, Frame frame, int mask) {
    warp.block.requireTensorBlocks(blocks);
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      Product product = new Product(warp, frame, lane);
      product.accesses(true);
      warp.block.cluster().tensorQueue().add(product);
      Counters counters = warp.block.launch().counters();
      counters.matrixMultiplies++;
      counters.multiplyAdds += (long) product.shape.rows() * product.shape.columns() * kind.depth();
    }
  }
}
