package dev.minifloat.cuda.sim.internal.exec;

/**
 * Instructions that compute each lane's result from the same lane's operands. Values are
 * zero-extended bits; a function that needs another reading of them converts.
 */
final class LaneOps {
  interface Unary {
    long apply(long a);
  }

  interface Binary {
    long apply(long a, long b);
  }

  interface Ternary {
    long apply(long a, long b, long c);
  }

  interface Quaternary {
    long apply(long a, long b, long c, long d);
  }

  interface Comparison {
    boolean test(long a, long b);
  }

  private LaneOps() {}

  static Op unary(int destination, int a, Unary function) {
    return new UnaryOp(destination, a, function);
  }

  static Op binary(int destination, int a, int b, Binary function) {
    return new BinaryOp(destination, a, b, function);
  }

  static Op ternary(int destination, int a, int b, int c, Ternary function) {
    return new TernaryOp(destination, a, b, c, function);
  }

  static Op quaternary(int destination, int a, int b, int c, int d, Quaternary function) {
    return new QuaternaryOp(destination, a, b, c, d, function);
  }

  private static final class UnaryOp extends Op {
    private final int destination;
    private final int a;
    private final Unary function;

    UnaryOp(int destination, int a, Unary function) {
      this.destination = destination;
      this.a = a;
      this.function = function;
    }

    @Override
    void execute(Warp warp, Frame frame, int mask) {
      long[] r = frame.registers;
      if (mask == -1) {
        for (int lane = 0; lane < 32; lane++) {
          r[destination + lane] = function.apply(r[a + lane]);
        }
        return;
      }
      for (int m = mask; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        r[destination + lane] = function.apply(r[a + lane]);
      }
    }
  }

  private static final class BinaryOp extends Op {
    private final int destination;
    private final int a;
    private final int b;
    private final Binary function;

    BinaryOp(int destination, int a, int b, Binary function) {
      this.destination = destination;
      this.a = a;
      this.b = b;
      this.function = function;
    }

    @Override
    void execute(Warp warp, Frame frame, int mask) {
      long[] r = frame.registers;
      if (mask == -1) {
        for (int lane = 0; lane < 32; lane++) {
          r[destination + lane] = function.apply(r[a + lane], r[b + lane]);
        }
        return;
      }
      for (int m = mask; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        r[destination + lane] = function.apply(r[a + lane], r[b + lane]);
      }
    }
  }

  private static final class TernaryOp extends Op {
    private final int destination;
    private final int a;
    private final int b;
    private final int c;
    private final Ternary function;

    TernaryOp(int destination, int a, int b, int c, Ternary function) {
      this.destination = destination;
      this.a = a;
      this.b = b;
      this.c = c;
      this.function = function;
    }

    @Override
    void execute(Warp warp, Frame frame, int mask) {
      long[] r = frame.registers;
      if (mask == -1) {
        for (int lane = 0; lane < 32; lane++) {
          r[destination + lane] = function.apply(r[a + lane], r[b + lane], r[c + lane]);
        }
        return;
      }
      for (int m = mask; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        r[destination + lane] = function.apply(r[a + lane], r[b + lane], r[c + lane]);
      }
    }
  }

  private static final class QuaternaryOp extends Op {
    private final int destination;
    private final int a;
    private final int b;
    private final int c;
    private final int d;
    private final Quaternary function;

    QuaternaryOp(int destination, int a, int b, int c, int d, Quaternary function) {
      this.destination = destination;
      this.a = a;
      this.b = b;
      this.c = c;
      this.d = d;
      this.function = function;
    }

    @Override
    void execute(Warp warp, Frame frame, int mask) {
      long[] r = frame.registers;
      for (int m = mask; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        r[destination + lane] = function.apply(r[a + lane], r[b + lane], r[c + lane], r[d + lane]);
      }
    }
  }

  /** The lanes of a mask for which a comparison holds. */
  static int compare(long[] r, int a, int b, int mask, Comparison comparison) {
    int holds = 0;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      if (comparison.test(r[a + lane], r[b + lane])) {
        holds |= 1 << lane;
      }
    }
    return holds;
  }
}
