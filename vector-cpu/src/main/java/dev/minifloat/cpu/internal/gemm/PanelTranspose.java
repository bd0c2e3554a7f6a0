package dev.minifloat.cpu.internal.gemm;

import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;

/**
 * Turns {@link #ROWS} rows of F32 into columns, in registers.
 *
 * <p>A square of L × L, L the lanes of a vector, is transposed by halving: rows s apart, for s =
 * L/2, L/4 … 1, exchange the blocks of s lanes that lie off the diagonal.
 *
 * <pre>
 *   row i       a0 a1 a2 a3      a0 b0 a2 b2
 *   row i + s   b0 b1 b2 b3  →   a1 b1 a3 b3       each letter a block of s lanes
 * </pre>
 *
 * <p>Sixteen rows are four squares side by side at 128 bits, two at 256 and one at 512; the steps
 * that a narrower square does not have vanish, as their condition is a constant.
 */
public final class PanelTranspose {
  /** Rows that are turned together. */
  public static final int ROWS = 16;

  private static final IntVector LOW8 = low(8);
  private static final IntVector HIGH8 = high(8);
  private static final IntVector LOW4 = low(4);
  private static final IntVector HIGH4 = high(4);
  private static final IntVector LOW2 = low(2);
  private static final IntVector HIGH2 = high(2);
  private static final IntVector LOW1 = low(1);
  private static final IntVector HIGH1 = high(1);

  private PanelTranspose() {}

  /** Which lanes of (a, b) make the first row of an exchange of blocks of {@code s} lanes. */
  private static IntVector low(int s) {
    return select(s, 0);
  }

  private static IntVector high(int s) {
    return select(s, s);
  }

  private static IntVector select(int s, int skip) {
    int[] lanes = new int[LANES];
    for (int i = 0; i < LANES; i++) {
      boolean even = i / s % 2 == 0;
      lanes[i] = (even ? i : LANES + i - s) + skip;
      lanes[i] %= 2 * LANES;
    }
    return IntVector.fromArray(INT, lanes, 0);
  }

  /**
   * Turns rows of {@code depth} floats: column k goes to {@code to + k · pitch}.
   *
   * <p>In two passes: one loop with all steps has more vectors than the compilers take, and would
   * stay in the interpreter's care.
   *
   * @param source native, rows {@code rowBytes} apart, readable up to a multiple of 16 columns
   * @param depth columns, rounded up to whole vectors: as many are written
   * @param work native, for the rows between the passes, from its start and {@code workBytes}
   *     apart; may be the source, if that lies in the same way
   * @param target native
   * @param pitch bytes from a column to the next in the target
   * @param half bytes from the first eight values of a column to the other eight
   */
  public static void transpose(
      MemorySegment source,
      long from,
      long rowBytes,
      int depth,
      MemorySegment work,
      long workBytes,
      MemorySegment target,
      long to,
      long pitch,
      long half) {
    if (LANES > 4) {
      exchangeLarge(source, from, rowBytes, depth, work, workBytes);
      exchangeSmall(work, 0, workBytes, depth, target, to, pitch, half);
    } else {
      exchangeSmall(source, from, rowBytes, depth, target, to, pitch, half);
    }
  }

