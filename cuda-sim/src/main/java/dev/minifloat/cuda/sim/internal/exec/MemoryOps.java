package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.util.List;

/** Loads, stores, atomics, asynchronous copies (PTX ISA, "Data Movement …"). */
final class MemoryOps {
  private MemoryOps() {}

  /** Accesses that other threads may make at the same time without a race. */
  private static boolean isStrong(Instruction i) {
    return i.has(".volatile") || i.has(".relaxed") || i.has(".acquire") || i.has(".release");
  }

  private static StateSpace space(Instruction i) {
    return i.opcode().equals("ldu") && i.space() == StateSpace.GENERIC
        ? StateSpace.GLOBAL
        : i.space();
  }

  static Op load(Operands o, Instruction i) {
    PtxType type = i.type();
    int bytes = type.bytes();
    boolean signed = type.isSigned();
    List<Operand> elements = o.elements(0);
    int[] destinations = o.destinations(0);
    long[] masks =
        elements.stream().mapToLong(element -> Bits.mask(Operands.bits(element))).toArray();
    AddressSource address = o.address(1);
    StateSpace space = space(i);
    boolean strong = isStrong(i);
    int total = bytes * destinations.length;
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        MemoryAccess access = new MemoryAccess(warp, frame, strong);
        Traffic traffic = warp.reads.begin(total);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long at = address.of(frame, lane);
          traffic.add(access.open(lane, space, at, total), at);
          for (int e = 0; e < destinations.length; e++) {
            long value = access.load(e * bytes, bytes);
            if (destinations[e] >= 0) {
              r[destinations[e] + lane] = signed ? Bits.signed(value, bytes * 8) & masks[e] : value;
            }
          }
        }
        traffic.finish();
      }
    };
  }

  static Op store(Operands o, Instruction i) {
    PtxType type = i.type();
    int bytes = type.bytes();
    int[] sources = o.sources(1, type);
    AddressSource address = o.address(0);
    StateSpace space = space(i);
    boolean strong = isStrong(i);
    int total = bytes * sources.length;
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        MemoryAccess access = new MemoryAccess(warp, frame, strong);
        Traffic traffic = warp.writes.begin(total);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long at = address.of(frame, lane);
          traffic.add(access.open(lane, space, at, total), at);
          for (int e = 0; e < sources.length; e++) {
            access.store(e * bytes, bytes, r[sources[e] + lane]);
          }
        }
        traffic.finish();
      }
    };
  }

  /** atom and red: lanes one after the other, in no order that a kernel may rely on. */
  static Op atomic(Operands o, Instruction i) {
    boolean returns = i.opcode().equals("atom");
    PtxType type = i.type();
    int bytes = type.bytes();
    int destination = returns ? o.destination(0) : Operands.NOWHERE;
    int at = returns ? 1 : 0;
    AddressSource address = o.address(at);
    int b = o.source(at + 1, type);
    int c = o.count() > at + 2 ? o.source(at + 2, type) : b;
    StateSpace space = i.space();
    LaneOps.Ternary function = AtomicFunctions.of(i);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        MemoryAccess access = new MemoryAccess(warp, frame, true);
        Traffic traffic = warp.writes.begin(bytes);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long where = address.of(frame, lane);
          traffic.add(access.open(lane, space, where, bytes), where);
          long old = access.load(0, bytes);
          access.store(0, bytes, function.apply(old, r[b + lane], r[c + lane]));
          if (destination >= 0) {
            r[destination + lane] = old;
          }
        }
        traffic.finish();
      }
    };
  }

  /** Instructions that change nothing that a program can see here: prefetches, fences. */
  static Op nothing() {
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {}
    };
  }

  static Op asynchronous(Operands o, Instruction i) {
    if (i.has(".bulk")) {
      return BulkCopyOps.decode(o, i);
    }
    if (i.has(".mbarrier")) {
      return MbarrierOps.arriveAfterCopies(o, i);
    }
    if (i.has(".commit_group")) {
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.copies.commit(mask);
        }
      };
    }
    if (i.has(".wait_group")) {
      int pending = (int) o.constant(0);
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.copies.await(mask, pending);
        }
      };
    }
    if (i.has(".wait_all")) {
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.copies.finish(mask);
        }
      };
    }
    return copy(o, i);
  }

  private static Op copy(Operands o, Instruction i) {
    AddressSource to = o.address(0);
    AddressSource from = o.address(1);
    int bytes = (int) o.constant(2);
    if (bytes != 16 && (i.has(".cg") || (bytes != 4 && bytes != 8))) {
      throw new dev.minifloat.cuda.sim.internal.ptx.PtxException(
          o.get(2).position(),
          "'%s' copies %s bytes, not %d"
              .formatted(i.name(), i.has(".cg") ? "16" : "4, 8 or 16", bytes));
    }
    int size = o.isPresent(3) ? o.source(3, PtxType.U32) : Operands.NOWHERE;
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        SharedMemory shared = warp.block.shared();
        RaceDetector races = shared.races();
        Traffic read = warp.reads.begin(bytes);
        Traffic write = warp.writes.begin(bytes);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          long source = from.of(frame, lane);
          int sourceBytes = size < 0 ? bytes : (int) frame.registers[size + lane];
          if (sourceBytes < 0 || sourceBytes > bytes) {
            throw new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "a copy of %d bytes from %d bytes".formatted(bytes, sourceBytes));
          }
          if ((source & (bytes - 1)) != 0) {
            throw new DeviceFault(
                DeviceFault.Kind.MISALIGNED,
                "address 0x%x is no multiple of the copy's %d bytes".formatted(source, bytes));
          }
          if (sourceBytes > 0) {
            Allocation allocation = warp.block.launch().memory().require(source, 1);
            allocation.offset(source, sourceBytes);
            read.add(StateSpace.GLOBAL, source);
          }
          int offset = shared.offset(warp.block.own(to.of(frame, lane)), bytes);
          write.add(StateSpace.SHARED, offset);
          if (races != null) {
            races.takeOff(offset, bytes, warp.actor(lane), warp.pc);
          }
          warp.copies.add(lane, offset, source, bytes, sourceBytes, warp.pc);
        }
        read.finish();
        write.finish();
      }
    };
  }

  static Op convertAddress(Operands o, Instruction i) {
    StateSpace space = i.space();
    long window = Addresses.window(space);
    long mask = Bits.mask(i.type().bits());
    int source = o.source(1, i.type());
    LaneOps.Unary function = i.has(".to") ? a -> a - window & mask : a -> a + window & mask;
    return LaneOps.unary(o.destination(0), source, function);
  }

  static Op isSpace(Operands o, Instruction i) {
    StateSpace space = i.space();
    int source = o.source(1, PtxType.U64);
    int destination = o.predicateDestination(0);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        int holds = LaneOps.compare(frame.registers, source, source, mask, (a, _) -> lies(warp, a));
        Operands.setPredicate(frame, destination, mask, holds);
      }

      private boolean lies(Warp warp, long address) {
        StateSpace found = Addresses.space(address);
        if (found == StateSpace.SHARED && space != StateSpace.LOCAL) {
          int rank = Addresses.rank(address - Addresses.SHARED_WINDOW);
          return space == StateSpace.SHARED
              ? rank == warp.block.rank()
              : space == StateSpace.SHARED_CLUSTER && rank < warp.block.cluster().size();
        }
        if (space != StateSpace.CONST) {
          return found == space;
        }
        Allocation allocation = warp.block.launch().memory().at(address);
        return found == StateSpace.GLOBAL && allocation != null && allocation.isReadOnly();
      }
    };
  }
}
