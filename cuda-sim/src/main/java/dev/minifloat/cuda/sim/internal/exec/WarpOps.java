package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** Exchange among the lanes of a warp: shfl, vote, match, redux, elect, activemask. */
final class WarpOps {
  private WarpOps() {}

  /** shfl.sync (PTX ISA, "shfl.sync"): c holds a clamp in bits 0–4 and a segment mask in 8–12. */
  static Op shuffle(Operands o, Instruction i) {
    String mode = i.oneOf(".up", ".down", ".bfly", ".idx");
    int destination = o.destination(0);
    int predicate = o.predicateOfPair(0);
    int a = o.source(1, PtxType.B32);
    int b = o.source(2, PtxType.U32);
    int c = o.source(3, PtxType.U32);
    int mask = o.source(4, PtxType.U32);
    return new SyncOp(mask) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] r = frame.registers;
        long[] given = new long[32];
        System.arraycopy(r, a, given, 0, 32);
        int inRange = 0;
        for (int m = lanes; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          int from = from(mode, lane, (int) r[b + lane] & 31, (int) r[c + lane]);
          if (from >= 0) {
            inRange |= 1 << lane;
          } else {
            from = lane;
          }
          if (destination >= 0) {
            // A lane outside the mask gives no defined value; zero shows it.
            r[destination + lane] = (lanes >>> from & 1) != 0 ? given[from] : 0;
          }
        }
        Operands.setPredicate(frame, predicate, lanes, inRange);
      }
    };
  }

  /** The lane that a lane reads; −1 if it lies outside the segment. */
  private static int from(String mode, int lane, int b, int c) {
    int clamp = c & 31;
    int segment = c >>> 8 & 31;
    int least = lane & segment;
    int most = least | (clamp & ~segment);
    return switch (mode) {
      case ".up" -> lane - b >= most ? lane - b : -1;
      case ".down" -> lane + b <= most ? lane + b : -1;
      case ".bfly" -> (lane ^ b) <= most ? lane ^ b : -1;
      case ".idx" -> (least | (b & ~segment)) <= most ? least | (b & ~segment) : -1;
      default -> throw new IllegalStateException("shfl" + mode);
    };
  }

  static Op vote(Operands o, Instruction i) {
    boolean ballot = i.has(".ballot");
    int destination = ballot ? o.destination(0) : Operands.NOWHERE;
    int predicate = ballot ? Operands.NOWHERE : o.predicateDestination(0);
    PredicateSource source = o.predicateSource(1);
    String mode = i.oneOf(".all", ".any", ".uni", ".ballot");
    return new SyncOp(o.source(2, PtxType.U32)) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        int yes = source.lanes(frame) & lanes;
        boolean holds =
            switch (mode) {
              case ".all" -> yes == lanes;
              case ".any" -> yes != 0;
              case ".uni" -> yes == lanes || yes == 0;
              default -> false;
            };
        Operands.setPredicate(frame, predicate, lanes, holds ? -1 : 0);
        for (int m = destination < 0 ? 0 : lanes; m != 0; m &= m - 1) {
          frame.registers[destination + Integer.numberOfTrailingZeros(m)] = yes & Bits.M32;
        }
      }
    };
  }

  static Op match(Operands o, Instruction i) {
    int destination = o.destination(0);
    int predicate = o.predicateOfPair(0);
    int a = o.source(1, i.type());
    boolean all = i.has(".all");
    return new SyncOp(o.source(2, PtxType.U32)) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] r = frame.registers;
        boolean everywhere = true;
        for (int m = lanes; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          int same = 0;
          for (int n = lanes; n != 0; n &= n - 1) {
            int other = Integer.numberOfTrailingZeros(n);
            same |= r[a + other] == r[a + lane] ? 1 << other : 0;
          }
          everywhere &= same == lanes;
          if (destination >= 0 && !all) {
            r[destination + lane] = same & Bits.M32;
          }
        }
        for (int m = all && destination >= 0 ? lanes : 0; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          r[destination + lane] = everywhere ? lanes & Bits.M32 : 0;
        }
        Operands.setPredicate(frame, predicate, lanes, everywhere ? -1 : 0);
      }
    };
  }

  static Op reduce(Operands o, Instruction i) {
    int destination = o.destination(0);
    PtxType type = i.type();
    int a = o.source(1, type);
    boolean signed = type.isSigned();
    String operation = i.oneOf(".add", ".min", ".max", ".and", ".or", ".xor");
    return new SyncOp(o.source(2, PtxType.U32)) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] r = frame.registers;
        int first = Integer.numberOfTrailingZeros(lanes);
        long result = Bits.read(r[a + first], 32, signed);
        for (int m = lanes & lanes - 1; m != 0; m &= m - 1) {
          long value = Bits.read(r[a + Integer.numberOfTrailingZeros(m)], 32, signed);
          result =
              switch (operation) {
                case ".add" -> result + value;
                case ".min" -> Math.min(result, value);
                case ".max" -> Math.max(result, value);
                case ".and" -> result & value;
                case ".or" -> result | value;
                case ".xor" -> result ^ value;
                default -> throw Operands.unsupported(i);
              };
        }
        for (int m = lanes; m != 0; m &= m - 1) {
          r[destination + Integer.numberOfTrailingZeros(m)] = result & Bits.M32;
        }
      }
    };
  }

  /** elect.sync: the lowest lane of the mask is the one. */
  static Op elect(Operands o) {
    int destination = o.destination(0);
    int predicate = o.predicateOfPair(0);
    return new SyncOp(o.source(1, PtxType.U32)) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        int leader = Integer.numberOfTrailingZeros(lanes);
        Operands.setPredicate(frame, predicate, lanes, 1 << leader);
        for (int m = destination < 0 ? 0 : lanes; m != 0; m &= m - 1) {
          frame.registers[destination + Integer.numberOfTrailingZeros(m)] = leader;
        }
      }
    };
  }

  static Op activeMask(Operands o) {
    int destination = o.destination(0);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          frame.registers[destination + Integer.numberOfTrailingZeros(m)] = mask & Bits.M32;
        }
      }
    };
  }
}
