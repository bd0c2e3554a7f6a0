package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * mma.sync of 8, 6 and 4 bits, with and without scales of blocks: layouts one element and one scale
 * at a time, sums against exact decimal arithmetic. The places are those of the PTX ISA's figures
 * and tables, written out here anew.
 */
class BlockScaleTest {
  /**
   * A form of the instruction.
   *
   * @param kind as it is written, {@code kind::mxf4}
   * @param vector of scales, as {@code scale_vec::2X}; empty for the one that needs no word
   * @param a element type of A
   * @param b element type of B
   * @param sum type of C and D
   * @param scale type of the scales; empty for none
   * @param blocks of K that have a scale each
   */
  private record Form(
      String kind, String vector, String a, String b, String sum, String scale, int blocks) {
    int depth() {
      return kind.equals("kind::f8f6f4") || kind.equals("kind::mxf8f6f4") ? 32 : 64;
    }

    String shape() {
      return "m16n8k" + depth();
    }

    String modifiers() {
      String scaling = scale.isEmpty() ? "" : ".block_scale";
      return kind + scaling + (vector.isEmpty() ? "" : "." + vector);
    }

    String types() {
      return String.join(".", sum, a, b, sum) + (scale.isEmpty() ? "" : "." + scale);
    }

    /** With the shape before the kind, as the manual has it. */
    String name() {
      return "mma.sync.aligned." + shape() + ".row.col." + modifiers() + "." + types();
    }

    /** With the kind before the shape, as others write it. */
    String otherName() {
      return "mma.sync.aligned." + modifiers() + "." + shape() + ".row.col." + types();
    }

    /** The scale that leaves numbers as they are. */
    int one() {
      return scale.equals("ue4m3") ? 0x38 : 127;
    }

    int two() {
      return scale.equals("ue4m3") ? 0x40 : 128;
    }

    @Override
    public String toString() {
      return modifiers() + " " + types();
    }
  }

  private static Form plain(String a, String b, String sum) {
    return new Form("kind::f8f6f4", "", a, b, sum, "", 0);
  }

  private static Form mx(String a, String b) {
    return new Form("kind::mxf8f6f4", "scale_vec::1X", a, b, "f32", "ue8m0", 1);
  }

  private static final Form MXF4 =
      new Form("kind::mxf4", "scale_vec::2X", "e2m1", "e2m1", "f32", "ue8m0", 2);
  private static final Form NVF4_OF_32 =
      new Form("kind::mxf4nvf4", "scale_vec::2X", "e2m1", "e2m1", "f32", "ue8m0", 2);
  private static final Form NVF4 =
      new Form("kind::mxf4nvf4", "scale_vec::4X", "e2m1", "e2m1", "f32", "ue4m3", 4);

  private static Stream<Form> scaledForms() {
    return Stream.of(
        mx("e4m3", "e4m3"),
        mx("e4m3", "e2m1"),
        mx("e2m1", "e5m2"),
        mx("e3m2", "e2m3"),
        mx("e2m1", "e2m1"),
        new Form("kind::mxf8f6f4", "", "e5m2", "e2m3", "f32", "ue8m0", 1),
        MXF4,
        new Form("kind::mxf4", "", "e2m1", "e2m1", "f32", "ue8m0", 2),
        NVF4_OF_32,
        NVF4);
  }

  private static Stream<Form> forms() {
    return Stream.concat(
        Stream.of(
            plain("e2m1", "e4m3", "f32"),
            plain("e5m2", "e2m1", "f32"),
            plain("e3m2", "e2m3", "f32"),
            plain("e2m3", "e3m2", "f16"),
            plain("e4m3", "e2m1", "f16")),
        scaledForms());
  }

  /** Which byte and thread hold scales. */
  private record Selector(int byteOfA, int threadOfA, int byteOfB, int threadOfB) {
    static final Selector FIRST = new Selector(0, 0, 0, 0);

    String operands() {
      return ", sa, {%d, %d}, sb, {%d, %d}".formatted(byteOfA, threadOfA, byteOfB, threadOfB);
    }
  }

  /** A kernel of one warp: loads registers, multiplies, stores. Matrices are codes in row order. */
  private static final class Multiplier {
    private static final int WORDS = 12;

    private final Form form;
    private final boolean half;
    private final Device device;

