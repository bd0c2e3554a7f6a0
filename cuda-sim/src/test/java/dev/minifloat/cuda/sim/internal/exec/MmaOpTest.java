package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * mma.sync: layouts one element at a time, sums against exact decimal arithmetic. Matrices are
 * given and taken in row order; the layouts are those of the PTX ISA's figures, written out here
 * anew.
 */
class MmaOpTest {
  /** A kernel of one warp that loads 32-bit registers, multiplies and stores. */
  private static final class Multiplier {
    private final int rows;
    private final int depth;
    private final String aType;
    private final String bType;
    private final String sumType;
    private final int aRegisters;
    private final int bRegisters;
    private final int sumRegisters;
    private final Device device;

    Multiplier(String shape, String aType, String bType, String sumType, String modifier) {
      rows = Integer.parseInt(shape.substring(1, shape.indexOf('n')));
      depth = Integer.parseInt(shape.substring(shape.indexOf('k') + 1));
      this.aType = aType;
      this.bType = bType;
      this.sumType = sumType;
      aRegisters = rows * depth * bits(aType) / 1024;
      bRegisters = 8 * depth * bits(bType) / 1024;
      sumRegisters = rows * 8 * (sumType.equals("f16") ? 16 : 32) / 1024;
      String name =
          "mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s"
              .formatted(shape, modifier, sumType, aType, bType, sumType);
      StringBuilder body = new StringBuilder(".reg .b64 p, q; .reg .b32 t;");
      body.append(" .reg .b32 a<4>, b<2>, c<4>, d<4>; ld.param.u64 p, [in];");
      body.append(" ld.param.u64 q, [out]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 40, p;");
      body.append(" mad.wide.u32 q, t, 16, q;\n");
      for (int i = 0; i < 4; i++) {
        body.append("ld.global.u32 a%d, [p+%d];".formatted(i, 4 * i));
        body.append("ld.global.u32 c%d, [p+%d];\n".formatted(i, 24 + 4 * i));
      }
      body.append("ld.global.u32 b0, [p+16]; ld.global.u32 b1, [p+20];\n");
      body.append(name).append(' ').append(vector("d", sumRegisters)).append(", ");
      body.append(vector("a", aRegisters)).append(", ");
      body.append(vector("b", bRegisters)).append(", ");
      body.append(vector("c", sumRegisters)).append(";\n");
      for (int i = 0; i < sumRegisters; i++) {
        body.append("st.global.u32 [q+%d], d%d;".formatted(4 * i, i));
      }
      device = Device.kernel(".param .u64 in, .param .u64 out", body.append(" ret;").toString());
    }

    private static String vector(String name, int count) {
      StringBuilder text = new StringBuilder("{");
      for (int i = 0; i < count; i++) {
        text.append(i == 0 ? "" : ", ").append(name).append(i);
      }
      return text.append('}').toString();
    }

