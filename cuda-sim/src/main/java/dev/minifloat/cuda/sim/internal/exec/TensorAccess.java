package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * tcgen05.ld and tcgen05.st: cells of Tensor Memory and registers of a warp (PTX ISA,
 * "tcgen05.ld"). They happen when the warp waits for them. Register r of lane t holds
 *
 * <pre>
 *   .32x32b     lane t                      column r
 *   .16x128b    lane t / 4 + 8·(r % 2)      column 4·(r / 2) + t % 4
 *   .16x256b    lane t / 4 + 8·(r / 2 % 2)  column 8·(r / 4) + 2·(t % 4) + r % 2
 * </pre>
 *
 * <p>With {@code .pack::16b} or {@code .unpack::16b} the low halves of columns 2·c and 2·c + 1.
 */
final class TensorAccess {
  private final Shape shape;
  private final Frame frame;
  private final int address;
  private final long[] stored;

  private TensorAccess(Shape shape, Frame frame, int address, long[] stored) {
    this.shape = shape;
    this.frame = frame;
    this.address = address;
    this.stored = stored;
  }

  /**
   * What an instruction says.
   *
   * @param lanes of Tensor Memory
   * @param registers their offsets
   * @param packs whether registers hold two columns
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Shape(int lanes, int registersOfUnit, int[] registers, boolean packs) {
    static Shape of(Instruction i, int[] registers) {
      int unit = i.has(".16x128b") ? 2 : i.has(".16x256b") ? 4 : 1;
      boolean packs = i.has(".pack::16b") || i.has(".unpack::16b");
      return new Shape(unit == 1 ? 32 : 16, unit, registers, packs);
    }

    int lane(int thread, int register) {
      return registersOfUnit == 1
          ? thread
          : thread / 4 + 8 * (registersOfUnit == 2 ? register & 1 : register >>> 1 & 1);
    }

    int column(int thread, int register) {
      int column =
          switch (registersOfUnit) {
            case 1 -> register;
            case 2 -> 4 * (register / 2) + thread % 4;
            default -> 8 * (register / 4) + 2 * (thread % 4) + register % 2;
          };
      return packs ? 2 * column : column;
    }

    int columns() {
      int columns = registersOfUnit == 1 ? registers.length : 2 * registers.length;
      return packs ? 2 * columns : columns;
    }
  }

  static Op load(Operands o, Instruction i) {
    AddressSource address = o.address(1);
    Shape shape = Shape.of(i, o.destinations(0));
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        int at = start(warp, frame, address, shape, false);
        warp.watch.load(frame, wanted(shape.registers));
        warp.tensorAccesses.add(new TensorAccess(shape, frame, at, null));
      }
    };
  }

  static Op store(Operands o, Instruction i) {
    AddressSource address = o.address(0);
    Shape shape = Shape.of(i, o.sources(1, PtxType.B32));
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        int at = start(warp, frame, address, shape, true);
        long[] values = new long[shape.registers.length * 32];
        for (int r = 0; r < shape.registers.length; r++) {
          System.arraycopy(frame.registers, shape.registers[r], values, r * 32, 32);
        }
        warp.tensorAccesses.add(new TensorAccess(shape, frame, at, values));
      }
    };
  }

  private static int[] wanted(int[] registers) {
    return java.util.Arrays.stream(registers).filter(offset -> offset >= 0).toArray();
  }

  /** The address that all lanes give, its cells being those that the warp may reach. */
  private static int start(
      Warp warp, Frame frame, AddressSource address, Shape shape, boolean writes) {
    int at = (int) address.of(frame, 0);
    for (int lane = 1; lane < 32; lane++) {
      if ((int) address.of(frame, lane) != at) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "lanes 0 and %d give different addresses of Tensor Memory".formatted(lane));
      }
    }
    int quarter = warp.index % 4;
    int first = TensorMemory.lane(at) - quarter * TensorMemory.QUARTER;
    if (first != 0 && (first != 16 || shape.lanes != 16)) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "lanes from %d on of Tensor Memory; warp %d reaches %d to %d"
              .formatted(
                  TensorMemory.lane(at),
                  warp.index,
                  quarter * TensorMemory.QUARTER,
                  quarter * TensorMemory.QUARTER + TensorMemory.QUARTER - 1));
    }
    TensorMemory memory = warp.block.tensorMemory();
    int column = TensorMemory.column(at);
    memory.requireAllocated(column, shape.columns(), writes ? "a store" : "a load");
    memory.access(quarter, column, shape.columns(), writes, warp.clusterIndex, warp.pc);
    return at;
  }

  /** tcgen05.wait: lets a warp's loads, or its stores, happen. */
  static void await(Warp warp, boolean stores) {
    TensorMemory memory = warp.block.tensorMemory();
    for (TensorAccess access : warp.tensorAccesses) {
      if ((access.stored != null) == stores) {
        access.happen(warp, memory);
      }
    }
    warp.tensorAccesses.removeIf(access -> (access.stored != null) == stores);
  }

  private void happen(Warp warp, TensorMemory memory) {
    int firstLane = TensorMemory.lane(address);
    int firstColumn = TensorMemory.column(address);
    for (int r = 0; r < shape.registers.length; r++) {
      for (int thread = 0; thread < 32; thread++) {
        int lane = firstLane + shape.lane(thread, r);
        int column = firstColumn + shape.column(thread, r);
        if (stored == null) {
          load(memory, lane, column, shape.registers[r], thread);
        } else {
          int value = (int) stored[32 * r + thread];
          memory.set(lane, column, shape.packs ? value & 0xFFFF : value);
          if (shape.packs) {
            memory.set(lane, column + 1, value >>> 16);
          }
        }
      }
    }
    if (stored == null) {
      warp.watch.loaded(frame, wanted(shape.registers));
    }
  }

  private void load(TensorMemory memory, int lane, int column, int register, int thread) {
    if (register < 0) {
      return;
    }
    long value = memory.get(lane, column) & Bits.M32;
    if (shape.packs) {
      value = (value & Bits.M16) | (memory.get(lane, column + 1) & Bits.M16) << 16;
    }
    frame.registers[register + thread] = value;
  }
}
