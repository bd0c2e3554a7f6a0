package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** cvt as a kernel executes it, against what the host code of CUDA's headers gave. */
class GoldenConvertTest {
  /** The low 12 bits of the inputs: the ends, ties and their neighbours. */
  private static final int[] LOW = {0x000, 0x001, 0x7ff, 0x800, 0x801, 0xfff};

  /**
   * A conversion of an F32.
   *
   * @param name its name among the checksums
   * @param code PTX that sets {@code r}, 32 bits, from {@code a}; z is a zero
   * @param bytes of a result
   * @param canonical drops a NaN's sign and payload
   */
  private record Conversion(String name, String code, int bytes, IntUnaryOperator canonical) {}

  private static String half(String cvt) {
    return ".reg .b16 h; " + cvt + " h, a; cvt.u32.u16 r, h;";
  }

  /** The number itself goes into the lower half, a zero into the upper. */
  private static String pair(String cvt) {
    return ".reg .b16 h; " + cvt + " h, z, a; cvt.u32.u16 r, h;";
  }

  private static int f16(int code) {
    return (code & 0x7FFF) > 0x7C00 ? 0x7E00 : code;
  }

  private static int bf16(int code) {
    return (code & 0x7FFF) > 0x7F80 ? 0x7FC0 : code;
  }

  private static int e4m3(int code) {
    return (code & 0x7F) == 0x7F ? 0x7F : code;
  }

  private static int e5m2(int code) {
    return (code & 0x7F) > 0x7C ? 0x7E : code;
  }

  private static final Conversion[] CONVERSIONS = {
    new Conversion("f32_to_f16_rn", half("cvt.rn.f16.f32"), 2, GoldenConvertTest::f16),
    new Conversion("f32_to_bf16_rn", half("cvt.rn.bf16.f32"), 2, GoldenConvertTest::bf16),
    new Conversion(
        "f32_to_e4m3_satfinite", pair("cvt.rn.satfinite.e4m3x2.f32"), 1, GoldenConvertTest::e4m3),
    new Conversion(
        "f32_to_e5m2_satfinite", pair("cvt.rn.satfinite.e5m2x2.f32"), 1, GoldenConvertTest::e5m2),
    new Conversion(
        "f32_to_e2m1_satfinite",
        ".reg .b8 h; .reg .b16 w; cvt.rn.satfinite.e2m1x2.f32 h, z, a; cvt.u32.u8 r, h;",
        1,
        code -> code),
    new Conversion("f32_to_e2m3_satfinite", pair("cvt.rn.satfinite.e2m3x2.f32"), 1, code -> code),
    new Conversion("f32_to_e3m2_satfinite", pair("cvt.rn.satfinite.e3m2x2.f32"), 1, code -> code),
    new Conversion("f32_to_e8m0_rz_satfin", pair("cvt.rz.satfinite.ue8m0x2.f32"), 1, code -> code),
    new Conversion("f32_to_e8m0_rz_nosat", pair("cvt.rz.ue8m0x2.f32"), 1, code -> code),
    new Conversion("f32_to_e8m0_rp_satfin", pair("cvt.rp.satfinite.ue8m0x2.f32"), 1, code -> code),
    new Conversion("f32_to_e8m0_rp_nosat", pair("cvt.rp.ue8m0x2.f32"), 1, code -> code),
  };

  @TestFactory
  Stream<DynamicTest> conversionsOfF32AgreeWithTheRecordedChecksums() {
    Map<String, Long> checksums = Golden.quickChecksums();
    return Stream.of(CONVERSIONS)
        .map(
            conversion ->
                DynamicTest.dynamicTest(
                    conversion.name(), () -> check(conversion, checksums.get(conversion.name()))));
  }

