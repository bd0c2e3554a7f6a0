package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * wgmma.mma_async: layouts in shared memory and registers, sums against exact arithmetic, and the
 * rules for what may happen meanwhile. Layouts are the PTX ISA's, written out here anew: the
 * canonical ones of shared memory as shapes and strides in elements, permuted piece by piece.
 */
class WgmmaTest {
  private static final int SHARED = 49152;
  private static final int B_AT = 16384;

  /** A layout of a matrix in shared memory. */
  private record Layout(int span, boolean kMajor) {
    @Override
    public String toString() {
      return span + (kMajor ? " bytes, K-major" : " bytes, MN-major");
    }
  }

  /**
   * One multiplication of a warpgroup.
   *
   * @param a the layout of A; null for registers
   */
  private record Form(
      int n, String types, String modifier, Layout a, Layout b, String scales, boolean adds) {
    private String type(int index) {
      return types.split(" ", -1)[index];
    }

    private int depth() {
      return 256 / bits(type(1));
    }

    private int sums() {
      return type(0).equals("f16") ? n / 4 : n / 2;
    }

    @Override
    public String toString() {
      return "n%d %s%s, A %s, B %s, %s"
          .formatted(n, types, modifier, a == null ? "in registers" : a, b, scales);
    }
  }

  private static int bits(String type) {
    return switch (type) {
      case "f32", "tf32", "s32" -> 32;
      case "f16", "bf16" -> 16;
      default -> 8;
    };
  }

  private static FloatFormat format(String type) {
    return FloatFormat.valueOf(type.toUpperCase(java.util.Locale.ROOT));
  }

  /** What a leading and a stride offset are in a layout packed without gaps. */
  private static long descriptor(int start, Layout layout, int extent, int bytes) {
    int depthBytes = 32;
    int leading;
    int stride;
    if (layout.kMajor()) {
      // Without a swizzle the two halves of K lie apart.
      leading = layout.span() == 16 ? extent * 16 : 0;
      stride = layout.span() * 8;
    } else {
      int k = depthBytes / bytes;
      int blocks = extent * bytes / layout.span();
      if (layout.span() == 16) {
        stride = 128;
        leading = blocks * 128;
      } else {
        leading = layout.span() * k;
        stride = layout.span() * 8;
      }
    }
    long mode = layout.span() == 16 ? 0 : layout.span() == 128 ? 1 : layout.span() == 64 ? 2 : 3;
    return start >> 4 | (long) (leading >> 4) << 16 | (long) (stride >> 4) << 32 | mode << 62;
  }

  /** The place of element (mn, k) in a layout packed so. */
  private static int place(int start, Layout layout, int extent, int bytes, int mn, int k) {
    int span = layout.span();
    int offset;
    if (layout.kMajor()) {
      int kb = k * bytes;
      offset = span == 16 ? kb / 16 * extent * 16 + mn * 16 + kb % 16 : mn * span + kb;
    } else {
      int nb = mn * bytes;
      int depth = 32 / bytes;
      offset =
          span == 16
              ? k / 8 * (extent * bytes / 16) * 128 + nb / 16 * 128 + k % 8 * 16 + nb % 16
              : nb / span * span * depth + k * span + nb % span;
    }
    int at = start + offset;
    int piece = at / 16 % (span / 16) ^ at / 128 % (span / 16);
    return at / span * span + piece * 16 + at % 16;
  }

