package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A whole FP8 GEMM: cp.async into shared memory, ldmatrix, mma m16n8k32, four warps a block. */
class GemmKernelTest {
  /** D[M][N] = A[M][K] · B[N][K]ᵀ; a block makes 32 × 32, a warp 16 × 16 of it; K goes by 32. */
  static final String PTX =
      """
      .version 8.4
      .target sm_89
      .address_size 64
      .visible .entry gemm(.param .u64 pa, .param .u64 pb, .param .u64 pd, .param .u32 pn, .param .u32 pk)
      .maxntid 128
      {
        .reg .pred %p<2>; .reg .b64 %a, %b, %d, %ga, %gb, %x, %y; .reg .f32 %c<8>;
        .reg .b32 %t, %lane, %warp, %bm, %bn, %n, %k, %i, %r<16>, %fa<4>, %fb<4>;
        .shared .align 16 .b8 tileA[1024]; .shared .align 16 .b8 tileB[1024];
        ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %d, [pd];
        ld.param.u32 %n, [pn]; ld.param.u32 %k, [pk];
        mov.u32 %t, %tid.x; and.b32 %lane, %t, 31; shr.u32 %warp, %t, 5;
        mov.u32 %bm, %ctaid.y; shl.b32 %bm, %bm, 5; mov.u32 %bn, %ctaid.x; shl.b32 %bn, %bn, 5;
        // 64 threads copy a row's half each: row t / 2, bytes 16 (t % 2), of A and, the others, of B.
        and.b32 %r0, %t, 63; shr.u32 %r1, %r0, 1; and.b32 %r2, %r0, 1; shl.b32 %r2, %r2, 4;
        setp.lt.u32 %p0, %t, 64;
        selp.b64 %x, %a, %b, %p0; selp.b32 %r3, %bm, %bn, %p0;
        add.u32 %r3, %r3, %r1; mul.wide.u32 %y, %r3, %k; add.u64 %x, %x, %y;
        cvt.u64.u32 %y, %r2; add.u64 %ga, %x, %y;
        mov.u32 %r4, tileA; mov.u32 %r5, tileB; selp.b32 %r6, %r4, %r5, %p0;
        shl.b32 %r7, %r1, 5; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r2;
        // ldmatrix: lane l of A names row l % 16, half l / 16; of B row l % 8 + 8 (l / 16), half l / 8 % 2.
        and.b32 %r8, %warp, 1; shr.u32 %r9, %warp, 1; shl.b32 %r8, %r8, 4; shl.b32 %r9, %r9, 4;
        and.b32 %r10, %lane, 15; add.u32 %r10, %r10, %r8; shl.b32 %r10, %r10, 5;
        shr.u32 %r11, %lane, 4; shl.b32 %r12, %r11, 4; add.u32 %r10, %r10, %r12; add.u32 %r10, %r10, %r4;
        and.b32 %r12, %lane, 7; shl.b32 %r11, %r11, 3; add.u32 %r12, %r12, %r11; add.u32 %r12, %r12, %r9;
        shl.b32 %r12, %r12, 5; bfe.u32 %r13, %lane, 3, 1; shl.b32 %r13, %r13, 4;
        add.u32 %r12, %r12, %r13; add.u32 %r12, %r12, %r5;
        mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0;
        mov.f32 %c4, %c0; mov.f32 %c5, %c0; mov.f32 %c6, %c0; mov.f32 %c7, %c0;
        mov.u32 %i, 0;
      LOOP:
        cp.async.cg.shared.global [%r6], [%ga], 16;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%fa0, %fa1, %fa2, %fa3}, [%r10];
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%fb0, %fb1, %fb2, %fb3}, [%r12];
        mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
          {%c0, %c1, %c2, %c3}, {%fa0, %fa1, %fa2, %fa3}, {%fb0, %fb1}, {%c0, %c1, %c2, %c3};
        mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
          {%c4, %c5, %c6, %c7}, {%fa0, %fa1, %fa2, %fa3}, {%fb2, %fb3}, {%c4, %c5, %c6, %c7};
        bar.sync 0;
        add.u64 %ga, %ga, 32; add.u32 %i, %i, 32; setp.lt.u32 %p1, %i, %k; @%p1 bra LOOP;
        shr.u32 %r0, %lane, 2; add.u32 %r0, %r0, %bm; add.u32 %r0, %r0, %r8;
        and.b32 %r1, %lane, 3; shl.b32 %r1, %r1, 1; add.u32 %r1, %r1, %bn; add.u32 %r1, %r1, %r9;
        mad.lo.u32 %r2, %r0, %n, %r1; mad.wide.u32 %x, %r2, 4, %d; shl.b32 %r3, %n, 5;
        cvt.u64.u32 %y, %r3; add.u64 %y, %x, %y;
        st.global.v2.f32 [%x], {%c0, %c1}; st.global.v2.f32 [%y], {%c2, %c3};
        st.global.v2.f32 [%x+32], {%c4, %c5}; st.global.v2.f32 [%y+32], {%c6, %c7};
        ret;
      }
      """;