    Multiplier(Form form, String name, String scales) {
      this.form = form;
      half = form.sum().equals("f16");
      int sums = half ? 2 : 4;
      StringBuilder body = new StringBuilder(".reg .b64 p, q; .reg .b32 t, sa, sb;");
      body.append(" .reg .u16 h<4>; .reg .b32 a<4>, b<2>, c<4>, d<4>; ld.param.u64 p, [in];");
      body.append(" ld.param.u64 q, [out]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 48, p;");
      body.append(" mad.wide.u32 q, t, 16, q;\n");
      String[] registers = {"a0", "a1", "a2", "a3", "b0", "b1", "c0", "c1", "c2", "c3", "sa", "sb"};
      for (int i = 0; i < WORDS; i++) {
        body.append("ld.global.u32 %s, [p+%d];".formatted(registers[i], 4 * i));
      }
      String sum = half ? "{%s0, %s1}" : "{%s0, %s1, %s2, %s3}";
      body.append('\n').append(name).append(' ').append(sum.replace("%s", "d"));
      body.append(", {a0, a1, a2, a3}, {b0, b1}, ").append(sum.replace("%s", "c"));
      body.append(scales).append(";\n");
      for (int i = 0; i < sums; i++) {
        body.append("st.global.u32 [q+%d], d%d;".formatted(4 * i, i));
      }
      device = Device.kernel(".param .u64 in, .param .u64 out", body.append(" ret;").toString());
      device.options = ExecutionOptions.of(120);
    }

    static Multiplier of(Form form) {
      boolean scaled = !form.scale().isEmpty();
      return new Multiplier(form, form.name(), scaled ? Selector.FIRST.operands() : "");
    }

    /** Scales go where the first byte and thread are. */
    int[] multiply(int[] a, int[] b, int[] c, int[] scaleA, int[] scaleB) {
      int[] registersA = new int[32];
      int[] registersB = new int[32];
      for (int lane = 0; lane < 32 && form.blocks() > 0; lane++) {
        int row = lane / 4 + lane % 4 * 8;
        for (int block = 0; block < form.blocks(); block++) {
          int of = form.blocks();
          registersA[lane] |= lane % 4 < 2 ? scaleA[row * of + block] << (8 * block) : 0;
          registersB[lane] |= lane % 4 < 1 ? scaleB[lane / 4 * of + block] << (8 * block) : 0;
        }
      }
      return withRegisters(a, b, c, registersA, registersB);
    }