  private static String vector(String name, int count) {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ", ").append(name).append(i);
    }
    return text.append('}').toString();
  }

  private static final String START =
      """
      .shared .align 1024 .b8 data[%d]; .reg .b64 in, out, da, db, at; .reg .b32 t, v, s, w;
      .reg .pred p, q; ld.param.u64 in, [a]; ld.param.u64 out, [b]; ld.param.u64 da, [adesc];
      ld.param.u64 db, [bdesc]; mov.u32 t, %%tid.x; mov.u32 s, data; shl.b32 w, t, 4;
      add.u32 s, s, w; mad.wide.u32 at, t, 16, in; .reg .b32 x<4>;
      FILL: ld.global.v4.u32 {x0, x1, x2, x3}, [at]; st.shared.v4.u32 [s], {x0, x1, x2, x3};
      add.u64 at, at, 2048; add.u32 s, s, 2048; add.u32 w, w, 2048;
      setp.lt.u32 p, w, %d; @p bra FILL;
      mad.wide.u32 at, t, 16, in;
      """
          .formatted(SHARED, SHARED);

  private static final String PARAMETERS =
      ".param .u64 a, .param .u64 b, .param .u64 adesc, .param .u64 bdesc";

  private static String instruction(Form form) {
    return "wgmma.mma_async.sync.aligned.m64n%dk%d%s.%s "
            .formatted(form.n(), form.depth(), form.modifier(), form.types().replace(' ', '.'))
        + vector("d", form.sums())
        + (form.a() == null ? ", {a0, a1, a2, a3}" : ", da")
        + ", db, p"
        + form.scales()
        + ";\n";
  }

  /** Loads 16 bytes of A a thread from behind shared memory's contents, and D from behind them. */
  private static String body(Form form) {
    StringBuilder body = new StringBuilder(START);
    String register = form.type(0).equals("f32") ? "f32" : "b32";
    body.append(".reg .b32 a<4>; .reg .%s d<%d>;\n".formatted(register, form.sums()));
    body.append("ld.global.v4.u32 {a0, a1, a2, a3}, [at+%d];\n".formatted(SHARED));
    body.append("mad.wide.u32 at, t, %d, in;\n".formatted(4 * form.sums()));
    for (int i = 0; i < form.sums(); i++) {
      body.append("ld.global.b32 d%d, [at+%d];\n".formatted(i, SHARED + 2048 + 4 * i));
    }
    body.append(
        "fence.proxy.async; bar.sync 0; setp.eq.u32 p, 0, %d;\n".formatted(form.adds() ? 0 : 1));
    body.append("wgmma.fence.sync.aligned;\n").append(instruction(form));
    body.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    body.append("mad.wide.u32 out, t, %d, out;\n".formatted(4 * form.sums()));
    for (int i = 0; i < form.sums(); i++) {
      body.append("st.global.b32 [out+%d], d%d;\n".formatted(4 * i, i));
    }
    return body.append("ret;").toString();
  }

  /** D of A (64 × depth), B (depth × n, by columns) and C, all codes. */
  private static int[] multiply(Form form, int[] a, int[] b, int[] c, MmaArithmetic arithmetic) {
    Device device = Hopper.kernel(PARAMETERS, body(form));
    device.options = device.options.withArithmetic(arithmetic);
    int bytes = bits(form.type(1)) / 8;
    int k = form.depth();
    byte[] in = new byte[SHARED + 2048 + 128 * 4 * form.sums()];
    for (int row = 0; row < 64; row++) {
      for (int i = 0; i < k; i++) {
        int code = a[row * k + i];
        if (form.a() != null) {
          put(in, place(0, form.a(), 64, bytes, row, i), bytes, code);
        } else {
          // Rows go over groups of four lanes, then registers; K over lanes, then registers.
          int each = 4 / bytes;
          int lane = row / 16 * 32 + row % 8 * 4 + i / each % 4;
          int register = row / 8 % 2 + 2 * (i / (4 * each));
          put(in, SHARED + lane * 16 + register * 4 + i % each * bytes, bytes, code);
        }
      }
    }
    for (int column = 0; column < form.n(); column++) {
      for (int i = 0; i < k; i++) {
        put(in, place(B_AT, form.b(), form.n(), bytes, column, i), bytes, b[column * k + i]);
      }
    }
    int sumBytes = bits(form.type(0)) / 8;
    for (int row = 0; row < 64; row++) {
      for (int column = 0; column < form.n(); column++) {
        int at = sumPlace(form, row, column);
        put(in, SHARED + 2048 + at, sumBytes, c[row * form.n() + column]);
      }
    }
    Allocation input = device.bytes(in);
    Allocation output = device.bytes(new byte[128 * 4 * form.sums()]);
    long aDescriptor = form.a() == null ? 0 : descriptor(0, form.a(), 64, bytes);
    device.run(1, 128, input, output, aDescriptor, descriptor(B_AT, form.b(), form.n(), bytes));
    byte[] out = device.bytes(output);
    int[] d = new int[64 * form.n()];
    for (int row = 0; row < 64; row++) {
      for (int column = 0; column < form.n(); column++) {
        int at = sumPlace(form, row, column);
        for (int i = 0; i < sumBytes; i++) {
          d[row * form.n() + column] |= (out[at + i] & 0xFF) << (8 * i);
        }
      }
    }
    return d;
  }

  /** Where an element of D lies among the threads' registers, in bytes. */
  private static int sumPlace(Form form, int row, int column) {
    int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    int element = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
    return thread * 4 * form.sums() + element * bits(form.type(0)) / 8;
  }

  private static void put(byte[] target, int at, int bytes, int value) {
    for (int i = 0; i < bytes; i++) {
      target[at + i] = (byte) (value >>> (8 * i));
    }
  }

  private static int[] codes(SplittableRandom random, String type, int count) {
    int[] codes = new int[count];
    for (int i = 0; i < count; i++) {
      codes[i] =
          switch (type) {
            case "f32" -> Float.floatToIntBits((random.nextInt(4001) - 2000) / 64f);
            case "tf32" -> Float.floatToIntBits((random.nextInt(2001) - 1000) / 8f) & ~0x1FFF;
            case "f16", "bf16" ->
                (random.nextBoolean() ? 0x8000 : 0) | 0x3C00 + random.nextInt(200);
            case "e4m3" -> (random.nextBoolean() ? 0x80 : 0) | 0x30 + random.nextInt(20);
            case "e5m2" -> (random.nextBoolean() ? 0x80 : 0) | 0x38 + random.nextInt(12);
            case "s32" -> random.nextInt();
            default -> random.nextInt(256);
          };
    }
    return codes;
  }

  /** Values are so few bits long that doubles hold every sum exactly. */
  private static double value(String type, int code) {
    return switch (type) {
      case "s8" -> (byte) code;
      case "u8" -> code & 0xFF;
      case "s32" -> code;
      case "tf32" -> Float.intBitsToFloat(code & ~0x1FFF);
      default -> format(type).decode(code);
    };
  }

  private static double[] values(String type, int[] codes) {
    return java.util.Arrays.stream(codes).mapToDouble(code -> value(type, code)).toArray();
  }

  private static void check(Form form) {
    SplittableRandom random = new SplittableRandom(form.n() + form.types().hashCode());
    int k = form.depth();
    int[] a = codes(random, form.type(1), 64 * k);
    int[] b = codes(random, form.type(2), form.n() * k);
    int[] c = codes(random, form.type(0), 64 * form.n());
    int[] d = multiply(form, a, b, c, MmaArithmetic.EXACT);
    double[] x = values(form.type(1), a);
    double[] y = values(form.type(2), b);
    boolean negatesA = form.scales().startsWith(", -1");
    boolean negatesB = form.scales().matches(", -?1, -1.*");
    for (int row = 0; row < 64; row++) {
      for (int column = 0; column < form.n(); column++) {
        double sum = 0;
        for (int i = 0; i < k; i++) {
          sum += x[row * k + i] * y[column * k + i];
        }
        sum = negatesA != negatesB ? -sum : sum;
        int at = row * form.n() + column;
        sum = form.adds() ? sum + value(form.type(0), c[at]) : sum;
        int expected =
            switch (form.type(0)) {
              case "f32" -> Float.floatToIntBits((float) sum);
              case "f16" -> half(sum);
              default ->
                  form.modifier().isEmpty()
                      ? (int) (long) sum
                      : Math.clamp((long) sum, Integer.MIN_VALUE, Integer.MAX_VALUE);
            };
        if (expected != d[at]) {
          assertEquals(
              Integer.toHexString(expected),
              Integer.toHexString(d[at]),
              "row %d, column %d".formatted(row, column));
        }
      }
    }
  }

  /** The nearest F16, found between its neighbours. */
  private static int half(double value) {
    int code = Float.floatToFloat16((float) value) & 0xFFFF;
    int best = code;
    for (int near : new int[] {code - 1, code + 1}) {
      double distance = Math.abs(Float.float16ToFloat((short) near) - value);
      double least = Math.abs(Float.float16ToFloat((short) best) - value);
      if (distance < least || (distance == least && (near & 1) == 0)) {
        best = near;
      }
    }
    return best;
  }

  private static Stream<DynamicTest> tests(Stream<Form> forms) {
    return forms.map(form -> DynamicTest.dynamicTest(form.toString(), () -> check(form)));
  }

  private static final Layout K128 = new Layout(128, true);

  @TestFactory
  Stream<DynamicTest> everyTypeAndWidthIsExact() {
    Stream.Builder<Form> forms = Stream.builder();
    String[][] types = {
      {"f32 f16 f16", ", 1, 1, 0, 0"},
      {"f16 f16 f16", ", 1, 1, 0, 0"},
      {"f32 bf16 bf16", ", 1, 1, 0, 0"},
      {"f32 tf32 tf32", ", 1, 1"},
      {"f32 e4m3 e4m3", ", 1, 1"},
      {"f32 e4m3 e5m2", ", 1, 1"},
      {"f32 e5m2 e4m3", ", 1, 1"},
      {"f32 e5m2 e5m2", ", 1, 1"},
      {"f16 e4m3 e4m3", ", 1, 1"},
      {"s32 s8 s8", ""},
      {"s32 u8 s8", ""},
      {"s32 s8 u8", ""},
    };
    for (String[] type : types) {
      for (int n : new int[] {8, 32, 96}) {
        forms.add(new Form(n, type[0], "", K128, K128, type[1], n != 64));
      }
    }
    for (int n = 8; n <= 256; n += 8) {
      forms.add(new Form(n, "f32 e4m3 e4m3", "", K128, K128, ", 1, 1", true));
    }
    forms.add(new Form(16, "s32 s8 s8", ".satfinite", K128, K128, "", true));
    forms.add(new Form(32, "f32 f16 f16", "", K128, K128, ", -1, 1, 0, 0", true));
    forms.add(new Form(32, "f32 e4m3 e4m3", "", K128, K128, ", 1, -1", true));
    forms.add(new Form(32, "f32 tf32 tf32", "", K128, K128, ", -1, -1", true));
    return tests(forms.build());
  }

  @TestFactory
  Stream<DynamicTest> everyLayoutIsReadRight() {
    Stream.Builder<Form> forms = Stream.builder();
    for (int span : new int[] {16, 32, 64, 128}) {
      Layout k = new Layout(span, true);
      Layout mn = new Layout(span, false);
      forms.add(new Form(128, "f32 e4m3 e4m3", "", k, k, ", 1, 1", true));
      forms.add(new Form(40, "f32 tf32 tf32", "", k, K128, ", 1, 1", true));
      forms.add(new Form(128, "f32 f16 f16", "", k, mn, ", 1, 1, 0, 1", true));
      forms.add(new Form(64, "f32 bf16 bf16", "", mn, k, ", 1, 1, 1, 0", true));
      forms.add(new Form(192, "f16 f16 f16", "", mn, mn, ", 1, 1, 1, 1", true));
      forms.add(new Form(64, "f32 f16 f16", "", null, mn, ", 1, 1, 1", true));
    }
    for (String type : new String[] {"f32 f16 f16", "f32 bf16 bf16"}) {
      forms.add(new Form(24, type, "", null, K128, ", 1, 1, 0", true));
    }
    forms.add(new Form(24, "f32 tf32 tf32", "", null, K128, ", 1, 1", true));
    forms.add(new Form(24, "f32 e4m3 e5m2", "", null, K128, ", -1, 1", true));
    forms.add(new Form(24, "s32 u8 u8", "", null, K128, "", true));
    return tests(forms.build());
  }

  /** A single one in A and in B meets where it must, and nowhere else. */
  @Test
  void onesMeetInOnePlace() {
    Form form = new Form(16, "f32 e4m3 e4m3", "", K128, new Layout(64, true), ", 1, 1", false);
    Form registers = new Form(16, "f32 e4m3 e4m3", "", null, K128, ", 1, 1", false);
    SplittableRandom random = new SplittableRandom(1);
    for (int n = 0; n < 40; n++) {
      int row = random.nextInt(64);
      int column = random.nextInt(16);
      int k = random.nextInt(32);
      int[] a = new int[64 * 32];
      int[] b = new int[16 * 32];
      a[row * 32 + k] = 0x38;
      b[column * 32 + k] = 0x40;
      int[] expected = new int[64 * 16];
      expected[row * 16 + column] = Float.floatToIntBits(2);
      for (Form one : new Form[] {form, registers}) {
        assertArrayEquals(
            expected, multiply(one, a, b, new int[64 * 16], MmaArithmetic.EXACT), one.toString());
      }
    }
  }

  /** Sums of FP8 keep so few bits that 1/16 · 1/16 is lost beside 64. */
  @Test
  void theModelOfTheHardwareSticks() {
    Form form = new Form(8, "f32 e4m3 e4m3", "", K128, K128, ", 1, 1", true);
    int[] a = new int[64 * 32];
    int[] b = new int[8 * 32];
    int[] c = new int[64 * 8];
    java.util.Arrays.fill(a, 0x18);
    java.util.Arrays.fill(b, 0x18);
    java.util.Arrays.fill(c, Float.floatToIntBits(64));
    assertEquals(
        64, Float.intBitsToFloat(multiply(form, a, b, c, MmaArithmetic.HARDWARE_MODEL)[0]));
    java.util.Arrays.fill(c, Float.floatToIntBits(63));
    assertEquals(
        63.125f, Float.intBitsToFloat(multiply(form, a, b, c, MmaArithmetic.HARDWARE_MODEL)[0]));
    Form wide = new Form(8, "f32 f16 f16", "", K128, K128, ", 1, 1, 0, 0", true);
    a = new int[64 * 16];
    b = new int[8 * 16];
    java.util.Arrays.fill(a, 0x2C00);
    java.util.Arrays.fill(b, 0x2C00);
    java.util.Arrays.fill(c, Float.floatToIntBits(64));
    assertEquals(
        64.0625f, Float.intBitsToFloat(multiply(wide, a, b, c, MmaArithmetic.HARDWARE_MODEL)[0]));
  }

  /** 1/16 · 1/16 over and over, K = 262,144: from 16,384 on the sum stays at 64. */
  @Test
  void aLongSumOfFp8NeverPasses64() {
    String body =
        START
            + """
            .reg .f32 d<4>; mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;
            fence.proxy.async; bar.sync 0; setp.eq.u32 p, 0, 0; mov.u32 v, 0;
            wgmma.fence.sync.aligned;
            LOOP:
            wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1;
            wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;
            add.u32 v, v, 1; setp.lt.u32 q, v, 8192; @q bra LOOP;
            wgmma.wait_group.sync.aligned 0;
            mad.wide.u32 out, t, 4, out; st.global.f32 [out], d3; ret;
            """;
    byte[] sixteenths = new byte[SHARED];
    java.util.Arrays.fill(sixteenths, (byte) 0x18);
    for (MmaArithmetic arithmetic : MmaArithmetic.values()) {
      Device device = Hopper.kernel(PARAMETERS, body);
      device.options = device.options.withArithmetic(arithmetic);
      Allocation out = device.ints(new int[128]);
      device.run(
          1,
          128,
          device.bytes(sixteenths),
          out,
          descriptor(0, K128, 64, 1),
          descriptor(B_AT, K128, 8, 1));
      float expected = arithmetic == MmaArithmetic.HARDWARE_MODEL ? 64 : 1024;
      assertEquals(expected, Float.intBitsToFloat(device.ints(out)[77]));
    }
  }

  private static final String TWO =
      START
          + """
          .reg .f32 d<4>, e<4>, f; mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;
          mov.f32 e0, d0; mov.f32 e1, d0; mov.f32 e2, d0; mov.f32 e3, d0; .reg .b32 a<4>;
          mov.b32 a0, 0x38383838; mov.b32 a1, a0; mov.b32 a2, a0; mov.b32 a3, a0;
          fence.proxy.async;
          bar.sync 0; setp.eq.u32 p, 0, 0;
          wgmma.fence.sync.aligned;
          wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1;
          wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1;
          wgmma.commit_group.sync.aligned;
          wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {e0,e1,e2,e3}, {a0,a1,a2,a3}, db, p, 1, 1;
          wgmma.commit_group.sync.aligned;
          wgmma.wait_group.sync.aligned 1;
          mad.wide.u32 out, t, 8, out; st.global.f32 [out], d0;
          wgmma.wait_group.sync.aligned 0;
          st.global.f32 [out+4], e0;
          DONE: ret;
          """;

  private static Device two(String from, String to) {
    assertTrue(TWO.contains(from), from);
    return Hopper.kernel(PARAMETERS, TWO.replace(from, to));
  }

  private static Object[] arguments(Device device) {
    byte[] ones = new byte[SHARED];
    java.util.Arrays.fill(ones, (byte) 0x38);
    return Hopper.of(
        device.bytes(ones),
        device.ints(new int[256]),
        descriptor(0, K128, 64, 1),
        descriptor(B_AT, K128, 8, 1));
  }

  @Test
  void groupsLandOneAfterTheOther() {
    Device device = two("ret;", "ret;");
    for (int seed = 0; seed < 4; seed++) {
      device.options = device.options.withSeed(seed);
      Object[] arguments = arguments(device);
      device.run(1, 128, arguments);
      int[] out = device.ints((Allocation) arguments[1]);
      for (int t = 0; t < 128; t++) {
        assertEquals(64, Float.intBitsToFloat(out[2 * t]));
        assertEquals(32, Float.intBitsToFloat(out[2 * t + 1]));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          wgmma.wait_group.sync.aligned 1;   | wgmma.wait_group.sync.aligned 2;  | RACE | d0 is an accumulator of a wgmma.mma_async that no wgmma.wait_group
          wgmma.wait_group.sync.aligned 0;   | ``                                | RACE | e0 is an accumulator of a
          wgmma.fence.sync.aligned;          | ``                                | RACE | no wgmma.fence stands before
          wgmma.fence.sync.aligned;          | wgmma.fence.sync.aligned; mov.f32 d1, 0f00000000; | RACE | d1 is an accumulator that was accessed with no wgmma.fence
          wgmma.fence.sync.aligned;          | wgmma.fence.sync.aligned; mov.f32 f, e2; | RACE | e2 is an accumulator that was accessed
          wgmma.fence.sync.aligned;          | wgmma.fence.sync.aligned; mov.b32 a1, 0; | RACE | a1 holds A and was written
          st.global.f32 [out], d0;           | mov.b32 a2, 0;                    | RACE | a2 is written while
          st.global.f32 [out], d0;           | st.shared.u8 [data+16384], 0;     | RACE | an asynchronous read still in flight
          fence.proxy.async;                 | ``                                | RACE | no fence.proxy.async
          bar.sync 0;                        | ``                                | RACE | race on byte
          {e0,e1,e2,e3}, {a0,a1,a2,a3}, db, p | {e0,e1,e2,e3}, {d0,d1,d2,d3}, db, p | RACE | d0 holds A, and is an accumulator
          setp.eq.u32 p, 0, 0;               | setp.eq.u32 p, t, 0;              | ILLEGAL_INSTRUCTION | lanes differ in whether
          setp.eq.u32 p, 0, 0;               | setp.lt.u32 p, t, 32;             | ILLEGAL_INSTRUCTION | with other operands
          setp.eq.u32 p, 0, 0;               | setp.eq.u32 p, 0, 0; cvt.u64.u32 at, t; add.u64 da, da, at; | ILLEGAL_INSTRUCTION | lanes differ in the descriptor of A
          setp.eq.u32 p, 0, 0;               | setp.eq.u32 p, 0, 0; or.b64 db, db, 0x2000000000000; | ILLEGAL_INSTRUCTION | base offset
          setp.eq.u32 p, 0, 0;               | setp.eq.u32 p, 0, 0; or.b64 db, db, 0x8000; | ILLEGAL_INSTRUCTION | mean nothing
          setp.eq.u32 p, 0, 0;               | setp.eq.u32 p, 0, 0; or.b64 db, db, 0x3fff; | OUT_OF_BOUNDS | 16 bytes at shared address
          bar.sync 0;                        | bar.sync 0; setp.ge.u32 q, t, 96; @q bra DONE; | DEADLOCK | waits until these warps multiply, too: 3
          """)
  void brokenRulesAreFaults(String from, String to, DeviceFault.Kind kind, String part) {
    Device device = two(from, to);
    Hopper.faults(kind, device, 128, arguments(device), part);
  }

  /** Where nothing looks for races, what is read too early is what was there before. */
  @Test
  void resultsLandLate() {
    Device device = two("setp.eq.u32 p, 0, 0;", "setp.eq.u32 p, 0, 0; mov.f32 f, d0;");
    device.options = device.options.withRaceDetection(false);
    Object[] arguments = arguments(device);
    device.run(1, 128, arguments);
    assertEquals(64, Float.intBitsToFloat(device.ints((Allocation) arguments[1])[0]));
  }

  @Test
  void aWarpgroupHasFourWarps() {
    Device device = two("ret;", "ret;");
    Hopper.faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        device,
        96,
        arguments(device),
        "belongs to no warpgroup");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n12k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n16k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 2
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n8k16.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, da, db, p, 1, 1, 0
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, {a0,a1,a2,a3}, db, p, 1, 1, 0, 0
          m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, da, db, p, 1, 1        | m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,_}, da, db, p, 1, 1
          """)
  void formsThatDontExistAreRefused(String from, String to) {
    assertThrows(PtxException.class, () -> two(from, to));
  }
}
