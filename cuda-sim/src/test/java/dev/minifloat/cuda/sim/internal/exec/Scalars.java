package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs an instruction on many operands, one thread a case. Operands are the registers a, b, c, d,
 * the result is r; a type is a register's, {@code pred} for a predicate.
 */
final class Scalars {
  static final int[] INTS = {
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    24,
    31,
    32,
    33,
    63,
    64,
    100,
    255,
    256,
    257,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x12345678,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    -1,
    -2,
    -7,
    -32768,
    -65536
  };

  static final long[] LONGS = {
    0,
    1,
    2,
    3,
    31,
    32,
    63,
    64,
    65,
    255,
    0x8000,
    0xFFFF,
    0x7FFF_FFFFL,
    0x8000_0000L,
    0xFFFF_FFFFL,
    0x1_0000_0000L,
    0x20_0000_0000_0001L,
    0x3F_FFFF_FFFF_FFFFL,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    Long.MIN_VALUE + 1,
    -1,
    -2,
    -65536,
    0x0123_4567_89AB_CDEFL,
    0x7FFF_FFFF_FFFF_FC00L,
    0x7FFF_FFFF_FFFF_FBFFL,
    0xFFFF_FFFF_FFFF_FBFFL,
    0x8000_0080_0000_0001L
  };