  private static void check(Conversion conversion, long checksum) {
    // A thread converts the six inputs of one value of the upper 20 bits.
    StringBuilder body = new StringBuilder(".reg .b64 o; .reg .b32 i, n, t, u, r; .reg .b32 v<6>;");
    body.append(" .reg .f32 a, z; .reg .b32 bits; mov.b32 z, 0f00000000; ld.param.u64 o, [out];");
    body.append(" ld.param.u32 u, [base]; mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x;");
    body.append(" mov.u32 t, %tid.x; mad.lo.u32 i, i, n, t;");
    body.append(" mad.wide.u32 o, i, 24, o; add.u32 i, i, u; shl.b32 i, i, 12;\n");
    for (int n = 0; n < LOW.length; n++) {
      body.append("or.b32 bits, i, ").append(LOW[n]).append("; mov.b32 a, bits; {");
      body.append(conversion.code()).append("} mov.b32 v").append(n).append(", r;\n");
      body.append("st.global.b32 [o+").append(4 * n).append("], v").append(n).append(";\n");
    }
    Device device =
        Device.kernel(".param .u64 out, .param .u32 base", body.append("ret;").toString());
    device.options = device.options.withRaceDetection(false);
    int chunk = 1 << 16;
    Allocation out = device.space(chunk * 24L);
    Golden.Hash hash = new Golden.Hash();
    for (int base = 0; base < 1 << 20; base += chunk) {
      device.run(chunk / 1024, 1024, out, base);
      for (int code : device.ints(out)) {
        hash.add(conversion.canonical().applyAsInt(code), conversion.bytes());
      }
    }
    assertEquals(Long.toHexString(checksum), Long.toHexString(hash.value()));
  }

  @TestFactory
  Stream<DynamicTest> decodingAgreesWithTheRecordedTables() {
    String widen =
        ".reg .b32 w; .reg .b16 lo, hi; %s w, %s; mov.b32 {lo, hi}, w; cvt.f32.f16 r, lo;";
    return Stream.of(
        decode("e4m3", widen.formatted("cvt.rn.f16x2.e4m3x2", "a")),
        decode("e5m2", widen.formatted("cvt.rn.f16x2.e5m2x2", "a")),
        decode("e2m3", widen.formatted("cvt.rn.f16x2.e2m3x2", "a")),
        decode("e3m2", widen.formatted("cvt.rn.f16x2.e3m2x2", "a")),
        decode(
            "e2m1", ".reg .b8 n; cvt.u8.u16 n, a; " + widen.formatted("cvt.rn.f16x2.e2m1x2", "n")),
        decode(
            "e8m0",
            ".reg .b32 w; .reg .b16 lo, hi; cvt.rn.bf16x2.ue8m0x2 w, a;"
                + " mov.b32 {lo, hi}, w; mov.b32 r, {0, lo};"));
  }

