package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/**
 * One lane's access to memory in whichever space: first {@link #open}, then its elements. One for
 * each warp instruction, used again for each lane.
 */
final class MemoryAccess {
  private final Warp warp;
  private final Frame frame;
  private final boolean check;
  private final boolean atomic;
  private int lane;
  private StateSpace space;
  private Block holder;
  private Allocation allocation;
  private int offset;

  MemoryAccess(Warp warp, Frame frame, boolean atomic) {
    this.warp = warp;
    this.frame = frame;
    this.atomic = atomic;
    this.check = warp.block.launch().options().checkInitialized();
  }

  /** Finds and checks an address; returns the space in which it really lies. */
  StateSpace open(int forLane, StateSpace stated, long address, int bytes) {
    lane = forLane;
    warp.lane = forLane;
    space = stated;
    long at = address;
    if (stated == StateSpace.GENERIC) {
      space = Addresses.space(address);
      at = address - Addresses.window(space);
    }
    switch (space) {
      case GLOBAL, CONST -> {
        allocation = warp.block.launch().memory().require(at, bytes);
        offset = allocation.offset(at, bytes);
        if (space == StateSpace.CONST && !allocation.isReadOnly()) {
          throw new DeviceFault(
              DeviceFault.Kind.OUT_OF_BOUNDS,
              "address 0x%x is not one of a constant".formatted(at));
        }
      }
      case SHARED, SHARED_CLUSTER -> {
        holder = warp.block.holder(at, space == stated ? stated : StateSpace.SHARED_CLUSTER);
        offset = holder.shared().offset(Addresses.offset(at), bytes);
        space = StateSpace.SHARED;
      }
      case LOCAL -> {
        warp.local.checkAccess(lane, at, bytes);
        offset = (int) at;
      }
      case PARAM -> offset = parameter(at, bytes);
      case GENERIC -> throw new IllegalStateException("a generic address in no space");
    }
    return space;
  }

  private int parameter(long address, int bytes) {
    long at = address;
    int length = frame.code.code().parameterBytes();
    if (address >= Addresses.KERNEL_PARAMETERS) {
      at = address - Addresses.KERNEL_PARAMETERS;
      length = warp.block.launch().parameters().length;
    }
    if (at < 0 || at + bytes > length) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at parameter address 0x%x don't lie within %d bytes"
              .formatted(bytes, at, length));
    }
    if ((at & (bytes - 1)) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "parameter address 0x%x is no multiple of the access's %d bytes".formatted(at, bytes));
    }
    return (int) address;
  }

  long load(int at, int bytes) {
    return switch (space) {
      case GLOBAL, CONST -> allocation.load(offset + at, bytes, check);
      case SHARED -> {
        SharedMemory shared = holder.shared();
        yield shared.load(offset + at, bytes, warp.actor(lane), warp.pc, atomic);
      }
      case LOCAL -> warp.local.load(lane, offset + at, bytes);
      case PARAM -> {
        boolean kernel = offset >= Addresses.KERNEL_PARAMETERS;
        byte[] from = kernel ? warp.block.launch().parameters() : frame.parameters;
        int base =
            kernel
                ? offset - Addresses.KERNEL_PARAMETERS
                : offset + lane * frame.code.code().parameterBytes();
        yield Bytes.get(from, base + at, bytes);
      }
      case GENERIC, SHARED_CLUSTER ->
          throw new IllegalStateException("an address in no space of its own");
    };
  }

  void store(int at, int bytes, long value) {
    switch (space) {
      case GLOBAL, CONST -> allocation.store(offset + at, bytes, value);
      case SHARED -> {
        SharedMemory shared = holder.shared();
        shared.store(offset + at, bytes, value, warp.actor(lane), warp.pc, atomic);
      }
      case LOCAL -> warp.local.store(lane, offset + at, bytes, value);
      case PARAM -> {
        if (offset >= Addresses.KERNEL_PARAMETERS) {
          throw new DeviceFault(
              DeviceFault.Kind.READ_ONLY, "a kernel can't write to its parameters");
        }
        int base = offset + lane * frame.code.code().parameterBytes();
        Bytes.put(frame.parameters, base + at, bytes, value);
      }
      case GENERIC, SHARED_CLUSTER ->
          throw new IllegalStateException("an address in no space of its own");
    }
  }
}
