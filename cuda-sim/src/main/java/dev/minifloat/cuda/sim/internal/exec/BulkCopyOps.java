package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.util.ArrayList;
import java.util.List;

/** cp.async.bulk, cp.async.bulk.tensor and what belongs to them (PTX ISA, "cp.async.bulk" …). */
final class BulkCopyOps {
  private static final int UNIT = 16;

  private BulkCopyOps() {}

  static Op decode(Operands o, Instruction i) {
    if (i.has(".commit_group")) {
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.block.cluster().copies().commit(warp, mask);
        }
      };
    }
    if (i.has(".wait_group")) {
      int pending = (int) o.constant(0);
      boolean read = i.has(".read");
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.block.cluster().copies().await(warp, mask, pending, read);
        }
      };
    }
    boolean tensor = i.has(".tensor");
    if (i.has(".prefetch")) {
      return tensor ? prefetch(new Tensor(o, 0)) : MemoryOps.nothing();
    }
    return i.has(".bulk_group") ? store(o, tensor) : load(o, i, tensor);
  }

  /** An operand such as {@code [map, {x, y}]}. */
  private static final class Tensor {
    private final AddressSource address;
    private final int[] coordinates;

    Tensor(Operands o, int index) {
      address = o.address(index);
      Operand.Vector given = ((Operand.Address) o.get(index)).coordinates();
      coordinates =
          given.elements().stream()
              .mapToInt(element -> o.decoder().source(element, PtxType.S32))
              .toArray();
    }

    GlobalSide.Box box(Warp warp, Frame frame, int lane) {
      TensorMap map = map(warp, frame, lane, address.of(frame, lane));
      if (map.rank() != coordinates.length) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "%d coordinates for a tensor map of rank %d".formatted(coordinates.length, map.rank()));
      }
      int[] at = new int[coordinates.length];
      for (int d = 0; d < at.length; d++) {
        at[d] = (int) frame.registers[coordinates[d] + lane];
      }
      return new GlobalSide.Box(map, at);
    }
  }

  /** The tensor map at a generic address. */
  static TensorMap map(Warp warp, Frame frame, int lane, long address) {
    warp.lane = lane;
    if (address % 64 != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "a tensor map at 0x%x, which is no multiple of 64 bytes".formatted(address));
    }
    // The address of a parameter may be given as it is in its own space.
    long generic =
        address < Addresses.SHARED_WINDOW && address >= Addresses.KERNEL_PARAMETERS
            ? address + Addresses.PARAM_WINDOW
            : address;
    MemoryAccess access = new MemoryAccess(warp, frame, false);
    byte[] bytes = new byte[TensorMap.BYTES];
    for (int at = 0; at < bytes.length; at += 8) {
      access.open(lane, StateSpace.GENERIC, generic + at, 8);
      Bytes.put(bytes, at, 8, access.load(0, 8));
    }
    TensorMap map = TensorMap.decode(bytes);
    if (map == null) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "no tensor map stands at 0x%x: cuTensorMapEncodeTiled makes them".formatted(address));
    }
    return map;
  }

  private static Op prefetch(Tensor tensor) {
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          tensor.box(warp, frame, Integer.numberOfTrailingZeros(m));
        }
      }
    };
  }

  /** prefetch.tensormap. */
  static Op prefetchMap(Operands o) {
    AddressSource address = o.address(0);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          map(warp, frame, lane, address.of(frame, lane));
        }
      }
    };
  }

  private static int size(Frame frame, int lane, int register) {
    long size = frame.registers[register + lane];
    if (size % UNIT != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "a bulk copy of %d bytes; a multiple of 16 was expected".formatted(size));
    }
    return (int) size;
  }

  private static GlobalSide run(long address, int bytes) {
    if (address % UNIT != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "global address 0x%x is no multiple of a bulk copy's 16 bytes".formatted(address));
    }
    return new GlobalSide.Run(address, bytes);
  }

  private static Op load(Operands o, Instruction i, boolean tensor) {
    StateSpace space = i.space();
    boolean fromShared = i.has(".shared::cluster") && i.has(".shared::cta");
    AddressSource to = o.address(0);
    Tensor map = tensor ? new Tensor(o, 1) : null;
    AddressSource from = o.address(1);
    int bytes = tensor ? Operands.NOWHERE : o.source(2, PtxType.U32);
    int at = tensor ? 2 : 3;
    boolean pair = i.has(".cta_group::2");
    AddressSource barrier = o.address(at);
    int blocks = i.has(".multicast::cluster") ? o.source(at + 1, PtxType.B16) : Operands.NOWHERE;
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          GlobalSide side = null;
          int source = 0;
          int size;
          long target = Addresses.shared(to.of(frame, lane), space);
          if (tensor) {
            GlobalSide.Box box = map.box(warp, frame, lane);
            box.checkShared((int) Addresses.offset(target));
            side = box;
            size = box.bytes();
          } else {
            size = size(frame, lane, bytes);
            if (fromShared) {
              long own = warp.block.own(from.of(frame, lane));
              source = warp.block.shared().range(own, size, UNIT);
            } else {
              side = run(from.of(frame, lane), size);
            }
          }
          if (side != null) {
            side.check(warp.block.launch().memory());
          }
          long count = Addresses.shared(barrier.of(frame, lane), space);
          List<BulkCopies.Target> targets =
              blocks < 0
                  ? List.of(one(warp, lane, target, count, size, space, pair))
                  : several(
                      warp, lane, target, count, size, (int) frame.registers[blocks + lane], pair);
          warp.block.cluster().copies().load(warp, lane, side, source, size, targets);
        }
      }
    };
  }

  private static BulkCopies.Target one(
      Warp warp, int lane, long target, long barrier, int size, StateSpace space, boolean pair) {
    Block block = warp.block.holder(target, space);
    int offset = block.shared().range(Addresses.offset(target), size, UNIT);
    Mbarrier found = MbarrierOps.find(warp, lane, barrier, space);
    boolean peer = pair && (found.block().rank() ^ 1) == block.rank();
    if (found.block() != block && !peer) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "the copy goes to block %s, its mbarrier lies in block %s"
              .formatted(block.place(), found.block().place()));
    }
    return new BulkCopies.Target(block, offset, found);
  }

  /** The same offsets in each block of a mask. */
  private static List<BulkCopies.Target> several(
      Warp warp, int lane, long target, long barrier, int size, int blocks, boolean pair) {
    List<BulkCopies.Target> targets = new ArrayList<>();
    for (int m = blocks & 0xFFFF; m != 0; m &= m - 1) {
      int rank = Integer.numberOfTrailingZeros(m);
      targets.add(
          one(
              warp,
              lane,
              Addresses.inBlock(rank, target),
              // The pair's barrier is in the block of the parity that was named.
              Addresses.inBlock(pair ? (rank & ~1) | (Addresses.rank(barrier) & 1) : rank, barrier),
              size,
              StateSpace.SHARED_CLUSTER,
              pair));
    }
    if (targets.isEmpty()) {
      throw new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, "a multicast to no block");
    }
    return targets;
  }

  private static Op store(Operands o, boolean tensor) {
    Tensor map = tensor ? new Tensor(o, 0) : null;
    AddressSource to = o.address(0);
    AddressSource from = o.address(1);
    int bytes = tensor ? Operands.NOWHERE : o.source(2, PtxType.U32);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          long source = warp.block.own(from.of(frame, lane));
          GlobalSide side;
          if (tensor) {
            GlobalSide.Box box = map.box(warp, frame, lane);
            box.checkShared((int) source);
            side = box;
          } else {
            side = run(to.of(frame, lane), size(frame, lane, bytes));
          }
          side.check(warp.block.launch().memory());
          int offset = warp.block.shared().range(source, side.bytes(), UNIT);
          warp.block.cluster().copies().store(warp, lane, side, offset);
        }
      }
    };
  }
}
