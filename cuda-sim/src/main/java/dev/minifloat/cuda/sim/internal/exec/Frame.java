package dev.minifloat.cuda.sim.internal.exec;

/**
 * The registers and parameters that a call of a function has, for up to 32 lanes of a warp. Where a
 * lane goes back to is kept for each lane, so that lanes which called from different places can
 * share a frame once they meet.
 */
final class Frame {
  final CodeInstance code;

  /** Register r of lane l stands at 32·r + l, zero-extended to 64 bits. */
  final long[] registers;

  /** A predicate's lanes, one bit each. */
  final int[] predicates;

  /** Each lane's parameter memory, one after the other. */
  final byte[] parameters;

  final Frame[] caller = new Frame[32];
  final int[] returnPc = new int[32];
  final int[] localBase = new int[32];

  Frame(CodeInstance code) {
    this.code = code;
    registers = new long[code.code().slots() * 32];
    predicates = new int[code.code().predicates()];
    parameters = new byte[code.code().parameterBytes() * 32];
  }

  /** Takes over lanes of another frame of the same function. */
  void absorb(Frame other, int mask) {
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      for (int i = lane; i < registers.length; i += 32) {
        registers[i] = other.registers[i];
      }
      int stride = code.code().parameterBytes();
      System.arraycopy(other.parameters, lane * stride, parameters, lane * stride, stride);
      caller[lane] = other.caller[lane];
      returnPc[lane] = other.returnPc[lane];
      localBase[lane] = other.localBase[lane];
    }
    for (int i = 0; i < predicates.length; i++) {
      predicates[i] = (predicates[i] & ~mask) | (other.predicates[i] & mask);
    }
  }
}
