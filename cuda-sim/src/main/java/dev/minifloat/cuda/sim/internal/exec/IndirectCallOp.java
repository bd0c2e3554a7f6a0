package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import java.util.HashMap;
import java.util.Map;

/**
 * A call through an address (PTX ISA, "call", ".callprototype"): function pointers and virtual
 * functions. Lanes with one address go together; the others stay at the call until their turn.
 */
final class IndirectCallOp extends Op implements Caller {
  private final int address;
  private final Map<Long, CallOp> byAddress;
  private final Map<String, CallOp> byName;

  private IndirectCallOp(int address, Map<Long, CallOp> byAddress, Map<String, CallOp> byName) {
    this.address = address;
    this.byAddress = byAddress;
    this.byName = byName;
  }

  static Op decode(Operands o) {
    Operand.Reg register = (Operand.Reg) o.get(1);
    Operand.Prototype prototype = (Operand.Prototype) o.get(3);
    Map<Long, CallOp> byAddress = new HashMap<>();
    Map<String, CallOp> byName = new HashMap<>();
    o.decoder()
        .reachable(prototype.prototype())
        .forEach(
            (at, function) -> {
              CallOp call = CallOp.of(o, function, register.position());
              byAddress.put(at, call);
              byName.put(function.name(), call);
            });
    return new IndirectCallOp(o.source(1, PtxType.U64), byAddress, byName);
  }

  @Override
  void step(Warp warp) {
    int mask = guarded(warp);
    if (mask == 0) {
      warp.pc++;
      return;
    }
    long[] registers = warp.frame.registers;
    warp.lane = Integer.numberOfTrailingZeros(mask);
    long wanted = registers[address + warp.lane];
    CallOp call = byAddress.get(wanted);
    if (call == null) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "0x%x is not the address of a function with this prototype".formatted(wanted));
    }
    int same = 0;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      same |= registers[address + lane] == wanted ? 1 << lane : 0;
    }
    int here = warp.pc;
    call.call(warp, same);
    warp.setPlace(mask & ~same, here);
  }

  @Override
  public void giveBack(Frame from, Frame caller, int lane) {
    byName.get(from.code.code().function().name()).giveBack(from, caller, lane);
  }
}