  /** The steps of blocks of 8 and 4 lanes. */
  private static void exchangeLarge(
      MemorySegment source,
      long from,
      long rowBytes,
      int depth,
      MemorySegment work,
      long workBytes) {
    MemorySegment rows = Segments.exact(source);
    MemorySegment out = Segments.exact(work);
    IntVector t;
    for (int k = 0; k < depth; k += LANES) {
      long at = from + 4L * k;
      long to = 4L * k;
      IntVector r0 = IntVector.fromMemorySegment(INT, rows, at + 0 * rowBytes, LE);
      IntVector r1 = IntVector.fromMemorySegment(INT, rows, at + 1 * rowBytes, LE);
      IntVector r2 = IntVector.fromMemorySegment(INT, rows, at + 2 * rowBytes, LE);
      IntVector r3 = IntVector.fromMemorySegment(INT, rows, at + 3 * rowBytes, LE);
      IntVector r4 = IntVector.fromMemorySegment(INT, rows, at + 4 * rowBytes, LE);
      IntVector r5 = IntVector.fromMemorySegment(INT, rows, at + 5 * rowBytes, LE);
      IntVector r6 = IntVector.fromMemorySegment(INT, rows, at + 6 * rowBytes, LE);
      IntVector r7 = IntVector.fromMemorySegment(INT, rows, at + 7 * rowBytes, LE);
      IntVector r8 = IntVector.fromMemorySegment(INT, rows, at + 8 * rowBytes, LE);
      IntVector r9 = IntVector.fromMemorySegment(INT, rows, at + 9 * rowBytes, LE);
      IntVector r10 = IntVector.fromMemorySegment(INT, rows, at + 10 * rowBytes, LE);
      IntVector r11 = IntVector.fromMemorySegment(INT, rows, at + 11 * rowBytes, LE);
      IntVector r12 = IntVector.fromMemorySegment(INT, rows, at + 12 * rowBytes, LE);
      IntVector r13 = IntVector.fromMemorySegment(INT, rows, at + 13 * rowBytes, LE);
      IntVector r14 = IntVector.fromMemorySegment(INT, rows, at + 14 * rowBytes, LE);
      IntVector r15 = IntVector.fromMemorySegment(INT, rows, at + 15 * rowBytes, LE);
      if (LANES > 8) {
        t = LOW8.selectFrom(r0, r8);
        r8 = HIGH8.selectFrom(r0, r8);
        r0 = t;
        t = LOW8.selectFrom(r1, r9);
        r9 = HIGH8.selectFrom(r1, r9);
        r1 = t;
        t = LOW8.selectFrom(r2, r10);
        r10 = HIGH8.selectFrom(r2, r10);
        r2 = t;
        t = LOW8.selectFrom(r3, r11);
        r11 = HIGH8.selectFrom(r3, r11);
        r3 = t;
        t = LOW8.selectFrom(r4, r12);
        r12 = HIGH8.selectFrom(r4, r12);
        r4 = t;
        t = LOW8.selectFrom(r5, r13);
        r13 = HIGH8.selectFrom(r5, r13);
        r5 = t;
        t = LOW8.selectFrom(r6, r14);
        r14 = HIGH8.selectFrom(r6, r14);
        r6 = t;
        t = LOW8.selectFrom(r7, r15);
        r15 = HIGH8.selectFrom(r7, r15);
        r7 = t;
      }
      t = LOW4.selectFrom(r0, r4);
      r4 = HIGH4.selectFrom(r0, r4);
      r0 = t;
      t = LOW4.selectFrom(r1, r5);
      r5 = HIGH4.selectFrom(r1, r5);
      r1 = t;
      t = LOW4.selectFrom(r2, r6);
      r6 = HIGH4.selectFrom(r2, r6);
      r2 = t;
      t = LOW4.selectFrom(r3, r7);
      r7 = HIGH4.selectFrom(r3, r7);
      r3 = t;
      t = LOW4.selectFrom(r8, r12);
      r12 = HIGH4.selectFrom(r8, r12);
      r8 = t;
      t = LOW4.selectFrom(r9, r13);
      r13 = HIGH4.selectFrom(r9, r13);
      r9 = t;
      t = LOW4.selectFrom(r10, r14);
      r14 = HIGH4.selectFrom(r10, r14);
      r10 = t;
      t = LOW4.selectFrom(r11, r15);
      r15 = HIGH4.selectFrom(r11, r15);
      r11 = t;
      r0.intoMemorySegment(out, to + 0 * workBytes, LE);
      r1.intoMemorySegment(out, to + 1 * workBytes, LE);
      r2.intoMemorySegment(out, to + 2 * workBytes, LE);
      r3.intoMemorySegment(out, to + 3 * workBytes, LE);
      r4.intoMemorySegment(out, to + 4 * workBytes, LE);
      r5.intoMemorySegment(out, to + 5 * workBytes, LE);
      r6.intoMemorySegment(out, to + 6 * workBytes, LE);
      r7.intoMemorySegment(out, to + 7 * workBytes, LE);
      r8.intoMemorySegment(out, to + 8 * workBytes, LE);
      r9.intoMemorySegment(out, to + 9 * workBytes, LE);
      r10.intoMemorySegment(out, to + 10 * workBytes, LE);
      r11.intoMemorySegment(out, to + 11 * workBytes, LE);
      r12.intoMemorySegment(out, to + 12 * workBytes, LE);
      r13.intoMemorySegment(out, to + 13 * workBytes, LE);
      r14.intoMemorySegment(out, to + 14 * workBytes, LE);
      r15.intoMemorySegment(out, to + 15 * workBytes, LE);
    }
  }