  static final int[] FLOATS = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
    0x00800001, 0x33800000, 0x3F000000, 0x3EFFFFFF, 0x3F7FFFFF, 0x3F800000, 0xBF800000, 0x3F800001,
    0x3FC00000, 0x40000000, 0x40200000, 0x40490FDB, 0xC0A00000, 0x41200000, 0x47FFE000, 0x477FF000,
    0x4B000001, 0x4B800000, 0x4F000000, 0xCF000000, 0x4F800000, 0x5F000000, 0xDF000000, 0x5F7FFFFF,
    0x7E800000, 0x7F000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001
  };

  static final long[] DOUBLES = {
    0,
    Long.MIN_VALUE,
    1,
    0x000F_FFFF_FFFF_FFFFL,
    0x0010_0000_0000_0000L,
    0x3FF0_0000_0000_0000L,
    0xBFF0_0000_0000_0001L,
    0x3FF0_0000_0000_0001L,
    0x3FDF_FFFF_FFFF_FFFFL,
    0x3FE0_0000_0000_0000L,
    0x3FF8_0000_0000_0000L,
    0x4004_0000_0000_0000L,
    0xC00C_0000_0000_0000L,
    0x400921FB54442D18L,
    0x36A0_0000_0000_0000L,
    0x3690_0000_0000_0001L,
    0x380F_FFFF_E000_0001L,
    0x3E60_0000_0000_0000L,
    0x41DF_FFFF_FFC0_0000L,
    0x41E0_0000_0000_0000L,
    0x43E0_0000_0000_0000L,
    0x43F0_0000_0000_0000L,
    0x47EF_FFFF_F000_0000L,
    0x47EF_FFFF_EFFF_FFFFL,
    0x7FEF_FFFF_FFFF_FFFFL,
    0x7FF0_0000_0000_0000L,
    0xFFF0_0000_0000_0000L,
    0x7FF8_0000_0000_0000L
  };

  static final int[] HALVES = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x0401, 0x3555, 0x3800, 0x3BFF, 0x3C00, 0xBC00,
    0x3C01, 0x4000, 0x4248, 0x6400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3F80, 0xBF80, 0x7F7F,
    0x7F80, 0xFF80, 0x7FC0, 0x0080, 0x007F
  };

  private Scalars() {}

  /** Values of a register's type: edges, and random ones. */
  static long[] values(String type, SplittableRandom random, int more) {
    List<Long> found = new ArrayList<>();
    switch (type) {
      case "pred" -> {
        found.add(0L);
        found.add(1L);
        return found.stream().mapToLong(value -> value).toArray();
      }
      case "f32" -> add(found, FLOATS, 32);
      case "f64" -> add(found, DOUBLES);
      case "f16" -> add(found, HALVES, 16);
      case "b64" -> add(found, LONGS);
      default -> add(found, INTS, Integer.parseInt(type.substring(1)));
    }
    int bits = Integer.parseInt(type.substring(1));
    for (int i = 0; i < more; i++) {
      found.add(random.nextLong() & Bits.mask(bits));
    }
    // Numbers near one, so that sums and products round in interesting ways.
    for (int i = 0; i < more && type.startsWith("f"); i++) {
      double value = (random.nextDouble() - 0.5) * Math.scalb(1.0, random.nextInt(12) - 4);
      found.add(
          switch (type) {
            case "f32" -> Float.floatToRawIntBits((float) value) & Bits.M32;
            case "f64" -> Double.doubleToRawLongBits(value);
            default -> Float.floatToFloat16((float) value) & Bits.M16;
          });
    }
    return found.stream().mapToLong(value -> value).toArray();
  }

  private static void add(List<Long> found, int[] values, int bits) {
    for (int value : values) {
      found.add(value & Bits.mask(bits));
    }
  }

  private static void add(List<Long> found, long[] values) {
    for (long value : values) {
      found.add(value);
    }
  }

  /** Operand tuples: all pairs of edges for two operands, a sample of triples for more. */
  static long[][] cases(String[] types, int most) {
    SplittableRandom random = new SplittableRandom(types.length * 31L + most);
    long[][] columns = new long[types.length][];
    long all = 1;
    for (int i = 0; i < types.length; i++) {
      columns[i] = values(types[i], random, 24);
      all *= columns[i].length;
    }
    int count = (int) Math.min(all, most);
    long[][] cases = new long[count][types.length];
    for (int n = 0; n < count; n++) {
      long at = all <= most ? n : random.nextLong(all);
      for (int i = 0; i < types.length; i++) {
        cases[n][i] = columns[i][(int) (at % columns[i].length)];
        at /= columns[i].length;
      }
    }
    return cases;
  }

  private static String register(String type) {
    return type.equals("pred") ? ".pred" : type.startsWith("f16") ? ".b16" : "." + type;
  }

  private static int width(String type) {
    return type.equals("pred") ? 32 : Integer.parseInt(type.substring(1));
  }

  /** Runs {@code code} for each case; the results, zero-extended. */
  static long[] run(String code, String[] types, String result, long[][] cases) {
    StringBuilder body = new StringBuilder();
    body.append(".reg .b64 in, out, wide; .reg .b32 x, y, z, t0; .reg .pred past;\n");
    body.append(".reg ").append(register(result)).append(" r;\n");
    body.append("mov.u32 x, %tid.x; mov.u32 y, %ctaid.x; mov.u32 z, %ntid.x;\n");
    body.append("mad.lo.u32 x, y, z, x; ld.param.u32 t0, [n]; setp.ge.u32 past, x, t0;\n");
    body.append("@past exit;\n");
    body.append("ld.param.u64 in, [i]; ld.param.u64 out, [o];\n");
    body.append("mad.wide.u32 in, x, ").append(8 * types.length).append(", in;\n");
    body.append("mad.wide.u32 out, x, 8, out;\n");
    for (int i = 0; i < types.length; i++) {
      char name = (char) ('a' + i);
      body.append(".reg ").append(register(types[i])).append(' ').append(name).append(";\n");
      if (types[i].equals("pred")) {
        body.append("ld.global.u32 t0, [in+").append(8 * i).append("];\n");
        body.append("setp.ne.u32 ").append(name).append(", t0, 0;\n");
      } else {
        body.append("ld.global.b").append(width(types[i])).append(' ').append(name);
        body.append(", [in+").append(8 * i).append("];\n");
      }
    }
    body.append(code).append('\n');
    if (result.equals("pred")) {
      body.append("selp.u32 t0, 1, 0, r; st.global.u32 [out], t0;\n");
    } else {
      body.append("st.global.b").append(width(result)).append(" [out], r;\n");
    }
    body.append("ret;");
    Device device = Device.kernel(".param .u64 i, .param .u64 o, .param .u32 n", body.toString());
    long[] flat = new long[cases.length * types.length];
    for (int n = 0; n < cases.length; n++) {
      System.arraycopy(cases[n], 0, flat, n * types.length, types.length);
    }
    Allocation in = device.longs(flat);
    Allocation out = device.longs(new long[cases.length]);
    device.run((cases.length + 127) / 128, 128, in, out, cases.length);
    return device.longs(out);
  }
}
