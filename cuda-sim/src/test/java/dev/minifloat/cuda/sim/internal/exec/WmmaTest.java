package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Matrices that are loaded, multiplied and stored with wmma, against sums of small numbers that
 * every format holds exactly.
 */
class WmmaTest {
  /**
   * One product.
   *
   * @param type of A and B
   * @param cType of C
   * @param dType of D
   * @param registers of a lane for A, B, C and D
   */
  private record Form(
      int m, int n, int k, String type, String cType, String dType, List<Integer> registers) {
    String shape() {
      return ".m" + m + "n" + n + "k" + k;
    }

    /** What wmma.mma's name ends with. */
    String types() {
      return type.equals("f16")
          ? "." + dType + "." + cType
          : "." + dType + "." + type + "." + type + "." + cType;
    }
  }

  private static List<Form> forms() {
    List<Form> forms = new ArrayList<>();
    int[][] shapes = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
    for (int[] s : shapes) {
      for (String c : new String[] {"f16", "f32"}) {
        for (String d : new String[] {"f16", "f32"}) {
          forms.add(new Form(s[0], s[1], s[2], "f16", c, d, List.of(8, 8, count(c), count(d))));
        }
      }
      forms.add(
          new Form(s[0], s[1], s[2], "bf16", "f32", "f32", List.of(s[0] / 4, s[1] / 4, 8, 8)));
      for (String type : new String[] {"s8", "u8"}) {
        forms.add(
            new Form(s[0], s[1], s[2], type, "s32", "s32", List.of(s[0] / 8, s[1] / 8, 8, 8)));
      }
    }
    forms.add(new Form(16, 16, 8, "tf32", "f32", "f32", List.of(4, 4, 8, 8)));
    forms.add(new Form(8, 8, 4, "f64", "f64", "f64", List.of(1, 1, 2, 2)));
    return forms;
  }

  private static int count(String accumulator) {
    return accumulator.equals("f16") ? 4 : 8;
  }

  private static int bytes(String type) {
    return switch (type) {
      case "s8", "u8" -> 1;
      case "f16", "bf16" -> 2;
      case "f64" -> 8;
      default -> 4;
    };
  }

  private static long code(int value, String type) {
    return switch (type) {
      case "f16" -> Float.floatToFloat16(value) & 0xFFFFL;
      case "bf16" -> Float.floatToRawIntBits(value) >>> 16;
      case "f32", "tf32" -> Float.floatToRawIntBits(value) & 0xFFFF_FFFFL;
      case "f64" -> Double.doubleToRawLongBits(value);
      default -> value;
    };
  }

  private static void put(ByteBuffer to, int at, long code, int bytes) {
    for (int i = 0; i < bytes; i++) {
      to.put(at + i, (byte) (code >>> (8 * i)));
    }
  }

  private static long get(ByteBuffer from, int at, int bytes) {
    long code = 0;
    for (int i = 0; i < bytes; i++) {
      code |= (from.get(at + i) & 0xFFL) << (8 * i);
    }
    return code;
  }

  /** A matrix in memory: rows or columns together, each a stride from the next. */
  private record Stored(int rows, int columns, String type, boolean byColumn) {
    int stride() {
      // Some room behind each row that must not be touched: 16 or 32 bytes.
      return (byColumn ? rows : columns) + Math.max(2, 16 / bytes(type));
    }

    int at(int row, int column) {
      return (byColumn ? column * stride() + row : row * stride() + column) * bytes(type);
    }

    int size() {
      return stride() * (byColumn ? columns : rows) * bytes(type);
    }

    byte[] write(int[] values) {
      ByteBuffer bytes = ByteBuffer.allocate(size()).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < values.length; i++) {
        put(bytes, at(i / columns, i % columns), code(values[i], type), bytes(type));
      }
      return bytes.array();
    }