  /** The steps of blocks of 2 lanes and 1, and the stores. */
  private static void exchangeSmall(
      MemorySegment source,
      long from,
      long rowBytes,
      int depth,
      MemorySegment target,
      long to,
      long pitch,
      long half) {
    MemorySegment rows = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    IntVector t;
    for (int k = 0; k < depth; k += LANES) {
      long at = from + 4L * k;
      long column = to + k * pitch;
      IntVector r0 = IntVector.fromMemorySegment(INT, rows, at + 0 * rowBytes, LE);
      IntVector r1 = IntVector.fromMemorySegment(INT, rows, at + 1 * rowBytes, LE);
      IntVector r2 = IntVector.fromMemorySegment(INT, rows, at + 2 * rowBytes, LE);
      IntVector r3 = IntVector.fromMemorySegment(INT, rows, at + 3 * rowBytes, LE);
      IntVector r4 = IntVector.fromMemorySegment(INT, rows, at + 4 * rowBytes, LE);
      IntVector r5 = IntVector.fromMemorySegment(INT, rows, at + 5 * rowBytes, LE);
      IntVector r6 = IntVector.fromMemorySegment(INT, rows, at + 6 * rowBytes, LE);
      IntVector r7 = IntVector.fromMemorySegment(INT, rows, at + 7 * rowBytes, LE);
      IntVector r8 = IntVector.fromMemorySegment(INT, rows, at + 8 * rowBytes, LE);
      IntVector r9 = IntVector.fromMemorySegment(INT, rows, at + 9 * rowBytes, LE);
      IntVector r10 = IntVector.fromMemorySegment(INT, rows, at + 10 * rowBytes, LE);
      IntVector r11 = IntVector.fromMemorySegment(INT, rows, at + 11 * rowBytes, LE);
      IntVector r12 = IntVector.fromMemorySegment(INT, rows, at + 12 * rowBytes, LE);
      IntVector r13 = IntVector.fromMemorySegment(INT, rows, at + 13 * rowBytes, LE);
      IntVector r14 = IntVector.fromMemorySegment(INT, rows, at + 14 * rowBytes, LE);
      IntVector r15 = IntVector.fromMemorySegment(INT, rows, at + 15 * rowBytes, LE);
      t = LOW2.selectFrom(r0, r2);
      r2 = HIGH2.selectFrom(r0, r2);
      r0 = t;
      t = LOW2.selectFrom(r1, r3);
      r3 = HIGH2.selectFrom(r1, r3);
      r1 = t;
      t = LOW2.selectFrom(r4, r6);
      r6 = HIGH2.selectFrom(r4, r6);
      r4 = t;
      t = LOW2.selectFrom(r5, r7);
      r7 = HIGH2.selectFrom(r5, r7);
      r5 = t;
      t = LOW2.selectFrom(r8, r10);
      r10 = HIGH2.selectFrom(r8, r10);
      r8 = t;
      t = LOW2.selectFrom(r9, r11);
      r11 = HIGH2.selectFrom(r9, r11);
      r9 = t;
      t = LOW2.selectFrom(r12, r14);
      r14 = HIGH2.selectFrom(r12, r14);
      r12 = t;
      t = LOW2.selectFrom(r13, r15);
      r15 = HIGH2.selectFrom(r13, r15);
      r13 = t;
      t = LOW1.selectFrom(r0, r1);
      r1 = HIGH1.selectFrom(r0, r1);
      r0 = t;
      t = LOW1.selectFrom(r2, r3);
      r3 = HIGH1.selectFrom(r2, r3);
      r2 = t;
      t = LOW1.selectFrom(r4, r5);
      r5 = HIGH1.selectFrom(r4, r5);
      r4 = t;
      t = LOW1.selectFrom(r6, r7);
      r7 = HIGH1.selectFrom(r6, r7);
      r6 = t;
      t = LOW1.selectFrom(r8, r9);
      r9 = HIGH1.selectFrom(r8, r9);
      r8 = t;
      t = LOW1.selectFrom(r10, r11);
      r11 = HIGH1.selectFrom(r10, r11);
      r10 = t;
      t = LOW1.selectFrom(r12, r13);
      r13 = HIGH1.selectFrom(r12, r13);
      r12 = t;
      t = LOW1.selectFrom(r14, r15);
      r15 = HIGH1.selectFrom(r14, r15);
      r14 = t;
      r0.intoMemorySegment(dst, column + place(0, pitch, half), LE);
      r1.intoMemorySegment(dst, column + place(1, pitch, half), LE);
      r2.intoMemorySegment(dst, column + place(2, pitch, half), LE);
      r3.intoMemorySegment(dst, column + place(3, pitch, half), LE);
      r4.intoMemorySegment(dst, column + place(4, pitch, half), LE);
      r5.intoMemorySegment(dst, column + place(5, pitch, half), LE);
      r6.intoMemorySegment(dst, column + place(6, pitch, half), LE);
      r7.intoMemorySegment(dst, column + place(7, pitch, half), LE);
      r8.intoMemorySegment(dst, column + place(8, pitch, half), LE);
      r9.intoMemorySegment(dst, column + place(9, pitch, half), LE);
      r10.intoMemorySegment(dst, column + place(10, pitch, half), LE);
      r11.intoMemorySegment(dst, column + place(11, pitch, half), LE);
      r12.intoMemorySegment(dst, column + place(12, pitch, half), LE);
      r13.intoMemorySegment(dst, column + place(13, pitch, half), LE);
      r14.intoMemorySegment(dst, column + place(14, pitch, half), LE);
      r15.intoMemorySegment(dst, column + place(15, pitch, half), LE);
    }
  }

  /** Bytes from the first column of a vector's width to where vector {@code i} goes. */
  private static long place(int i, long pitch, long half) {
    int row = i / LANES * LANES;
    return i % LANES * pitch + row / 8 * half + row % 8 * 4L;
  }
}