  /** A launch's operands and its result. */
  record Run(byte[] a, byte[] b, float[] d, LaunchReport report) {}

  static Run run(Device device, int m, int n, int k) {
    SplittableRandom random = new SplittableRandom(m * 31L + k);
    byte[] a = codes(m * k, random);
    byte[] b = codes(n * k, random);
    Allocation output = device.space(4L * m * n);
    LaunchReport report =
        device.launch(
            "gemm",
            new Dim3(n / 32, m / 32, 1),
            new Dim3(128, 1, 1),
            0,
            device.bytes(a),
            device.bytes(b),
            output,
            n,
            k);
    int[] bits = device.ints(output);
    float[] d = new float[bits.length];
    for (int i = 0; i < d.length; i++) {
      d[i] = Float.intBitsToFloat(bits[i]);
    }
    return new Run(a, b, d, report);
  }

  private static byte[] codes(int count, SplittableRandom random) {
    byte[] codes = new byte[count];
    for (int i = 0; i < count; i++) {
      do {
        codes[i] = (byte) random.nextInt();
      } while ((codes[i] & 0x7F) == 0x7F);
    }
    return codes;
  }

  @Test
  void everyElementIsTheSumOfItsProducts() {
    int m = 64;
    int n = 96;
    int k = 128;
    Run run = run(new Device(PTX), m, n, k);
    int[] table = Golden.decodeTable("e4m3");
    for (int row = 0; row < m; row++) {
      for (int column = 0; column < n; column++) {
        float sum = 0;
        // The accumulator is rounded after every 32 products.
        for (int from = 0; from < k; from += 32) {
          BigDecimal exact = new BigDecimal(sum);
          for (int i = from; i < from + 32; i++) {
            float x = Float.intBitsToFloat(table[run.a[row * k + i] & 0xFF]);
            float y = Float.intBitsToFloat(table[run.b[column * k + i] & 0xFF]);
            exact = exact.add(new BigDecimal((double) x * y));
          }
          sum = exact.floatValue();
        }
        assertEquals(sum, run.d[row * n + column], "at " + row + ", " + column);
      }
    }
    Counters counters = run.report.counters();
    assertEquals((long) m * n * k, counters.multiplyAdds());
    assertEquals((long) m * n * k / (16 * 8 * 32), counters.matrixMultiplies());
    assertEquals(4L * m * n, counters.globalBytesWritten());
  }

  /** A barrier or a wait less is noticed, whichever one it is. */
  @Test
  void everyBarrierAndWaitIsNeeded() {
    for (String dropped : new String[] {"cp.async.wait_group 0; ", "wait_group 0; bar.sync 0;"}) {
      String mutant =
          dropped.startsWith("cp")
              ? PTX.replace(dropped, "")
              : PTX.replace(dropped, "wait_group 0;");
      org.junit.jupiter.api.Assertions.assertThrows(
          LaunchFault.class, () -> run(new Device(mutant), 32, 32, 64));
    }
    String mutant = PTX.replace("  bar.sync 0;\n  add.u64", "  add.u64");
    org.junit.jupiter.api.Assertions.assertTrue(mutant.length() < PTX.length());
    org.junit.jupiter.api.Assertions.assertThrows(
        LaunchFault.class, () -> run(new Device(mutant), 32, 32, 64));
  }
}
