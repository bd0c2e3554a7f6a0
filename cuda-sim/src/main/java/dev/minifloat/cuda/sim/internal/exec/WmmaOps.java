package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/**
 * wmma.load, wmma.store and wmma.mma (PTX ISA, "Warp-level matrix load, store and multiply …
 * wmma"). Which lane holds what is left open by PTX; {@link WmmaFragment} has it.
 */
final class WmmaOps {
  /**
   * A matrix begins at a multiple of this (CUDA C++ Programming Guide, "Warp Matrix Functions").
   */
  private static final int ALIGNMENT = 32;

  /** Rows, or columns, begin at multiples of this, shorter ones at multiples of their length. */
  private static final int STRIDE_ALIGNMENT = 16;

  private WmmaOps() {}

  static Op decode(Operands o, Instruction i) {
    return switch (i.oneOf(".load", ".store", ".mma")) {
      case ".load" -> load(o, i);
      case ".store" -> store(o, i);
      default -> new WmmaProduct(o, i);
    };
  }

  private static Op load(Operands o, Instruction i) {
    WmmaFragment fragment =
        WmmaFragment.of(i, i.oneOf(".a", ".b", ".c").charAt(1), i.type(), o.elements(0).size());
    int[] destinations = o.destinations(0);
    AddressSource address = o.address(1);
    int stride = o.isPresent(2) ? o.source(2, PtxType.U32) : Operands.NOWHERE;
    StateSpace space = i.space();
    boolean columns = i.has(".col");
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        Place place = place(warp, frame, address, stride, fragment, columns);
        MemoryAccess access = new MemoryAccess(warp, frame, false);
        long[][] values = new long[32][fragment.perLane()];
        for (int s = 0; s < fragment.perLane(); s++) {
          Traffic traffic = warp.reads.begin(fragment.bytes());
          for (int lane = 0; lane < 32; lane++) {
            long at = place.address(fragment, fragment.element(lane, s));
            traffic.add(access.open(lane, space, at, fragment.bytes()), at);
            values[lane][s] = access.load(0, fragment.bytes());
          }
          traffic.finish();
        }
        for (int lane = 0; lane < 32; lane++) {
          fragment.put(frame.registers, destinations, lane, values[lane]);
        }
      }
    };
  }

  private static Op store(Operands o, Instruction i) {
    WmmaFragment fragment = WmmaFragment.of(i, 'c', i.type(), o.elements(1).size());
    int[] sources = o.sources(1, WmmaFragment.held(i.type()));
    AddressSource address = o.address(0);
    int stride = o.isPresent(2) ? o.source(2, PtxType.U32) : Operands.NOWHERE;
    StateSpace space = i.space();
    boolean columns = i.has(".col");
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        Place place = place(warp, frame, address, stride, fragment, columns);
        MemoryAccess access = new MemoryAccess(warp, frame, false);
        for (int s = 0; s < fragment.perLane(); s++) {
          Traffic traffic = warp.writes.begin(fragment.bytes());
          for (int lane = 0; lane < 32; lane++) {
            long at = place.address(fragment, fragment.element(lane, s));
            traffic.add(access.open(lane, space, at, fragment.bytes()), at);
            access.store(0, fragment.bytes(), fragment.get(frame.registers, sources, lane, s));
          }
          traffic.finish();
        }
      }
    };
  }

  /**
   * Where a matrix lies.
   *
   * @param stride elements from one row, or column, to the next
   * @param columns whether columns lie together
   */
  private record Place(long base, long stride, boolean columns) {
    long address(WmmaFragment fragment, int element) {
      long row = element / fragment.columns();
      long column = element % fragment.columns();
      return base + (columns ? column * stride + row : row * stride + column) * fragment.bytes();
    }
  }

  private static Place place(
      Warp warp,
      Frame frame,
      AddressSource address,
      int stride,
      WmmaFragment fragment,
      boolean columns) {
    long base = address.of(frame, 0);
    int tight = columns ? fragment.rows() : fragment.columns();
    long step = stride < 0 ? tight : frame.registers[stride];
    for (int lane = 1; lane < 32; lane++) {
      warp.lane = lane;
      boolean same =
          address.of(frame, lane) == base && (stride < 0 || frame.registers[stride + lane] == step);
      if (!same) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "lanes of one warp give a matrix different addresses or strides");
      }
    }
    warp.lane = 0;
    if (base % ALIGNMENT != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "a matrix at 0x%x, which is no multiple of %d bytes".formatted(base, ALIGNMENT));
    }
    int aligned = Math.min(STRIDE_ALIGNMENT, tight * fragment.bytes());
    if (step * fragment.bytes() % aligned != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "a stride of %d elements, which are no multiple of %d bytes".formatted(step, aligned));
    }
    return new Place(base, step, columns);
  }
}