  private static DynamicTest decode(String format, String code) {
    return DynamicTest.dynamicTest(
        format,
        () -> {
          int[] table = Golden.decodeTable(format);
          long[][] cases = new long[table.length][];
          for (int i = 0; i < table.length; i++) {
            cases[i] = new long[] {i};
          }
          long[] results = Scalars.run(code, new String[] {"b16"}, "b32", cases);
          for (int i = 0; i < table.length; i++) {
            float expected = Float.intBitsToFloat(table[i]);
            float found = Float.intBitsToFloat((int) results[i]);
            if (Double.isNaN(expected)) {
              assertTrue(Double.isNaN(found), format + " code " + i);
            } else {
              assertEquals(table[i], (int) results[i], format + " code " + i);
            }
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> halvesAgreeWithTheRecordedChecksums() {
    Map<String, Long> checksums = Golden.halfChecksums();
    String low = " h, w; cvt.u32.u16 r, h;";
    String pair = ".reg .b32 w; .reg .b16 h; mov.b32 w, {a, 0}; ";
    return Stream.of(
            new Conversion("f16_to_f32", "cvt.f32.f16 r, a;", 4, GoldenConvertTest::f32),
            new Conversion("bf16_to_f32", "cvt.f32.bf16 r, a;", 4, GoldenConvertTest::f32),
            new Conversion(
                "f16_to_e4m3_satfinite",
                pair + "cvt.rn.satfinite.e4m3x2.f16x2" + low,
                1,
                GoldenConvertTest::e4m3),
            new Conversion(
                "f16_to_e5m2_satfinite",
                pair + "cvt.rn.satfinite.e5m2x2.f16x2" + low,
                1,
                GoldenConvertTest::e5m2))
        .map(
            conversion ->
                DynamicTest.dynamicTest(
                    conversion.name(),
                    () -> {
                      long[][] cases = new long[1 << 16][];
                      for (int i = 0; i < cases.length; i++) {
                        cases[i] = new long[] {i};
                      }
                      Golden.Hash hash = new Golden.Hash();
                      for (long code :
                          Scalars.run(conversion.code(), new String[] {"b16"}, "b32", cases)) {
                        hash.add(conversion.canonical().applyAsInt((int) code), conversion.bytes());
                      }
                      assertEquals(checksums.get(conversion.name()), hash.value());
                    }));
  }

  private static int f32(int bits) {
    return (bits & 0x7FFF_FFFF) > 0x7F80_0000 ? 0x7FC0_0000 : bits;
  }

  @TestFactory
  Stream<DynamicTest> firstOperandsGoIntoTheUpperHalf() {
    return InstructionCase.tests(
        Stream.of(
            InstructionCase.of(
                "cvt.rn.f16x2.f32 r, a, b;", "b32 f32 f32", x -> halfOf(x[0]) << 16 | halfOf(x[1])),
            InstructionCase.of(
                "cvt.rn.relu.f16x2.f32 r, a, b;",
                "b32 f32 f32",
                x -> positive(x[0]) << 16 | positive(x[1])),
            InstructionCase.of(
                ".reg .b16 h; cvt.rn.satfinite.relu.e4m3x2.f32 h, a, b; and.b16 h, h, 0x8080;"
                    + " cvt.u32.u16 r, h;",
                "b32 f32 f32",
                x -> 0),
            InstructionCase.of(
                ".reg .b16 h; .reg .b32 v, w; cvt.rn.satfinite.e4m3x2.f32 h, a, b;"
                    + " cvt.rn.f16x2.e4m3x2 v, h; mov.b32 w, 0;"
                    + " cvt.rn.satfinite.e4m3x2.f16x2 h, v; cvt.rn.f16x2.e4m3x2 w, h;"
                    + " xor.b32 r, v, w;",
                "b32 f32 f32",
                x -> 0),
            InstructionCase.of(
                ".reg .b8 n; cvt.rn.satfinite.e2m1x2.f32 n, a, b; cvt.u32.u8 r, n;",
                "b32 f32 f32",
                x -> quarter(x[0]) << 4 | quarter(x[1]))));
  }

  private static long halfOf(long bits) {
    float value = Float.intBitsToFloat((int) bits);
    return Double.isNaN(value) ? 0x7FFF : Float.floatToFloat16(value) & Bits.M16;
  }

  private static long positive(long bits) {
    return Float.intBitsToFloat((int) bits) <= 0 ? 0 : halfOf(bits);
  }

  /** E2M1 by its eight magnitudes. */
  private static long quarter(long bits) {
    float value = Float.intBitsToFloat((int) bits);
    if (Double.isNaN(value)) {
      return 7;
    }
    float[] magnitudes = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    int best = 0;
    for (int i = 1; i < 8; i++) {
      double before = Math.abs((double) Math.abs(value) - magnitudes[best]);
      double now = Math.abs((double) Math.abs(value) - magnitudes[i]);
      best = now < before || (now == before && (i & 1) == 0) ? i : best;
    }
    best = Math.abs(value) >= 6 ? 7 : best;
    return (bits >>> 31 & 1) << 3 | best;
  }
}
