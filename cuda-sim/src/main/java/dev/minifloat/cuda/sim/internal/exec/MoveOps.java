package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import java.util.List;

/** mov: copies, packs and unpacks (PTX ISA, "mov"). */
final class MoveOps {
  private MoveOps() {}

  static Op move(Operands o, Instruction i) {
    PtxType type = i.type();
    if (type == PtxType.PRED) {
      int destination = o.predicateDestination(0);
      PredicateSource source = o.predicateSource(1);
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          Operands.setPredicate(frame, destination, mask, source.lanes(frame));
        }
      };
    }
    if (o.get(0) instanceof Operand.Vector) {
      return unpack(o, type);
    }
    if (o.get(1) instanceof Operand.Vector) {
      return pack(o, type);
    }
    return LaneOps.unary(o.destination(0), o.source(1, type), a -> a);
  }

  /** What nobody looks into: the same value always. */
  static Op constant(Operands o, int index) {
    return LaneOps.unary(o.destination(index), o.destination(index), _ -> 0);
  }

  private static PtxType part(PtxType type, int count) {
    int bits = type.bits() / count;
    return bits == 8 ? PtxType.B8 : bits == 16 ? PtxType.B16 : PtxType.B32;
  }

  private static Op unpack(Operands o, PtxType type) {
    int[] destinations = o.destinations(0);
    int bits = type.bits() / destinations.length;
    int source = packedSource(o, type, destinations.length);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long value = r[source + lane];
          for (int e = 0; e < destinations.length; e++) {
            if (destinations[e] >= 0) {
              r[destinations[e] + lane] = value >>> (e * bits) & Bits.mask(bits);
            }
          }
        }
      }
    };
  }

  private static int packedSource(Operands o, PtxType type, int count) {
    if (o.get(1) instanceof Operand.Vector) {
      throw new dev.minifloat.cuda.sim.internal.ptx.PtxException(
          o.get(1).position(),
          "a vector of " + count + " is moved to a vector; one side has to be a register");
    }
    return o.source(1, type);
  }

  private static Op pack(Operands o, PtxType type) {
    List<Operand> elements = o.elements(1);
    int[] sources = o.sources(1, part(type, elements.size()));
    int bits = type.bits() / sources.length;
    int destination = o.destination(0);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          long value = 0;
          for (int e = 0; e < sources.length; e++) {
            value |= r[sources[e] + lane] << (e * bits);
          }
          r[destination + lane] = value;
        }
      }
    };
  }

  /** Logic on predicates. */
  static Op predicateLogic(Operands o, Instruction i) {
    int destination = o.predicateDestination(0);
    PredicateSource a = o.predicateSource(1);
    PredicateSource b = o.isPresent(2) ? o.predicateSource(2) : a;
    String opcode = i.opcode();
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        int x = a.lanes(frame);
        int y = b.lanes(frame);
        int result =
            switch (opcode) {
              case "and" -> x & y;
              case "or" -> x | y;
              case "xor" -> x ^ y;
              case "not" -> ~x;
              default -> throw Operands.unsupported(i);
            };
        Operands.setPredicate(frame, destination, mask, result);
      }
    };
  }
}
