package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a warp holds a matrix of {@code wmma}. PTX says how many registers there are and leaves open
 * what is in them; here elements go to the lanes row by row:
 *
 * <pre>
 *   element e of rows × columns   lane e / p, slot e % p        p = rows · columns / 32
 *   slot s                        register s / q, its bits from (s % q) · width   q = 32 / width
 * </pre>
 *
 * <p>Where the registers have room for more slots, the same p come again.
 *
 * @param type the elements' type
 * @param slots how many elements a lane's registers have room for
 */
record WmmaFragment(int rows, int columns, PtxType type, int slots) {
  private static final Pattern SHAPE = Pattern.compile("\\.m(\\d+)n(\\d+)k(\\d+)");

  /**
   * The fragment of an instruction.
   *
   * @param matrix a, b or c, which is d too
   * @param registers how many a lane has for it
   */
  static WmmaFragment of(Instruction i, char matrix, PtxType type, int registers) {
    int m = extent(i, 1);
    int n = extent(i, 2);
    int k = extent(i, 3);
    int rows = matrix == 'b' ? k : m;
    int columns = matrix == 'a' ? k : n;
    return new WmmaFragment(rows, columns, type, registers * perRegister(type));
  }

  /** The extent of m, n or k: 1, 2 or 3. */
  static int extent(Instruction i, int which) {
    for (String modifier : i.modifiers()) {
      Matcher matcher = SHAPE.matcher(modifier);
      if (matcher.matches()) {
        return Integer.parseInt(matcher.group(which));
      }
    }
    throw Operands.unsupported(i);
  }

  private static int bits(PtxType type) {
    return type == PtxType.TF32 ? 32 : type.bits();
  }

  private static int perRegister(PtxType type) {
    return Math.max(1, 32 / bits(type));
  }

  /** The type of the registers that hold it. */
  static PtxType held(PtxType type) {
    return bits(type) == 64 ? PtxType.B64 : PtxType.B32;
  }

  int bytes() {
    return bits(type) / 8;
  }

  /** How many elements a lane holds. */
  int perLane() {
    return rows * columns / 32;
  }

  /** The element, counted row by row, in a lane's slot. */
  int element(int lane, int slot) {
    return lane * perLane() + slot;
  }

  long get(long[] registers, int[] sources, int lane, int slot) {
    int per = perRegister(type);
    int shift = slot % per * bits(type);
    return registers[sources[slot / per] + lane] >>> shift & Bits.mask(bits(type));
  }

  /** Puts a lane's elements into its registers, as often as there is room. */
  void put(long[] registers, int[] destinations, int lane, long[] values) {
    int per = perRegister(type);
    for (int r = 0; r < destinations.length; r++) {
      long packed = 0;
      for (int e = 0; e < per; e++) {
        packed |= values[(r * per + e) % values.length] << (e * bits(type));
      }
      if (destinations[r] >= 0) {
        registers[destinations[r] + lane] = packed;
      }
    }
  }
}
