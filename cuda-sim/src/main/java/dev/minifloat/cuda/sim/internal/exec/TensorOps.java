package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Clocks;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.util.ArrayList;
import java.util.List;

/** The tcgen05 instructions (PTX ISA, "TensorCore 5th Generation Family Instructions"). */
final class TensorOps {
  private TensorOps() {}

  static Op decode(Operands o, Instruction i) {
    String first = i.modifiers().getFirst();
    return switch (first) {
      case ".alloc" -> allocate(o, i);
      case ".dealloc" -> free(o, i);
      case ".relinquish_alloc_permit" -> relinquish(i);
      case ".ld" -> TensorAccess.load(o, i);
      case ".st" -> TensorAccess.store(o, i);
      case ".wait::ld", ".wait::st" -> await(first.equals(".wait::st"));
      case ".mma" -> new TensorMmaOp(o, i);
      case ".cp" -> new TensorCopyOp(o, i);
      case ".commit" -> commit(o, i);
      default -> fence(first.equals(".fence::before_thread_sync"));
    };
  }

  /** How many blocks an instruction's {@code .cta_group} says take part. */
  static int blocks(Instruction i) {
    return i.has(".cta_group::2") ? 2 : 1;
  }

  /** The blocks that take part in what one of them does, the one of even rank first. */
  static List<Block> participants(Block block, int blocks) {
    if (blocks == 1) {
      return List.of(block);
    }
    Cluster cluster = block.cluster();
    return List.of(cluster.block(block.rank() & ~1), cluster.block(block.rank() | 1));
  }

  private static Op allocate(Operands o, Instruction i) {
    AddressSource to = o.address(0);
    int columns = o.source(1, PtxType.U32);
    int blocks = blocks(i);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        Block block = warp.block;
        block.requireTensorBlocks(blocks);
        int address = block.tensorMemory().allocate((int) frame.registers[columns]);
        int offset = block.shared().offset(block.own(to.of(frame, 0)), 4);
        block.shared().store(offset, 4, address, warp.actor(0), warp.pc, false);
      }
    };
  }

  private static Op free(Operands o, Instruction i) {
    int address = o.source(0, PtxType.B32);
    int columns = o.source(1, PtxType.U32);
    int blocks = blocks(i);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        warp.block.requireTensorBlocks(blocks);
        warp.block
            .tensorMemory()
            .free((int) frame.registers[address], (int) frame.registers[columns]);
      }
    };
  }

  private static Op relinquish(Instruction i) {
    int blocks = blocks(i);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        warp.block.requireTensorBlocks(blocks);
        warp.block.tensorMemory().relinquish();
      }
    };
  }

  private static Op await(boolean stores) {
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        TensorAccess.await(warp, stores);
      }
    };
  }

  private static Op fence(boolean before) {
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        Clocks clocks = warp.block.cluster().clocks();
        if (before) {
          clocks.fenceTensorBefore(warp.clusterIndex);
        } else {
          clocks.fenceTensorAfter(warp.clusterIndex);
        }
      }
    };
  }

  private static Op commit(Operands o, Instruction i) {
    AddressSource address = o.address(0);
    StateSpace space = i.space();
    int blocks = blocks(i);
    int targets = i.has(".multicast::cluster") ? o.source(1, PtxType.B16) : Operands.NOWHERE;
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        warp.block.requireTensorBlocks(blocks);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long at = Addresses.shared(address.of(frame, lane), space);
          List<Mbarrier> barriers = new ArrayList<>();
          if (targets < 0) {
            barriers.add(MbarrierOps.find(warp, lane, at, StateSpace.SHARED_CLUSTER));
          } else {
            for (int t = (int) frame.registers[targets + lane] & 0xFFFF; t != 0; t &= t - 1) {
              int rank = Integer.numberOfTrailingZeros(t);
              barriers.add(
                  MbarrierOps.find(
                      warp, lane, Addresses.inBlock(rank, at), StateSpace.SHARED_CLUSTER));
            }
          }
          if (barriers.isEmpty()) {
            throw new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, "a multicast to no block");
          }
          warp.block
              .cluster()
              .tensorQueue()
              .add(new TensorQueue.Commit(warp, lane, List.copyOf(barriers)));
        }
      }
    };
  }

  /** An address of Tensor Memory whose lane is 0, as matrices and copies need. */
  static int column(long address, String what) {
    if (TensorMemory.lane((int) address) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "%s begins with lane %d of Tensor Memory; 0 was expected"
              .formatted(what, TensorMemory.lane((int) address)));
    }
    return TensorMemory.column((int) address);
  }
}