    /** D of A (rows × depth), B (depth × 8) and C (rows × 8), all codes in row order. */
    int[] multiply(int[] a, int[] b, int[] c) {
      int[] in = new int[32 * 10];
      for (int lane = 0; lane < 32; lane++) {
        int group = lane / 4;
        int quad = lane % 4;
        fillA(in, lane * 10, group, quad, a);
        fillB(in, lane * 10 + 4, group, quad, b);
        for (int i = 0; i < rows / 4; i++) {
          int value = c[cPlace(group, quad, i)];
          if (sumType.equals("f16")) {
            in[lane * 10 + 6 + i / 2] |= value << 16 * (i % 2);
          } else {
            in[lane * 10 + 6 + i] = value;
          }
        }
      }
      Allocation input = device.ints(in);
      Allocation output = device.ints(new int[32 * 4]);
      device.run(1, 32, input, output);
      int[] out = device.ints(output);
      int[] d = new int[rows * 8];
      for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < rows / 4; i++) {
          d[cPlace(lane / 4, lane % 4, i)] =
              sumType.equals("f16")
                  ? out[lane * 4 + i / 2] >>> 16 * (i % 2) & 0xFFFF
                  : out[lane * 4 + i];
        }
      }
      return d;
    }

    /** c0 and c1 lie in row group, c2 and c3 eight rows below. */
    private static int cPlace(int group, int quad, int i) {
      int row = i < 2 ? group : group + 8;
      return row * 8 + quad * 2 + (i & 1);
    }

    /** The figures' a0, a1 …, by element size. */
    private void fillA(int[] in, int at, int group, int quad, int[] a) {
      int width = bits(aType);
      int each = 32 / width;
      for (int i = 0; i < aRegisters * each; i++) {
        int row;
        int column;
        switch (width) {
          case 32 -> {
            row = i == 0 || i == 2 ? group : group + 8;
            column = i < 2 ? quad : quad + 4;
          }
          case 16 -> {
            row = i < 2 || i >= 4 && i < 6 ? group : group + 8;
            column = quad * 2 + (i & 1) + (i >= 4 ? 8 : 0);
          }
          case 8 -> {
            row = i < 4 || i >= 8 && i < 12 ? group : group + 8;
            column = quad * 4 + (i & 3) + (i >= 8 ? 16 : 0);
          }
          default -> {
            row = i < 8 || i >= 16 && i < 24 ? group : group + 8;
            column = quad * 8 + (i & 7) + (i >= 16 ? 32 : 0);
          }
        }
        in[at + i / each] |= a[row * depth + column] << width * (i % each);
      }
    }

    private void fillB(int[] in, int at, int group, int quad, int[] b) {
      int width = bits(bType);
      int each = 32 / width;
      for (int i = 0; i < bRegisters * each; i++) {
        int row =
            switch (width) {
              case 32 -> i == 0 ? quad : quad + 4;
              case 16 -> quad * 2 + (i & 1) + (i >= 2 ? 8 : 0);
              case 8 -> quad * 4 + (i & 3) + (i >= 4 ? 16 : 0);
              default -> quad * 8 + (i & 7) + (i >= 8 ? 32 : 0);
            };
        in[at + i / each] |= b[row * 8 + group] << width * (i % each);
      }
    }

    int one(String type) {
      return switch (type) {
        case "tf32", "f32" -> 0x3F80_0000;
        case "f16" -> 0x3C00;
        case "bf16" -> 0x3F80;
        case "e4m3" -> 0x38;
        case "e5m2" -> 0x3C;
        default -> 1;
      };
    }
  }

  private static int bits(String type) {
    return switch (type) {
      case "tf32", "s32", "f32" -> 32;
      case "f16", "bf16" -> 16;
      case "u4", "s4" -> 4;
      default -> 8;
    };
  }

  private static final String[] FORMS = {
    "m16n8k8 f16 f16 f16",
    "m16n8k8 f16 f16 f32",
    "m16n8k16 f16 f16 f16",
    "m16n8k16 f16 f16 f32",
    "m16n8k8 bf16 bf16 f32",
    "m16n8k16 bf16 bf16 f32",
    "m16n8k4 tf32 tf32 f32",
    "m16n8k8 tf32 tf32 f32",
    "m16n8k16 e4m3 e4m3 f32",
    "m16n8k32 e4m3 e4m3 f32",
    "m16n8k32 e4m3 e5m2 f32",
    "m16n8k32 e5m2 e4m3 f32",
    "m16n8k32 e5m2 e5m2 f32",
    "m16n8k16 e5m2 e4m3 f16",
    "m16n8k32 e4m3 e4m3 f16",
    "m8n8k16 s8 u8 s32",
    "m16n8k16 u8 s8 s32",
    "m16n8k32 s8 s8 s32",
    "m16n8k32 u8 u8 s32",
    "m16n8k32 s4 u4 s32",
    "m16n8k64 u4 s4 s32"
  };

  private static Multiplier multiplier(String form) {
    String[] words = form.split(" ", -1);
    return new Multiplier(words[0], words[1], words[2], words[3], "");
  }

  @TestFactory
  Stream<DynamicTest> everyElementStandsWhereTheFiguresSay() {
    return Stream.of(FORMS).map(form -> DynamicTest.dynamicTest(form, () -> oneHot(form)));
  }

  /** A single one in A and the same k in B: a single one in D; so every place is told apart. */
  private static void oneHot(String form) {
    Multiplier m = multiplier(form);
    // Large shapes take every third k, another third in each row.
    int step = m.depth * m.rows > 256 ? 3 : 1;
    for (int row = 0; row < m.rows; row++) {
      for (int k = row % step; k < m.depth; k += step) {
        int column = (row + k) % 8;
        int[] a = new int[m.rows * m.depth];
        int[] b = new int[m.depth * 8];
        a[row * m.depth + k] = m.one(m.aType);
        b[k * 8 + column] = m.one(m.bType);
        int[] d = m.multiply(a, b, new int[m.rows * 8]);
        for (int i = 0; i < d.length; i++) {
          int expected = i == row * 8 + column ? m.one(m.sumType) : 0;
          assertEquals(expected, d[i], form + " row " + row + " k " + k + " at " + i);
        }
        // A neighbouring k meets nothing.
        b[k * 8 + column] = 0;
        b[(k + 1) % m.depth * 8 + column] = m.one(m.bType);
        for (int value : m.multiply(a, b, new int[m.rows * 8])) {
          assertEquals(0, value);
        }
      }
    }
  }

  private static final int[] E4M3 = Golden.decodeTable("e4m3");
  private static final int[] E5M2 = Golden.decodeTable("e5m2");

  private static double decode(int code, String type) {
    return switch (type) {
      case "f32" -> Float.intBitsToFloat(code);
      case "tf32" -> Float.intBitsToFloat(code & 0xFFFF_E000);
      case "f16" -> Float.float16ToFloat((short) code);
      case "bf16" -> Float.intBitsToFloat(code << 16);
      case "e4m3" -> Float.intBitsToFloat(E4M3[code]);
      case "e5m2" -> Float.intBitsToFloat(E5M2[code]);
      case "u8", "u4", "s32" -> code;
      case "s8" -> (byte) code;
      default -> code << 28 >> 28;
    };
  }

  /** Codes of finite numbers; some of all magnitudes, most near one. */
  private static int[] random(int count, String type, SplittableRandom random, boolean wide) {
    int[] codes = new int[count];
    for (int i = 0; i < count; i++) {
      do {
        codes[i] =
            switch (type) {
              case "f32", "tf32" ->
                  wide
                      ? random.nextInt()
                      : Float.floatToRawIntBits((float) random.nextDouble(-2, 2));
              case "f16" ->
                  wide
                      ? random.nextInt() & 0xFFFF
                      : Float.floatToFloat16((float) random.nextDouble(-2, 2)) & 0xFFFF;
              case "bf16" ->
                  wide
                      ? random.nextInt() & 0xFFFF
                      : Float.floatToRawIntBits((float) random.nextDouble(-2, 2)) >>> 16;
              case "s32" -> random.nextInt();
              default -> random.nextInt() & (1 << bits(type)) - 1;
            };
      } while (!Double.isFinite(decode(codes[i], type)));
    }
    return codes;
  }

  @TestFactory
  Stream<DynamicTest> exactSumsAreRoundedOnce() {
    return Stream.of(FORMS).map(form -> DynamicTest.dynamicTest(form, () -> exact(form)));
  }

  private static void exact(String form) {
    ExactRounding.Table half = ExactRounding.half();
    Multiplier m = multiplier(form);
    SplittableRandom random = new SplittableRandom(form.hashCode());
    for (int round = 0; round < 6; round++) {
      boolean wide = round % 2 == 1;
      int[] a = random(m.rows * m.depth, m.aType, random, wide);
      int[] b = random(m.depth * 8, m.bType, random, wide);
      int[] c = random(m.rows * 8, m.sumType, random, wide);
      int[] d = m.multiply(a, b, c);
      for (int row = 0; row < m.rows; row++) {
        for (int column = 0; column < 8; column++) {
          BigDecimal sum = new BigDecimal(decode(c[row * 8 + column], m.sumType));
          for (int k = 0; k < m.depth; k++) {
            sum =
                sum.add(
                    new BigDecimal(decode(a[row * m.depth + k], m.aType))
                        .multiply(new BigDecimal(decode(b[k * 8 + column], m.bType))));
          }
          int expected =
              switch (m.sumType) {
                case "f32" -> Float.floatToRawIntBits(sum.floatValue());
                case "f16" -> sum.signum() == 0 ? 0 : half.round(sum, "rn", false);
                default -> sum.toBigInteger().intValue();
              };
          assertEquals(expected, d[row * 8 + column], form + " at " + row + ", " + column);
        }
      }
    }
  }

  @Test
  void integersSaturateWhereTheyAreAskedTo() {
    Multiplier m = new Multiplier("m16n8k32", "u8", "u8", "s32", ".satfinite");
    int[] a = new int[16 * 32];
    int[] b = new int[32 * 8];
    int[] c = new int[16 * 8];
    java.util.Arrays.fill(a, 255);
    java.util.Arrays.fill(b, 255);
    java.util.Arrays.fill(c, Integer.MAX_VALUE - 5);
    assertEquals(Integer.MAX_VALUE, m.multiply(a, b, c)[17]);
    assertEquals(
        Integer.MAX_VALUE - 5 + 32 * 255 * 255,
        new Multiplier("m16n8k32", "u8", "u8", "s32", "").multiply(a, b, c)[17]);
  }

  @Test
  void infinitiesAndNanGoThrough() {
    for (MmaArithmetic arithmetic : MmaArithmetic.values()) {
      Multiplier m = multiplier("m16n8k16 f16 f16 f32");
      m.device.options = m.device.options.withArithmetic(arithmetic);
      int[] a = new int[16 * 16];
      int[] b = new int[16 * 8];
      java.util.Arrays.fill(b, 0x3C00);
      a[0] = 0x7C00;
      a[16] = 0x7C00;
      a[17] = 0xFC00;
      int[] d = m.multiply(a, b, new int[16 * 8]);
      assertEquals(0x7F80_0000, d[0]);
      assertEquals(0x7FFF_FFFF, d[8]);
      assertEquals(0, d[16]);
    }
  }

  @Test
  void sequentialSumsAreAChainOfFusedMultiplyAdds() {
    Multiplier m = multiplier("m16n8k16 bf16 bf16 f32");
    m.device.options = m.device.options.withArithmetic(MmaArithmetic.SEQUENTIAL_F32);
    SplittableRandom random = new SplittableRandom(5);
    int[] a = random(256, "bf16", random, false);
    int[] b = random(128, "bf16", random, false);
    int[] c = random(128, "f32", random, false);
    int[] d = m.multiply(a, b, c);
    for (int i = 0; i < 128; i++) {
      float sum = Float.intBitsToFloat(c[i]);
      for (int k = 0; k < 16; k++) {
        float x = (float) decode(a[i / 8 * 16 + k], "bf16");
        sum = Math.fma(x, (float) decode(b[k * 8 + i % 8], "bf16"), sum);
      }
      assertEquals(Float.floatToRawIntBits(sum), d[i]);
    }
  }

  /** What Ada's FP8 units lose: 64 + 32·(1/256) sticks at 64 with 13 bits of fraction. */
  @Test
  void theModelOfAdaKeepsThirteenBits() {
    int[] a = new int[16 * 32];
    int[] b = new int[32 * 8];
    int[] c = new int[16 * 8];
    java.util.Arrays.fill(a, 0x18);
    java.util.Arrays.fill(b, 0x18);
    java.util.Arrays.fill(c, Float.floatToRawIntBits(64f));
    Multiplier ada = multiplier("m16n8k32 e4m3 e4m3 f32");
    ada.device.options = ExecutionOptions.of(89).withArithmetic(MmaArithmetic.HARDWARE_MODEL);
    // 1/16 · 1/16 = 2^-8; the last of 13 bits below 2^6 is 2^-7.
    assertEquals(64f, Float.intBitsToFloat(ada.multiply(a, b, c)[0]));
    Multiplier hopper = multiplier("m16n8k32 e4m3 e4m3 f32");
    hopper.device.options = ExecutionOptions.of(90).withArithmetic(MmaArithmetic.HARDWARE_MODEL);
    assertEquals(64.125f, Float.intBitsToFloat(hopper.multiply(a, b, c)[0]));
  }

  /** Eight F16 products at once, 24 bits below the largest term's exponent, toward zero. */
  @Test
  void theModelOfAmpereCutsTermsOff() {
    Multiplier m = multiplier("m16n8k8 f16 f16 f32");
    m.device.options = ExecutionOptions.of(80).withArithmetic(MmaArithmetic.HARDWARE_MODEL);
    int[] a = new int[16 * 8];
    int[] b = new int[8 * 8];
    int[] c = new int[16 * 8];
    // 1 + 2^-24 + 2^-24 + 2^-25: the last is cut off, the two before make 2^-23.
    a[0] = 0x3C00;
    a[1] = 0x0C00;
    a[2] = 0x0C00;
    a[3] = 0x0800;
    b[0] = 0x3C00;
    b[8] = 0x0C00;
    b[16] = 0x0C00;
    b[24] = 0x0C00;
    float result = Float.intBitsToFloat(m.multiply(a, b, c)[0]);
    assertEquals(1 + 0x1p-23f, result);
    // One of them alone lies below the result's last bit, which is cut off too.
    a[2] = 0;
    assertEquals(1f, Float.intBitsToFloat(m.multiply(a, b, c)[0]));
    // Toward zero for a negative sum.
    a[0] = 0xBC00;
    a[1] = 0x8C00;
    assertEquals(-1f, Float.intBitsToFloat(m.multiply(a, b, c)[0]));
  }

  @Test
  void theModelStaysNearTheExactSum() {
    SplittableRandom random = new SplittableRandom(9);
    int[] a = random(16 * 16, "f16", random, false);
    int[] b = random(16 * 8, "f16", random, false);
    int[] c = random(16 * 8, "f32", random, false);
    int[] exact = multiplier("m16n8k16 f16 f16 f32").multiply(a, b, c);
    for (int architecture : new int[] {80, 89, 90, 120}) {
      Multiplier m = multiplier("m16n8k16 f16 f16 f32");
      m.device.options =
          ExecutionOptions.of(architecture).withArithmetic(MmaArithmetic.HARDWARE_MODEL);
      int[] d = m.multiply(a, b, c);
      boolean different = false;
      for (int i = 0; i < d.length; i++) {
        float difference = Float.intBitsToFloat(d[i]) - Float.intBitsToFloat(exact[i]);
        // 17 terms of at most 4, each cut off at 2^-22 of its own or less, and two roundings.
        assertTrue(Math.abs(difference) <= 40 * 0x1p-21, "at " + i);
        different |= difference != 0;
      }
      assertTrue(different);
    }
  }
}
