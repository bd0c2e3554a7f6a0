package dev.minifloat.cuda.sim.internal.ptx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ModuleParserTest {
  private static final String HEADER = ".version 7.0\n.target sm_80\n.address_size 64\n";

  private static PtxException refused(String body) {
    return assertThrows(
        PtxException.class,
        () ->
            PtxModule.parse(
                HEADER
                    + ".entry k(.param .u64 a) {\n.reg .b32 x, y; .reg .b64 p; .reg .pred z; .reg .f32 f;\n"
                    + body
                    + "\nret; }"));
  }

  private static void assertRefused(String body, int column, String... parts) {
    PtxException exception = refused(body);
    assertEquals(new SourcePosition(6, column), exception.position(), exception.getMessage());
    for (String part : parts) {
      assertTrue(exception.getMessage().contains(part), exception.getMessage());
    }
  }

  @Test
  void whatIsNotKnownIsRefusedWithItsPlace() {
    assertRefused(
        "  frobnicate.u32 x, y;", 3, "line 6, column 3", "'frobnicate'", "no instruction");
    assertRefused("add.u33 x, x, y;", 4, "'.u33'", ".u32", "was expected");
    assertRefused("add.rn.ftz.sat.cc.f32 f, f, f;", 15, "'.cc'", ".f32");
    assertRefused("add x, x, y;", 1, "ends too early");
    assertRefused("add.u32 x, y;", 9, "2 operands", "3 were expected");
    assertRefused("add.u32 x, y, q;", 15, "'q'", "register");
    assertRefused("add.u64 p, p, x;", 15, "'x'", ".b32", ".u64");
    assertRefused("add.f32 f, f, 1;", 15, "integer constant", ".f32");
    assertRefused("add.u32 x, y, 1.0;", 15, "floating point constant");
    assertRefused("add.u32 5, y, x;", 9, "a constant stands where a register");
    assertRefused("setp.lt.s32 x, y, x;", 13, "'x'", ".pred");
    assertRefused("bra NOWHERE;", 5, "'NOWHERE'", "label");
    assertRefused("ld.global.u32 x, p;", 18, "address in brackets");
    assertRefused("ld.global.v2.u32 {x}, [p];", 18, "vector of 2");
    assertRefused("ld.shared.u32 x, [a];", 19, "'a' lies in .param");
    assertRefused("mov.u32 x, %nonsense;", 12, "%nonsense");
    assertRefused("mov.u32 x, 0x;", 12, "'0x'");
    assertRefused("@x bra L; L:", 2, "'x'", "predicate");
    assertRefused(".reg .b32 x;", 11, "declared twice");
    assertRefused("fma.rn.bf16 x, x, x, x;", 13, "'x'");
    assertRefused(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f,f,f,f}, {x,x,x,x}, {x,x}, {f,f,f,f};",
        1,
        "needs PTX 8.4 and sm_89",
        "PTX 7.0 for sm_80");
    assertRefused("tcgen05.fence::before_thread_sync;", 1, "'tcgen05", "PTX 8.6", "sm_100f");
    assertRefused("x = 5;", 1, "'x'", "no instruction");
    assertRefused("add.u32 x, y, \u00e9;", 15, "U+00E9");
  }

  @Test
  void modulesThatAreTooNewOrIncompleteAreRefused() {
    assertThrows(PtxException.class, () -> PtxModule.parse(""));
    assertThrows(PtxException.class, () -> PtxModule.parse(".version 12.0\n.target sm_80"));
    assertThrows(PtxException.class, () -> PtxModule.parse(".version 7.0\n.target compute_80"));
    assertThrows(
        PtxException.class, () -> PtxModule.parse(".version 7.0\n.target sm_80\n.address_size 32"));
    assertThrows(PtxException.class, () -> PtxModule.parse(HEADER + ".entry k() {"));
    assertThrows(PtxException.class, () -> PtxModule.parse(HEADER + "/* no end"));
    assertThrows(PtxException.class, () -> PtxModule.parse(HEADER + ".entry k() {} .entry k() {}"));
  }

  private static void parse(String version, String target, String instruction) {
    PtxModule.parse(
        ".version %s\n.target %s\n.address_size 64\n".formatted(version, target)
            + ".entry k() { .reg .b32 x<9>; .reg .f32 f; .reg .b8 z;"
            + instruction
            + " }");
  }

  private static void assertRefused(String version, String target, String body, String message) {
    PtxException exception = assertThrows(PtxException.class, () -> parse(version, target, body));
    assertTrue(exception.getMessage().contains(message), exception.getMessage());
  }

  /** As ptxas of CUDA 13.0 accepts and refuses them. */
  @Test
  void whatAFamilyHasIsForItsTargetsAlone() {
    String scaled =
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
            + " {f, f, f, f}, {x0, x1, x2, x3}, {x4, x5}, {f, f, f, f}, x6, {0, 0}, x7, {2, 3};";
    parse("8.8", "sm_120f", scaled);
    parse("8.8", "sm_121f", scaled);
    parse("8.7", "sm_120a", scaled);
    assertRefused("8.7", "sm_120", scaled, "needs PTX 8.7 and sm_120f; this module is PTX 8.7");
    assertRefused("8.8", "sm_100f", scaled, "for sm_100f");
    String packed = "cvt.rn.satfinite.e2m1x2.f32 z, f, f;";
    for (String target : new String[] {"sm_100a", "sm_100f", "sm_103a", "sm_120f", "sm_121a"}) {
      parse("8.8", target, packed);
    }
    assertRefused("8.8", "sm_100", packed, "sm_100f or sm_110f or sm_120f");
    assertRefused("8.8", "sm_120", packed, "for sm_120");
    assertRefused("8.8", "sm_90a", packed, "for sm_90a");
  }

  @Test
  void targetsNeedTheVersionThatHasThem() {
    parse("8.8", "sm_120f", "");
    parse("8.7", "sm_120", "");
    parse("8.0", "sm_90a", "");
    assertRefused("8.7", "sm_120f", "", "the target sm_120f needs PTX 8.8; this module is PTX 8.7");
    assertRefused("8.6", "sm_120a", "", "needs PTX 8.7");
    assertRefused("7.8", "sm_90a", "", "needs PTX 8.0");
    assertRefused("7.0", "sm_86", "", "needs PTX 7.1");
  }

  @Test
  void bothParameterDialectsGiveTheSameOffsets() {
    PtxFunction old =
        PtxModule.parse(
                HEADER
                    + ".visible .entry k(.param .u64 a, .param .u32 b, .param .align 8 .b8 c[20], .param .u8 d) {ret;}")
            .functions()
            .get("k");
    PtxFunction recent =
        PtxModule.parse(
                HEADER
                    + ".visible .entry k(.param .u64 .ptr .align 1 a, .param .u32 b, .param .align 8 .b8 c[20], .param .u8 d) .maxntid 128, 1, 1 .minnctapersm 2 {ret;}")
            .functions()
            .get("k");
    assertEquals(List.of(0, 8, 16, 36), old.parameterOffsets());
    assertEquals(old.parameterOffsets(), recent.parameterOffsets());
    assertEquals(37, recent.parameterBytes());
    assertEquals(List.of(128, 1, 1), recent.directives().get(".maxntid"));
  }

  @Test
  void variablesHaveTheirBytes() {
    PtxModule module =
        PtxModule.parse(
            HEADER
                + ".global .align 8 .u16 a[2][2] = {{1, 0x203}, {-1}};\n"
                + ".visible .const .f32 b[] = {1.0, 0f40000000};\n"
                + ".extern .shared .align 16 .b8 dynamic[];\n"
                + ".global .u64 c = a+4; .weak .global .b8 d[0b11], e = 017U;\n"
                + "\t.file\t1 \"x.cu\"\n.section .debug_str { .b8 1,2 }\n");
    Variable a = module.variables().get(0);
    assertArrayEquals(new byte[] {1, 0, 3, 2, -1, -1}, a.initial());
    assertEquals(8, a.bytes());
    assertEquals(8, a.align());
    assertArrayEquals(
        new byte[] {0, 0, (byte) 0x80, 0x3F, 0, 0, 0, 0x40}, module.variables().get(1).initial());
    assertTrue(module.variables().get(2).isDynamic());
    assertEquals("a", module.variables().get(3).references().get(0).symbol());
    assertEquals(4, module.variables().get(3).references().get(0).addend());
    assertEquals(3, module.variables().get(4).bytes());
    assertEquals(15, module.variables().get(5).initial()[0]);
  }

  @Test
  void scopesHideAndLabelsResolve() {
    PtxFunction function =
        PtxModule.parse(
                HEADER
                    + """
                    .func (.param .b32 r) f (.param .b32 x) ;
                    .entry k() .pragma "noinline"; {
                      .reg .b32 %r<3>; .reg .pred %p<2>;
                      .loc 1 5 2
                      @!%p1 bra $L_end; // forward
                      {
                        .reg .b32 %r1; .reg .f32 q;
                        mov.b32 %r1, WARP_SZ;
                        mov.f32 q, 0f3F800000;
                      }
                      .pragma "nounroll";
                      .loc 1 6 3, function_name $L_info, inlined_at 1 2 3
                      mov.b32 %r1, -(2+3*4)<<1;
                      $L_end: ret;
                    }
                    """)
            .functions()
            .get("k");
    assertEquals(5, function.body().size());
    assertEquals(List.of(4), function.body().get(0).targets());
    assertTrue(function.body().get(0).guard().negated());
    Operand.Reg inner = (Operand.Reg) function.body().get(1).operands().get(0);
    Operand.Reg outer = (Operand.Reg) function.body().get(3).operands().get(0);
    assertTrue(inner.register().index() != outer.register().index());
    Operand.Immediate value = (Operand.Immediate) function.body().get(3).operands().get(1);
    assertEquals(-28, value.bits());
    assertEquals("@!%p1 bra $L_end;", function.body().get(0).text());
    assertNull(function.body().get(4).guard());
  }

  /** Whatever is done to a text, it is parsed or refused; nothing else comes out. */
  @Test
  void mutatedTextsAreParsedOrRefused() {
    String text =
        HEADER
            + """
            .const .align 4 .b8 tab[8] = {0, 0, 128, 63, 0, 0, 0, 64};
            .func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<2>; ld.param.u32 %r1, [x];
              st.param.b32 [r+0], %r1; ret; }
            .visible .entry k(.param .u64 .ptr .align 1 k_param_0, .param .u32 n) .maxntid 32 {
              .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
              .shared .align 16 .b8 m[64];
              ld.param.u64 %rd1, [k_param_0]; cvta.to.global.u64 %rd2, %rd1;
              mov.u32 %r1, %tid.x; setp.lt.and.s32 %p1|%p2, %r1, 5, !%p2;
              @%p1 bra $L1; ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd2+-16];
              { .param .b32 p0; .param .b32 r0; st.param.b32 [p0+0], %r1;
                call.uni (r0), f, (p0); ld.param.b32 %r2, [r0+0]; }
              $L1: fma.rn.f32 %f0, %f1, 0f3F800000, %f2; shfl.sync.bfly.b32 %r3|%p1, %r1, 1, 31, -1;
              st.shared.v2.b32 [m+8], {%r1, %r2}; bar.sync 0; ret;
            }
            """;
    PtxModule.parse(text);
    SplittableRandom random = new SplittableRandom(1);
    String alphabet = "abrx01fF.,;{}()[]<>+-!@%$_\"/ \n\0é";
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      StringBuilder mutant = new StringBuilder(text);
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        int at = random.nextInt(mutant.length());
        int end = Math.min(mutant.length(), at + 1 + random.nextInt(12));
        switch (random.nextInt(4)) {
          case 0 -> mutant.deleteCharAt(at);
          case 1 -> mutant.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
          case 2 -> mutant.setCharAt(at, alphabet.charAt(random.nextInt(alphabet.length())));
          default -> mutant.insert(random.nextInt(mutant.length()), mutant.substring(at, end));
        }
      }
      try {
        PtxModule.parse(mutant.toString());
      } catch (PtxException e) {
        assertTrue(e.position().line() > 0 && e.position().column() > 0);
        refused++;
      }
    }
    assertTrue(refused > 10_000, "only " + refused + " mutants were refused");
  }
}