    String layout() {
      return byColumn ? ".col" : ".row";
    }
  }

  private static String registers(String name, int count, String type) {
    boolean wide = type.equals("f64");
    boolean single = type.equals("f32");
    return ".reg ." + (wide ? "f64 " : single ? "f32 " : "b32 ") + name + "<" + count + ">;\n";
  }

  private static String list(String name, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> name + i)
        .collect(java.util.stream.Collectors.joining(", ", "{", "}"));
  }

  private static String kernel(Form form, Stored a, Stored b, Stored c, Stored d) {
    List<Integer> r = form.registers();
    String load = "wmma.load.%s.sync.aligned%s%s.global.%s %s, [%s], %d;\n";
    return registers("ra", r.get(0), form.type())
        + registers("rb", r.get(1), form.type())
        + registers("rc", r.get(2), form.cType())
        + registers("rd", r.get(3), form.dType())
        + ".reg .b64 p<4>;\n"
        + "ld.param.u64 p0, [a]; ld.param.u64 p1, [b]; ld.param.u64 p2, [c];\n"
        + "ld.param.u64 p3, [d];\n"
        + load.formatted(
            "a", a.layout(), form.shape(), form.type(), list("ra", r.get(0)), "p0", a.stride())
        + load.formatted(
            "b", b.layout(), form.shape(), form.type(), list("rb", r.get(1)), "p1", b.stride())
        + load.formatted(
            "c", c.layout(), form.shape(), form.cType(), list("rc", r.get(2)), "p2", c.stride())
        + "wmma.mma.sync.aligned%s%s%s%s %s, %s, %s, %s;\n"
            .formatted(
                a.layout(),
                b.layout(),
                form.shape(),
                form.types(),
                list("rd", r.get(3)),
                list("ra", r.get(0)),
                list("rb", r.get(1)),
                list("rc", r.get(2)))
        + "wmma.store.d.sync.aligned%s%s.global.%s [p3], %s, %d;\nret;"
            .formatted(d.layout(), form.shape(), form.dType(), list("rd", r.get(3)), d.stride());
  }

  private static void check(Form form, int layouts) {
    Stored a = new Stored(form.m(), form.k(), form.type(), (layouts & 1) != 0);
    Stored b = new Stored(form.k(), form.n(), form.type(), (layouts & 2) != 0);
    Stored c = new Stored(form.m(), form.n(), form.cType(), (layouts & 4) != 0);
    Stored d = new Stored(form.m(), form.n(), form.dType(), (layouts & 8) != 0);
    SplittableRandom random = new SplittableRandom(layouts);
    boolean unsigned = form.type().equals("u8");
    int[] x = random.ints((long) form.m() * form.k(), unsigned ? 0 : -7, 8).toArray();
    int[] y = random.ints((long) form.k() * form.n(), unsigned ? 0 : -7, 8).toArray();
    int[] z = random.ints((long) form.m() * form.n(), -100, 100).toArray();
    String parameters = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d";
    Device device = Device.kernel(parameters, kernel(form, a, b, c, d));
    byte[] before = new byte[d.size()];
    java.util.Arrays.fill(before, (byte) 0x55);
    Allocation out = device.bytes(before);
    device.run(
        1, 32, device.bytes(a.write(x)), device.bytes(b.write(y)), device.bytes(c.write(z)), out);
    ByteBuffer expected = ByteBuffer.wrap(before).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < form.m() * form.n(); i++) {
      int row = i / form.n();
      int column = i % form.n();
      int sum = z[i];
      for (int k = 0; k < form.k(); k++) {
        sum += x[row * form.k() + k] * y[k * form.n() + column];
      }
      put(expected, d.at(row, column), code(sum, form.dType()), bytes(form.dType()));
    }
    assertArrayEquals(before, device.bytes(out), form + " layouts " + layouts);
  }

  @TestFactory
  Stream<DynamicTest> productsOfAllShapesTypesAndLayouts() {
    return forms().stream()
        .map(
            form ->
                DynamicTest.dynamicTest(
                    form.shape() + form.types(),
                    () -> {
                      for (int layouts : new int[] {0, 1, 2, 4, 8, 15}) {
                        check(form, layouts);
                      }
                    }));
  }

  private static DeviceFault.Kind fault(String address, String stride) {
    Device device =
        Device.kernel(
            ".param .u64 a",
            """
            .reg .b64 p; .reg .b32 t, s, r<8>;
            ld.param.u64 p, [a]; mov.u32 t, %tid.x; mov.u32 s, 16;
            """
                + address
                + stride
                + "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                + list("r", 8)
                + ", [p], s; ret;");
    Allocation a = device.bytes(new byte[4096]);
    return assertThrows(LaunchFault.class, () -> device.run(1, 32, a)).kind();
  }

  @Test
  void addressesAndStridesHaveToFit() {
    assertEquals(DeviceFault.Kind.MISALIGNED, fault("add.u64 p, p, 16;", ""));
    assertEquals(DeviceFault.Kind.MISALIGNED, fault("", "mov.u32 s, 17;"));
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault("", "mov.u32 s, 160;"));
    assertEquals(DeviceFault.Kind.ILLEGAL_INSTRUCTION, fault("mad.wide.u32 p, t, 32, p;", ""));
    assertEquals(DeviceFault.Kind.ILLEGAL_INSTRUCTION, fault("", "mad.lo.u32 s, t, 8, 16;"));
  }

  @Test
  void doublesMultiplyInTheFragmentsOfMma() {
    // Lane l holds A[l / 4][l % 4] and B[l % 4][l / 4], and row l / 4 of C from column 2 (l % 4).
    Device device =
        Device.kernel(
            ".param .u64 a, .param .u64 b, .param .u64 d",
            """
            .reg .b64 p, q, r; .reg .b32 t, s; .reg .f64 x, y, u, v;
            ld.param.u64 p, [a]; ld.param.u64 q, [b]; ld.param.u64 r, [d];
            mov.u32 t, %tid.x;
            mad.wide.u32 p, t, 8, p; mad.wide.u32 q, t, 8, q; mad.wide.u32 r, t, 16, r;
            ld.global.f64 x, [p]; ld.global.f64 y, [q];
            mov.f64 u, 0d3FE0000000000000; mov.f64 v, 0d4000000000000000;
            mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {u, v}, {x}, {y}, {u, v};
            st.global.v2.f64 [r], {u, v};
            ret;
            """);
    double[] a = new SplittableRandom(1).doubles(32, -1, 1).toArray();
    double[] b = new SplittableRandom(2).doubles(32, -1, 1).toArray();
    Allocation d = device.longs(new long[64]);
    device.run(1, 32, device.longs(bits(a)), device.longs(bits(b)), d);
    double[] expected = new double[64];
    for (int row = 0; row < 8; row++) {
      for (int column = 0; column < 8; column++) {
        double sum = column % 2 == 0 ? 0.5 : 2;
        for (int k = 0; k < 4; k++) {
          sum = Math.fma(a[row * 4 + k], b[column * 4 + k], sum);
        }
        expected[row * 8 + column] = sum;
      }
    }
    assertArrayEquals(bits(expected), device.longs(d));
  }

  private static long[] bits(double[] values) {
    return java.util.Arrays.stream(values).mapToLong(Double::doubleToRawLongBits).toArray();
  }

  @Test
  void valuesOutOfRangeBecomeInfinite() {
    int[] large = new int[256];
    java.util.Arrays.fill(large, 1);
    Form form = forms().get(0);
    assertEquals("f16", form.dType());
    assertTrue(Float.isInfinite(Float.float16ToFloat(Float.floatToFloat16(70_000f))));
    Stored half = new Stored(16, 16, "f16", false);
    Device device =
        Device.kernel(
            ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d",
            kernel(form, half, half, half, half));
    java.util.Arrays.fill(large, 128);
    Allocation d = device.bytes(new byte[half.size()]);
    Allocation operand = device.bytes(half.write(large));
    device.run(1, 32, operand, operand, operand, d);
    ByteBuffer result = ByteBuffer.wrap(device.bytes(d));
    assertEquals(0x7C00, get(result, half.at(3, 5), 2));
  }
}
