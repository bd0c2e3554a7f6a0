package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * tcgen05.cp: rows of shared memory to lanes of Tensor Memory (PTX ISA, "tcgen05.cp"), those of
 * {@code .warpx4} to every quarter, of {@code .warpx2} to two of them.
 */
final class TensorCopyOp extends Op {
  private static final int PIECE = 16;

  private final AddressSource to;
  private final int from;
  private final int blocks;
  private final int rows;
  private final int columns;

  /** For each quarter, which rows it gets, 32 from 32 times this on. */
  private final int[] parts;

  TensorCopyOp(Operands o, Instruction i) {
    to = o.address(0);
    from = o.source(1, PtxType.B64);
    blocks = TensorOps.blocks(i);
    columns = i.has(".128x256b") ? 8 : 4;
    if (i.has(".32x128b")) {
      rows = 32;
      parts = new int[] {0, 0, 0, 0};
    } else if (i.has(".64x128b")) {
      rows = 64;
      parts = i.has(".warpx2::02_13") ? new int[] {0, 1, 0, 1} : new int[] {0, 0, 1, 1};
    } else {
      rows = 128;
      parts = new int[] {0, 1, 2, 3};
    }
  }

  /** One copy, in each of the blocks that take part. */
  private final class Copy extends TensorQueue.Work {
    private final MatrixDescriptor source;
    private final int column;

    Copy(Warp warp, int lane, MatrixDescriptor source, int column) {
      super(warp, lane);
      this.source = source;
      this.column = column;
    }

    private int address(int row, int piece) {
      return source.address(row, piece * PIECE, 1, true);
    }

    void begin() {
      for (Block block : TensorOps.participants(warp.block, blocks)) {
        block.tensorMemory().requireAllocated(column, columns, "a copy");
        block.tensorMemory().takeOff(column, columns, true, warp.clusterIndex, pc);
        RaceDetector races = block.shared().races();
        block.launch().counters().sharedBytesRead += (long) rows * columns * 4;
        for (int row = 0; row < rows; row++) {
          for (int piece = 0; piece < columns / 4; piece++) {
            int offset = block.shared().range(address(row, piece), PIECE, PIECE);
            if (races != null) {
              races.takeOffRead(offset, PIECE, warp.actor(lane), pc);
            }
          }
        }
      }
    }

    @Override
    void happen() {
      byte[] bytes = new byte[PIECE];
      for (Block block : TensorOps.participants(warp.block, blocks)) {
        TensorMemory memory = block.tensorMemory();
        RaceDetector races = block.shared().races();
        for (int row = 0; row < rows; row++) {
          for (int piece = 0; piece < columns / 4; piece++) {
            block.shared().copyOut(address(row, piece), bytes, 0, PIECE);
            if (races != null) {
              races.landReadsAsync(address(row, piece), PIECE, 1, pc);
            }
            spread(memory, row, piece, bytes);
          }
        }
        memory.land(column, columns, true, pc);
      }
    }

    private void spread(TensorMemory memory, int row, int piece, byte[] bytes) {
      for (int quarter = 0; quarter < parts.length; quarter++) {
        if (parts[quarter] == row / TensorMemory.QUARTER) {
          int lane = quarter * TensorMemory.QUARTER + row % TensorMemory.QUARTER;
          for (int c = 0; c < 4; c++) {
            memory.set(lane, column + 4 * piece + c, (int) Bytes.get(bytes, 4 * c, 4));
          }
        }
      }
    }
  }

  @Override
  void execute(Warp warp, Frame frame, int mask) {
    warp.block.requireTensorBlocks(blocks);
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      MatrixDescriptor source;
      try {
        source = MatrixDescriptor.ofTensorCore(frame.registers[from + lane]);
      } catch (IllegalArgumentException e) {
        throw new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, e.getMessage());
      }
      int column = TensorOps.column(to.of(frame, lane), "a copy");
      Copy copy = new Copy(warp, lane, source, column);
      copy.begin();
      warp.block.cluster().tensorQueue().add(copy);
    }
  }
}