    int[] withRegisters(int[] a, int[] b, int[] c, int[] scaleA, int[] scaleB) {
      int[] in = new int[32 * WORDS];
      for (int lane = 0; lane < 32; lane++) {
        int at = lane * WORDS;
        int group = lane / 4;
        int quad = lane % 4;
        int depth = form.depth();
        if (depth == 64) {
          for (int i = 0; i < 32; i++) {
            int row = i < 8 || (i >= 16 && i < 24) ? group : group + 8;
            int k = quad * 8 + (i & 7) + (i >= 16 ? 32 : 0);
            in[at + i / 8] |= a[row * 64 + k] << (4 * (i % 8));
          }
          for (int i = 0; i < 16; i++) {
            int k = quad * 8 + (i & 7) + (i >= 8 ? 32 : 0);
            in[at + 4 + i / 8] |= b[k * 8 + group] << (4 * (i % 8));
          }
        } else {
          for (int i = 0; i < 16; i++) {
            int row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
            int k = quad * 4 + (i & 3) + (i >= 8 ? 16 : 0);
            in[at + i / 4] |= inByte(a[row * 32 + k], form.a()) << (8 * (i % 4));
          }
          for (int i = 0; i < 8; i++) {
            int k = quad * 4 + (i & 3) + (i >= 4 ? 16 : 0);
            in[at + 4 + i / 4] |= inByte(b[k * 8 + group], form.b()) << (8 * (i % 4));
          }
        }
        for (int i = 0; i < 4; i++) {
          int value = c[cPlace(group, quad, i)];
          in[at + 6 + (half ? i / 2 : i)] |= half ? value << (16 * (i % 2)) : value;
        }
        in[at + 10] = scaleA[lane];
        in[at + 11] = scaleB[lane];
      }
      Allocation input = device.ints(in);
      Allocation output = device.ints(new int[32 * 4]);
      device.run(1, 32, input, output);
      int[] out = device.ints(output);
      int[] d = new int[16 * 8];
      for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
          d[cPlace(lane / 4, lane % 4, i)] =
              half ? (out[lane * 4 + i / 2] >>> (16 * (i % 2))) & 0xFFFF : out[lane * 4 + i];
        }
      }
      return d;
    }

    private static int cPlace(int group, int quad, int i) {
      return (i < 2 ? group : group + 8) * 8 + quad * 2 + (i & 1);
    }

    /** Four bits stand in the middle of a byte; what lies beside elements counts for nothing. */
    private static int inByte(int code, String type) {
      return switch (type) {
        case "e2m1" -> 0x81 | code << 2;
        case "e2m3", "e3m2" -> 0xC0 | code;
        default -> code;
      };
    }
  }

  private static int oneOf(String type) {
    return switch (type) {
      case "e4m3" -> 0x38;
      case "e5m2" -> 0x3C;
      case "e3m2" -> 0x0C;
      case "e2m3" -> 0x08;
      case "e2m1" -> 0x2;
      case "f16" -> 0x3C00;
      default -> 0x3F80_0000;
    };
  }

  private static final int[] NO_SUMS = new int[16 * 8];

  private static int[] filled(int length, int value) {
    int[] values = new int[length];
    Arrays.fill(values, value);
    return values;
  }

  private static int[] ones(Form form, int rows) {
    return filled(rows * Math.max(1, form.blocks()), form.one());
  }

  @TestFactory
  Stream<DynamicTest> everyElementStandsWhereTheFiguresSay() {
    return forms().map(form -> DynamicTest.dynamicTest(form.toString(), () -> oneHot(form)));
  }

  /** A single one in A and the same k in B: a single one in D; so every place is told apart. */
  private static void oneHot(Form form) {
    Multiplier m = Multiplier.of(form);
    int depth = form.depth();
    for (int row = 0; row < 16; row++) {
      for (int k = row % 3; k < depth; k += 3) {
        int column = (row + k) % 8;
        int[] a = new int[16 * depth];
        int[] b = new int[depth * 8];
        a[row * depth + k] = oneOf(form.a());
        b[k * 8 + column] = oneOf(form.b());
        int[] d = m.multiply(a, b, NO_SUMS, ones(form, 16), ones(form, 8));
        for (int i = 0; i < d.length; i++) {
          int expected = i == row * 8 + column ? oneOf(form.sum()) : 0;
          assertEquals(expected, d[i], form + " row " + row + " k " + k + " at " + i);
        }
      }
    }
  }

  /** Every selector that the instruction allows. */
  private static Stream<Selector> selectors(Form form) {
    int step = form.blocks();
    IntStream bytes = IntStream.iterate(0, b -> b < 4, b -> b + step);
    return bytes
        .boxed()
        .flatMap(b -> IntStream.range(0, 4).mapToObj(t -> new Selector(b, t % 2, 4 - step - b, t)));
  }

  @TestFactory
  Stream<DynamicTest> everyScaleStandsWhereItsSelectorSays() {
    return Stream.of(mx("e4m3", "e4m3"), MXF4, NVF4_OF_32, NVF4)
        .flatMap(
            form ->
                selectors(form)
                    .map(
                        selector ->
                            DynamicTest.dynamicTest(
                                form + " " + selector, () -> oneScale(form, selector))));
  }

  /**
   * One byte of one lane is two, all others are one: ones summed up then give a block more in one
   * row, or column, or nothing changes, where the selector doesn't look.
   */
  private static void oneScale(Form form, Selector selector) {
    Multiplier m = new Multiplier(form, form.name(), selector.operands());
    int depth = form.depth();
    int[] a = filled(16 * depth, oneOf(form.a()));
    int[] b = filled(depth * 8, oneOf(form.b()));
    int all = form.one() * 0x01010101;
    for (int lane = 0; lane < 32; lane++) {
      for (int at = 0; at < 4; at++) {
        int[] scales = filled(32, all);
        scales[lane] += (form.two() - form.one()) << (8 * at);
        boolean ofA = lane % 4 / 2 == selector.threadOfA() && within(form, selector.byteOfA(), at);
        int row = ofA ? lane / 4 + lane % 2 * 8 : -1;
        int[] d = m.withRegisters(a, b, NO_SUMS, scales, filled(32, all));
        for (int i = 0; i < d.length; i++) {
          assertEquals(sum(form, i / 8 == row), Float.intBitsToFloat(d[i]), "A, lane " + lane);
        }
        boolean ofB = lane % 4 == selector.threadOfB() && within(form, selector.byteOfB(), at);
        int column = ofB ? lane / 4 : -1;
        d = m.withRegisters(a, b, NO_SUMS, filled(32, all), scales);
        for (int i = 0; i < d.length; i++) {
          assertEquals(sum(form, i % 8 == column), Float.intBitsToFloat(d[i]), "B, lane " + lane);
        }
      }
    }
  }

  private static boolean within(Form form, int first, int at) {
    return at >= first && at < first + form.blocks();
  }

  private static float sum(Form form, boolean doubled) {
    return form.depth() + (doubled ? form.depth() / form.blocks() : 0);
  }

  /** Each byte scales its own block of K. */
  @TestFactory
  Stream<DynamicTest> everyBlockHasItsOwnScale() {
    return Stream.of(mx("e4m3", "e4m3"), MXF4, NVF4_OF_32, NVF4)
        .map(form -> DynamicTest.dynamicTest(form.toString(), () -> oneBlock(form)));
  }

  private static void oneBlock(Form form) {
    Multiplier m = Multiplier.of(form);
    int depth = form.depth();
    for (int k = 0; k < depth; k++) {
      int[] a = new int[16 * depth];
      int[] b = new int[depth * 8];
      a[5 * depth + k] = oneOf(form.a());
      b[k * 8 + 3] = oneOf(form.b());
      int block = k / (depth / form.blocks());
      for (int other = 0; other < form.blocks(); other++) {
        int[] scaleA = ones(form, 16);
        int[] scaleB = ones(form, 8);
        scaleA[5 * form.blocks() + other] = form.two();
        scaleB[3 * form.blocks() + other] = form.two();
        float d = Float.intBitsToFloat(m.multiply(a, b, NO_SUMS, scaleA, scaleB)[5 * 8 + 3]);
        assertEquals(other == block ? 4f : 1f, d, "k " + k + ", block " + other);
      }
    }
  }

  private static final Map<String, int[]> TABLES =
      Stream.of("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
          .collect(Collectors.toUnmodifiableMap(type -> type, Golden::decodeTable));

  private static double decode(int code, String type) {
    return switch (type) {
      case "f32" -> Float.intBitsToFloat(code);
      case "f16" -> Float.float16ToFloat((short) code);
      case "ue8m0" -> code == 0xFF ? Double.NaN : Math.scalb(1.0, code - 127);
      default -> Float.intBitsToFloat(TABLES.get(type.equals("ue4m3") ? "e4m3" : type)[code]);
    };
  }

  private static int[] finite(int count, String type, SplittableRandom random, boolean wide) {
    int[] codes = new int[count];
    int bits =
        switch (type) {
          case "e2m1" -> 4;
          case "e2m3", "e3m2" -> 6;
          case "ue4m3" -> 7;
          default -> 8;
        };
    double[] table = IntStream.range(0, 1 << bits).mapToDouble(c -> decode(c, type)).toArray();
    for (int i = 0; i < count; i++) {
      do {
        codes[i] = random.nextInt(1 << bits);
      } while (!Double.isFinite(table[codes[i]])
          || (!wide && type.equals("ue8m0") && Math.abs(codes[i] - 127) > 6));
    }
    return codes;
  }

  private static int[] sums(String type, SplittableRandom random) {
    int[] codes = new int[16 * 8];
    for (int i = 0; i < codes.length; i++) {
      float value = (float) random.nextDouble(-100, 100);
      codes[i] =
          type.equals("f16")
              ? Float.floatToFloat16(value) & 0xFFFF
              : Float.floatToRawIntBits(value);
    }
    return codes;
  }

  @TestFactory
  Stream<DynamicTest> exactSumsAreRoundedOnce() {
    return forms().map(form -> DynamicTest.dynamicTest(form.toString(), () -> exact(form)));
  }

  private static void exact(Form form) {
    SplittableRandom random = new SplittableRandom(form.toString().hashCode());
    ExactRounding.Table half = ExactRounding.half();
    boolean scaled = !form.scale().isEmpty();
    for (int round = 0; round < 4; round++) {
      Multiplier m =
          new Multiplier(
              form,
              round % 2 == 0 ? form.name() : form.otherName(),
              scaled ? Selector.FIRST.operands() : "");
      boolean wide = round >= 2;
      int depth = form.depth();
      int blocks = Math.max(1, form.blocks());
      int[] a = finite(16 * depth, form.a(), random, wide);
      int[] b = finite(depth * 8, form.b(), random, wide);
      int[] scaleA = scaled ? finite(16 * blocks, form.scale(), random, wide) : null;
      int[] scaleB = scaled ? finite(8 * blocks, form.scale(), random, wide) : null;
      int[] c = sums(form.sum(), random);
      int[] d = m.multiply(a, b, c, scaleA, scaleB);
      for (int i = 0; i < d.length; i++) {
        BigDecimal sum = new BigDecimal(decode(c[i], form.sum()));
        for (int k = 0; k < depth; k++) {
          int block = k / (depth / blocks);
          BigDecimal product =
              new BigDecimal(decode(a[i / 8 * depth + k], form.a()))
                  .multiply(new BigDecimal(decode(b[k * 8 + i % 8], form.b())));
          if (scaled) {
            product =
                product
                    .multiply(new BigDecimal(decode(scaleA[i / 8 * blocks + block], form.scale())))
                    .multiply(new BigDecimal(decode(scaleB[i % 8 * blocks + block], form.scale())));
          }
          sum = sum.add(product);
        }
        int expected =
            form.sum().equals("f16")
                ? half.round(sum, "rn", false)
                : Float.floatToRawIntBits(sum.floatValue());
        assertEquals(expected, d[i], form + " at " + i);
      }
    }
  }

  @Test
  void aScaleThatIsNoNumberMakesItsBlocksProductsNone() {
    for (MmaArithmetic arithmetic : MmaArithmetic.values()) {
      for (Form form : new Form[] {mx("e4m3", "e2m1"), MXF4, NVF4}) {
        Multiplier m = Multiplier.of(form);
        m.device.options = m.device.options.withArithmetic(arithmetic);
        int[] scaleA = ones(form, 16);
        scaleA[2 * form.blocks() + form.blocks() - 1] = form.scale().equals("ue4m3") ? 0x7F : 0xFF;
        int[] b = filled(form.depth() * 8, oneOf(form.b()));
        int[] d = m.multiply(new int[16 * form.depth()], b, NO_SUMS, scaleA, ones(form, 8));
        assertEquals(0x7FFF_FFFF, d[2 * 8], form.toString());
        assertEquals(0, d[3 * 8], form.toString());
      }
    }
  }

  @Test
  void theSignBitOfAScaleIsNotLookedAt() {
    Multiplier m = Multiplier.of(NVF4);
    int[] a = filled(16 * 64, oneOf("e2m1"));
    int[] b = filled(64 * 8, oneOf("e2m1"));
    int[] d = m.multiply(a, b, NO_SUMS, filled(64, 0xB8), ones(NVF4, 8));
    assertEquals(64f, Float.intBitsToFloat(d[0]));
  }

  @Test
  void sequentialSumsRoundAfterEachScaledProduct() {
    Multiplier m = Multiplier.of(NVF4);
    m.device.options = m.device.options.withArithmetic(MmaArithmetic.SEQUENTIAL_F32);
    SplittableRandom random = new SplittableRandom(4);
    int[] a = finite(16 * 64, "e2m1", random, true);
    int[] b = finite(64 * 8, "e2m1", random, true);
    int[] scaleA = finite(64, "ue4m3", random, true);
    int[] scaleB = finite(32, "ue4m3", random, true);
    int[] d = m.multiply(a, b, NO_SUMS, scaleA, scaleB);
    for (int i = 0; i < d.length; i++) {
      float sum = 0;
      for (int k = 0; k < 64; k++) {
        double x = decode(a[i / 8 * 64 + k], "e2m1") * decode(scaleA[i / 8 * 4 + k / 16], "ue4m3");
        double y = decode(b[k * 8 + i % 8], "e2m1") * decode(scaleB[i % 8 * 4 + k / 16], "ue4m3");
        sum = Math.fma((float) x, (float) y, sum);
      }
      assertEquals(sum, Float.intBitsToFloat(d[i]));
    }
  }

  /** 64 products at once, each 16 exactly; 35 bits below the largest scales' exponent. */
  @Test
  void theModelOfBlackwellKeepsThirtyFiveBitsOfScaledE2m1() {
    Multiplier m = Multiplier.of(MXF4);
    m.device.options = m.device.options.withArithmetic(MmaArithmetic.HARDWARE_MODEL);
    int[] a = new int[16 * 64];
    int[] b = new int[64 * 8];
    int[] c = new int[16 * 8];
    int[] scaleA = ones(MXF4, 16);
    // 2^35 − 2^35 + 1: the one is the last bit that is kept.
    c[0] = Float.floatToRawIntBits(0x1p35f);
    a[0] = 0xA;
    b[0] = 0x2;
    a[32] = 0x2;
    b[32 * 8] = 0x2;
    scaleA[0] = 127 + 35;
    int[] scaleB = ones(MXF4, 8);
    assertEquals(1f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
    // A half is lost, but two of them in one group are one.
    a[32] = 0x1;
    assertEquals(0f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
    a[33] = 0x1;
    b[33 * 8] = 0x2;
    assertEquals(1f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
    // In another group they aren't.
    a[33] = 0;
    a[48] = 0x1;
    b[48 * 8] = 0x2;
    assertEquals(0f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
  }

  /** 32 products at once, 25 bits below the largest exponent, that of scales included. */
  @Test
  void theModelOfBlackwellKeepsTwentyFiveBitsOfScaledBytes() {
    Form form = mx("e5m2", "e5m2");
    Multiplier m = Multiplier.of(form);
    m.device.options = m.device.options.withArithmetic(MmaArithmetic.HARDWARE_MODEL);
    int[] a = new int[16 * 32];
    int[] b = new int[32 * 8];
    int[] c = new int[16 * 8];
    int[] scaleA = ones(form, 16);
    int[] scaleB = ones(form, 8);
    scaleA[0] = 127 + 25;
    c[0] = Float.floatToRawIntBits(-0x1p25f);
    a[0] = 0x3C;
    b[0] = 0x3C;
    // 2^-13 · 2^-12 · 2^25 = 1.
    a[1] = 2 << 2;
    b[8] = 3 << 2;
    assertEquals(1f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
    b[8] = 2 << 2;
    assertEquals(0f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
    m.device.options = m.device.options.withArithmetic(MmaArithmetic.EXACT);
    assertEquals(0.5f, Float.intBitsToFloat(m.multiply(a, b, c, scaleA, scaleB)[0]));
  }

  @Test
  void selectorsMayStandInRegisters() {
    Multiplier m =
        new Multiplier(
            NVF4_OF_32,
            "mov.u16 h0, 2; mov.u16 h1, 1; mov.u16 h2, 0; mov.u16 h3, 3;\n" + NVF4_OF_32.name(),
            ", {sa}, {h0, h1}, {sb}, {h2, h3}");
    int[] a = filled(16 * 64, oneOf("e2m1"));
    int[] b = filled(64 * 8, oneOf("e2m1"));
    int[] scales = filled(32, 0x7F7F_7F7F);
    // Lane 2 has row 0 for thread 1; its upper bytes count.
    scales[2] = 0x807F_0000;
    int[] d = m.withRegisters(a, b, NO_SUMS, scales, filled(32, 0x7F7F_7F7F));
    assertEquals(96f, Float.intBitsToFloat(d[0]));
    assertEquals(64f, Float.intBitsToFloat(d[8]));
  }

  @Test
  void selectorsThatNameNothingAreRefused() {
    for (String scales :
        new String[] {
          ", sa, {1, 0}, sb, {0, 0}",
          ", sa, {0, 0}, sb, {4, 0}",
          ", sa, {0, 2}, sb, {0, 0}",
          ", sa, {0, 0}, sb, {0, 4}"
        }) {
      PtxException refused =
          assertThrows(PtxException.class, () -> new Multiplier(MXF4, MXF4.name(), scales));
      assertTrue(refused.getMessage().contains("scales of"), refused.getMessage());
    }
    for (String registers : new String[] {"{h0, h1}", "{h1, h0}"}) {
      Multiplier m =
          new Multiplier(
              NVF4,
              "mov.u16 h0, 2; mov.u16 h1, 0;\n" + NVF4.name(),
              ", sa, " + registers + ", sb, {0, 0}");
      int[] a = new int[16 * 64];
      int[] b = new int[64 * 8];
      LaunchFault fault =
          assertThrows(
              LaunchFault.class, () -> m.multiply(a, b, NO_SUMS, ones(NVF4, 16), ones(NVF4, 8)));
      assertTrue(fault.getMessage().contains("scales of A"), fault.getMessage());
    }
  }

  @Test
  void formsThatTheManualDoesNotHaveAreRefused() {
    for (String name :
        new String[] {
          "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
          "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
          "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0",
          "m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0",
          "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e4m3.e2m1.f32.ue8m0",
          "m16n8k32.row.col.f32.e2m1.e2m1.f32"
        }) {
      assertThrows(
          PtxException.class,
          () -> new Multiplier(MXF4, "mma.sync.aligned." + name, Selector.FIRST.operands()));
    }
  }
}
