package dev.minifloat.cuda.sim;

/** PTX written by hand for tests. */
final class Ptx {
  private static final String HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n";

  /** add(a, b, c, n): c[i] = a[i] + b[i] of 32-bit integers. */
  static final String ADD =
      HEAD
          + """
          .visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
          {
            .reg .pred %p<2>;
            .reg .b32 %r<9>;
            .reg .b64 %rd<12>;
            ld.param.u64 %rd1, [pa];
            ld.param.u64 %rd2, [pb];
            ld.param.u64 %rd3, [pc];
            ld.param.u32 %r1, [pn];
            mov.u32 %r2, %ctaid.x;
            mov.u32 %r3, %ntid.x;
            mov.u32 %r4, %tid.x;
            mad.lo.s32 %r5, %r2, %r3, %r4;
            setp.ge.s32 %p1, %r5, %r1;
            @%p1 bra DONE;
            mul.wide.s32 %rd7, %r5, 4;
            add.s64 %rd8, %rd1, %rd7;
            add.s64 %rd9, %rd2, %rd7;
            add.s64 %rd10, %rd3, %rd7;
            ld.global.u32 %r6, [%rd8];
            ld.global.u32 %r7, [%rd9];
            add.s32 %r8, %r6, %r7;
            st.global.u32 [%rd10], %r8;
          DONE:
            ret;
          }
          """;

  /** fill(p, n, v): p[i] = v, and stop(): traps. A variable and both kinds of shared memory. */
  static final String OTHERS =
      HEAD
          + """
          .visible .global .align 4 .u32 seven = 7;
          .extern .shared .align 16 .b8 dynamic[];
          .visible .entry fill(.param .u64 pp, .param .u32 pn, .param .u32 pv)
          {
            .reg .pred %p<2>;
            .reg .b32 %r<7>;
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [pp];
            ld.param.u32 %r1, [pn];
            ld.param.u32 %r2, [pv];
            mov.u32 %r3, %ctaid.x;
            mov.u32 %r4, %ntid.x;
            mov.u32 %r5, %tid.x;
            mad.lo.s32 %r6, %r3, %r4, %r5;
            setp.ge.s32 %p1, %r6, %r1;
            @%p1 bra DONE;
            mul.wide.s32 %rd2, %r6, 4;
            add.s64 %rd3, %rd1, %rd2;
            st.global.u32 [%rd3], %r2;
          DONE:
            ret;
          }
          .visible .entry stop()
          {
            trap;
            ret;
          }
          .visible .entry shared(.param .u64 pp)
          .maxntid 64, 1, 1
          {
            .shared .align 4 .b8 fixed[256];
            .reg .b32 %r<4>;
            .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [pp];
            mov.u32 %r1, 5;
            st.shared.u32 [fixed], %r1;
            st.shared.u32 [dynamic], %r1;
            ld.shared.u32 %r2, [dynamic];
            st.global.u32 [%rd1], %r2;
            ret;
          }
          """;

  /** meet(p): p[0], p[1] = the address at which blocks meet; p[2] = what they find there. */
  static final String MEET =
      HEAD
          + """
          .visible .entry meet(.param .u64 pp)
          {
            .reg .pred %p<2>;
            .reg .b32 %r<4>;
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [pp];
            mov.u32 %r1, %envreg1;
            mov.u32 %r2, %envreg2;
            st.global.v2.u32 [%rd1], {%r2, %r1};
            mov.b64 %rd2, {%r2, %r1};
            setp.eq.u64 %p1, %rd2, 0;
            @%p1 bra DONE;
            ld.acquire.gpu.u32 %r3, [%rd2+4];
            st.global.u32 [%rd1+8], %r3;
          DONE:
            ret;
          }
          """;

  private Ptx() {}
}
