package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/**
 * ldmatrix, stmatrix and movmatrix (PTX ISA, "Warp-level matrix load …"): matrices of 8×8 elements
 * of 16 bits, or 8×16 of 8. Lane 8m + r gives the address of row r of matrix m.
 *
 * <pre>
 *   register m of lane l:   bits 0–15            bits 16–31
 *   as stored               row l/4, column 2·(l%4)      row l/4, column 2·(l%4) + 1
 *   .trans                  row 2·(l%4), column l/4      row 2·(l%4) + 1, column l/4
 * </pre>
 */
final class MatrixOps {
  private static final int ROW_BYTES = 16;

  private MatrixOps() {}

  private static int count(Instruction i) {
    return i.has(".x4") ? 4 : i.has(".x2") ? 2 : 1;
  }

  /**
   * How many bits the elements of a row have in memory (PTX ISA, "ldmatrix"): 16 or 8, which are
   * read as they are, or 16 packed ones of 6 or 4, behind which the row's 16 bytes are filled up.
   * Each of these comes into a byte of its own, at its low end.
   *
   * <pre>
   *   .b4x16_p64   | 8 bytes: f e d c b a 9 8 7 6 5 4 3 2 1 0 |  8 bytes, not read |
   *   .b6x16_p32   | 12 bytes: f e d c b a 9 8 7 6 5 4 3 2 1 0 |  4 bytes, not read |
   *   in a row     | 0000ffff | … | 00001111 | 00000000 |
   * </pre>
   */
  private static int packedBits(Instruction i) {
    return i.has(".b4x16_p64") ? 4 : i.has(".b6x16_p32") ? 6 : 8;
  }

  /** Four bytes of a row as they come into a register. */
  private static long bytes(MemoryAccess access, int part, int packedBits) {
    if (packedBits == 8) {
      return access.load(part * 4, 4);
    }
    long packed = 0;
    for (int b = packedBits / 2 - 1; b >= 0; b--) {
      packed = packed << 8 | access.load(part * packedBits / 2 + b, 1);
    }
    long spread = 0;
    for (int e = 3; e >= 0; e--) {
      spread = spread << 8 | (packed >>> (e * packedBits) & Bits.mask(packedBits));
    }
    return spread;
  }

  private static StateSpace space(Instruction i) {
    return i.space();
  }

  static Op load(Operands o, Instruction i) {
    int matrices = count(i);
    boolean transposed = i.has(".trans");
    int packedBits = packedBits(i);
    int[] destinations = o.destinations(0);
    AddressSource address = o.address(1);
    StateSpace space = space(i);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] elements = new long[matrices * 64];
        MemoryAccess access = new MemoryAccess(warp, frame, false);
        Traffic traffic = warp.reads.begin(ROW_BYTES);
        for (int row = 0; row < matrices * 8; row++) {
          long at = address.of(frame, row);
          StateSpace real = access.open(row, space, at, ROW_BYTES);
          requireShared(real, i);
          traffic.add(real, at);
          for (int part = 0; part < 4; part++) {
            long pair = bytes(access, part, packedBits);
            elements[row * 8 + part * 2] = pair & Bits.M16;
            elements[row * 8 + part * 2 + 1] = pair >>> 16;
          }
        }
        traffic.finish();
        for (int m = 0; m < matrices; m++) {
          for (int lane = 0; lane < 32; lane++) {
            long low = elements[m * 64 + place(lane, 0, transposed)];
            long high = elements[m * 64 + place(lane, 1, transposed)];
            if (destinations[m] >= 0) {
              frame.registers[destinations[m] + lane] = low | high << 16;
            }
          }
        }
      }
    };
  }

  private static void requireShared(StateSpace space, Instruction i) {
    if (space != StateSpace.SHARED) {
      throw new dev.minifloat.cuda.sim.internal.memory.DeviceFault(
          dev.minifloat.cuda.sim.internal.memory.DeviceFault.Kind.OUT_OF_BOUNDS,
          i.opcode() + " of an address in " + space + ", not in .shared");
    }
  }

  /** The place in an 8×8 matrix, row by row, of a lane's first or second element. */
  private static int place(int lane, int second, boolean transposed) {
    int major = lane >>> 2;
    int minor = 2 * (lane & 3) + second;
    return transposed ? minor * 8 + major : major * 8 + minor;
  }

  static Op store(Operands o, Instruction i) {
    int matrices = count(i);
    boolean transposed = i.has(".trans");
    int[] sources = o.sources(1, PtxType.B32);
    AddressSource address = o.address(0);
    StateSpace space = space(i);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] elements = new long[matrices * 64];
        for (int m = 0; m < matrices; m++) {
          for (int lane = 0; lane < 32; lane++) {
            long pair = frame.registers[sources[m] + lane];
            elements[m * 64 + place(lane, 0, transposed)] = pair & Bits.M16;
            elements[m * 64 + place(lane, 1, transposed)] = pair >>> 16;
          }
        }
        MemoryAccess access = new MemoryAccess(warp, frame, false);
        Traffic traffic = warp.writes.begin(ROW_BYTES);
        for (int row = 0; row < matrices * 8; row++) {
          long at = address.of(frame, row);
          StateSpace real = access.open(row, space, at, ROW_BYTES);
          requireShared(real, i);
          traffic.add(real, at);
          for (int part = 0; part < 4; part++) {
            int e = row * 8 + part * 2;
            access.store(part * 4, 4, elements[e] | elements[e + 1] << 16);
          }
        }
        traffic.finish();
      }
    };
  }

  static Op move(Operands o, Instruction i) {
    int destination = o.destination(0);
    int source = o.source(1, PtxType.B32);
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        long[] elements = new long[64];
        for (int lane = 0; lane < 32; lane++) {
          long pair = frame.registers[source + lane];
          elements[place(lane, 0, false)] = pair & Bits.M16;
          elements[place(lane, 1, false)] = pair >>> 16;
        }
        for (int lane = 0; lane < 32; lane++) {
          frame.registers[destination + lane] =
              elements[place(lane, 0, true)] | elements[place(lane, 1, true)] << 16;
        }
      }
    };
  }
}
