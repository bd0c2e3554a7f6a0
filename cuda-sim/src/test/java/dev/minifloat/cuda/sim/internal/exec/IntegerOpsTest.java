package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Integer instructions against arbitrarily large integers. */
class IntegerOpsTest {
  private static final String[] TYPES = {"u16", "u32", "u64", "s16", "s32", "s64"};

  private static int bits(String type) {
    return Integer.parseInt(type.substring(1));
  }

  /** A register's bits as the integer of its type. */
  private static BigInteger big(long value, String type) {
    BigInteger unsigned = new BigInteger(Long.toUnsignedString(value));
    boolean minus = type.startsWith("s") && unsigned.testBit(bits(type) - 1);
    return minus ? unsigned.subtract(BigInteger.ONE.shiftLeft(bits(type))) : unsigned;
  }

  private static long wrap(BigInteger value, int bits) {
    return value.mod(BigInteger.ONE.shiftLeft(bits)).longValue();
  }

  private static BigInteger clamp32(BigInteger value) {
    return value
        .max(BigInteger.valueOf(Integer.MIN_VALUE))
        .min(BigInteger.valueOf(Integer.MAX_VALUE));
  }

  private interface TwoBig {
    BigInteger apply(BigInteger a, BigInteger b);
  }

  private static InstructionCase two(String name, String type, TwoBig function) {
    String register = "b" + bits(type);
    return InstructionCase.of(
        name + "." + type + " r, a, b;",
        register + " " + register + " " + register,
        x -> wrap(function.apply(big(x[0], type), big(x[1], type)), bits(type)));
  }

  @TestFactory
  Stream<DynamicTest> arithmeticOfTwoWraps() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : TYPES) {
      int bits = bits(type);
      BigInteger ones = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
      cases.add(two("add", type, BigInteger::add));
      cases.add(two("sub", type, BigInteger::subtract));
      cases.add(two("mul.lo", type, BigInteger::multiply));
      cases.add(two("mul.hi", type, (a, b) -> a.multiply(b).shiftRight(bits)));
      cases.add(two("min", type, BigInteger::min));
      cases.add(two("max", type, BigInteger::max));
      cases.add(two("div", type, (a, b) -> b.signum() == 0 ? ones : a.divide(b)));
      cases.add(two("rem", type, (a, b) -> b.signum() == 0 ? a : a.remainder(b)));
    }
    cases.add(two("add.sat", "s32", (a, b) -> clamp32(a.add(b))));
    cases.add(two("sub.sat", "s32", (a, b) -> clamp32(a.subtract(b))));
    cases.add(two("min.relu", "s32", (a, b) -> a.min(b).max(BigInteger.ZERO)));
    cases.add(two("max.relu", "s32", (a, b) -> a.max(b).max(BigInteger.ZERO)));
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> wideAndFusedProducts() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"u16", "u32", "s16", "s32"}) {
      String in = "b" + bits(type);
      int wide = 2 * bits(type);
      String out = type.charAt(0) + "" + wide;
      cases.add(
          InstructionCase.of(
              "mul.wide." + type + " r, a, b;",
              "b" + wide + " " + in + " " + in,
              x -> wrap(big(x[0], type).multiply(big(x[1], type)), wide)));
      cases.add(
          InstructionCase.of(
              "mad.wide." + type + " r, a, b, c;",
              "b%d %s %s b%d".formatted(wide, in, in, wide),
              x -> wrap(big(x[0], type).multiply(big(x[1], type)).add(big(x[2], out)), wide)));
    }
    for (String type : TYPES) {
      int bits = bits(type);
      String in = "b" + bits;
      String types = "%s %s %s %s".formatted(in, in, in, in);
      cases.add(
          InstructionCase.of(
              "mad.lo." + type + " r, a, b, c;",
              types,
              x -> wrap(big(x[0], type).multiply(big(x[1], type)).add(big(x[2], type)), bits)));
      cases.add(
          InstructionCase.of(
              "mad.hi." + type + " r, a, b, c;",
              types,
              x ->
                  wrap(
                      big(x[0], type)
                          .multiply(big(x[1], type))
                          .shiftRight(bits)
                          .add(big(x[2], type)),
                      bits)));
      cases.add(
          InstructionCase.of(
              "sad." + type + " r, a, b, c;",
              types,
              x ->
                  wrap(
                      big(x[0], type).subtract(big(x[1], type)).abs().add(big(x[2], type)), bits)));
    }
    cases.add(
        InstructionCase.of(
            "mad.hi.sat.s32 r, a, b, c;",
            "b32 b32 b32 b32",
            x ->
                wrap(
                    clamp32(
                        big(x[0], "s32")
                            .multiply(big(x[1], "s32"))
                            .shiftRight(32)
                            .add(big(x[2], "s32"))),
                    32)));
    for (String type : new String[] {"u32", "s32"}) {
      for (int shift : new int[] {0, 16}) {
        String part = shift == 0 ? ".lo." : ".hi.";
        String narrow = type.charAt(0) + "24";
        cases.add(
            InstructionCase.of(
                "mul24" + part + type + " r, a, b;",
                "b32 b32 b32",
                x ->
                    wrap(
                        big(x[0] & 0xFFFFFF, narrow)
                            .multiply(big(x[1] & 0xFFFFFF, narrow))
                            .shiftRight(shift),
                        32)));
        cases.add(
            InstructionCase.of(
                "mad24" + part + type + " r, a, b, c;",
                "b32 b32 b32 b32",
                x ->
                    wrap(
                        big(x[0] & 0xFFFFFF, narrow)
                            .multiply(big(x[1] & 0xFFFFFF, narrow))
                            .shiftRight(shift)
                            .add(big(x[2], type)),
                        32)));
      }
    }
    cases.add(
        InstructionCase.of(
            "mad24.hi.sat.s32 r, a, b, c;",
            "b32 b32 b32 b32",
            x ->
                wrap(
                    clamp32(
                        big(x[0] & 0xFFFFFF, "s24")
                            .multiply(big(x[1] & 0xFFFFFF, "s24"))
                            .shiftRight(16)
                            .add(big(x[2], "s32"))),
                    32)));
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> arithmeticOfOne() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"s16", "s32", "s64"}) {
      String in = "b" + bits(type);
      cases.add(
          InstructionCase.of(
              "abs." + type + " r, a;",
              in + " " + in,
              x -> wrap(big(x[0], type).abs(), bits(type))));
      cases.add(
          InstructionCase.of(
              "neg." + type + " r, a;",
              in + " " + in,
              x -> wrap(big(x[0], type).negate(), bits(type))));
    }
    for (int bits : new int[] {16, 32, 64}) {
      String in = "b" + bits;
      cases.add(
          InstructionCase.of(
              "not." + in + " r, a;", in + " " + in, x -> wrap(big(x[0], "u" + bits).not(), bits)));
      cases.add(InstructionCase.of("cnot." + in + " r, a;", in + " " + in, x -> x[0] == 0 ? 1 : 0));
    }
    for (int bits : new int[] {32, 64}) {
      String in = "b" + bits;
      cases.add(
          InstructionCase.of(
              "popc." + in + " r, a;", "b32 " + in, x -> big(x[0], "u" + bits).bitCount()));
      cases.add(
          InstructionCase.of(
              "clz." + in + " r, a;", "b32 " + in, x -> bits - big(x[0], "u" + bits).bitLength()));
      cases.add(
          InstructionCase.of("brev." + in + " r, a;", in + " " + in, x -> reversed(x[0], bits)));
      for (String sign : new String[] {"u", "s"}) {
        String type = sign + bits;
        cases.add(
            InstructionCase.of(
                "bfind." + type + " r, a;", "b32 " + in, x -> highest(x[0], type, false)));
        cases.add(
            InstructionCase.of(
                "bfind.shiftamt." + type + " r, a;", "b32 " + in, x -> highest(x[0], type, true)));
      }
    }
    return InstructionCase.tests(cases.stream());
  }

  private static long reversed(long value, int bits) {
    long result = 0;
    for (int i = 0; i < bits; i++) {
      result |= (value >>> i & 1) << (bits - 1 - i);
    }
    return result;
  }

  /** The most significant bit that isn't a copy of the sign. */
  private static long highest(long value, String type, boolean shiftAmount) {
    int at = big(value, type).bitLength() - 1;
    return at < 0 ? Bits.M32 : shiftAmount ? bits(type) - 1 - at : at;
  }

  @TestFactory
  Stream<DynamicTest> bitFields() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"u32", "s32", "u64", "s64"}) {
      String in = "b" + bits(type);
      cases.add(
          InstructionCase.of(
              "bfe." + type + " r, a, b, c;",
              in + " " + in + " b32 b32",
              x -> field(x[0], (int) x[1] & 255, (int) x[2] & 255, type)));
    }
    for (int bits : new int[] {32, 64}) {
      String in = "b" + bits;
      cases.add(
          InstructionCase.of(
              "bfi." + in + " r, a, b, c, d;",
              in + " " + in + " " + in + " b32 b32",
              x -> inserted(x, bits)));
    }
    cases.add(
        InstructionCase.of(
            "bmsk.clamp.b32 r, a, b;",
            "b32 b32 b32",
            x -> ones(Math.min(x[0], 32), Math.min(x[1], 32))));
    cases.add(
        InstructionCase.of(
            "bmsk.wrap.b32 r, a, b;", "b32 b32 b32", x -> ones(x[0] & 31, x[1] & 31)));
    for (String type : new String[] {"u32", "s32"}) {
      cases.add(
          InstructionCase.of(
              "szext.wrap." + type + " r, a, b;",
              "b32 b32 b32",
              x -> extended(x[0], (int) x[1] & 31, type)));
      cases.add(
          InstructionCase.of(
              "szext.clamp." + type + " r, a, b;",
              "b32 b32 b32",
              x -> extended(x[0], (int) Math.min(x[1], 32), type)));
    }
    cases.add(InstructionCase.of("fns.b32 r, a, b, c;", "b32 b32 b32 b32", x -> nth(x)));
    return InstructionCase.tests(cases.stream());
  }

  private static long ones(long from, long count) {
    long result = 0;
    for (long i = from; i < Math.min(from + count, 32); i++) {
      result |= 1L << i;
    }
    return result;
  }

  private static long extended(long value, int width, String type) {
    if (width == 0) {
      return 0;
    }
    BigInteger low = BigInteger.valueOf(value).mod(BigInteger.ONE.shiftLeft(width));
    boolean minus = type.startsWith("s") && low.testBit(width - 1);
    return wrap(minus ? low.subtract(BigInteger.ONE.shiftLeft(width)) : low, 32);
  }

  /** Bit by bit, as the PTX ISA writes bfe. */
  private static long field(long a, int pos, int len, String type) {
    int msb = bits(type) - 1;
    boolean sign = type.startsWith("s") && len > 0 && (a >>> Math.min(pos + len - 1, msb) & 1) != 0;
    long result = 0;
    for (int i = 0; i <= msb; i++) {
      boolean bit = (i < len && pos + i <= msb) ? (a >>> (pos + i) & 1) != 0 : sign;
      result |= bit ? 1L << i : 0;
    }
    return result;
  }

  private static long inserted(long[] x, int bits) {
    int pos = (int) x[2] & 255;
    int len = (int) x[3] & 255;
    long result = x[1];
    for (int i = 0; i < len && pos + i < bits; i++) {
      result = (result & ~(1L << (pos + i))) | (x[0] >>> i & 1) << (pos + i);
    }
    return result;
  }

  private static long nth(long[] x) {
    int offset = (int) x[2];
    List<Integer> set = new ArrayList<>();
    int base = (int) x[1];
    if (base < 0 || base > 31) {
      return Bits.M32;
    }
    if (offset == 0) {
      return (x[0] >>> base & 1) != 0 ? base : Bits.M32;
    }
    for (int i = base; i >= 0 && i < 32; i += offset > 0 ? 1 : -1) {
      if ((x[0] >>> i & 1) != 0) {
        set.add(i);
      }
    }
    long index = Math.abs((long) offset) - 1;
    return index < set.size() ? set.get((int) index) : Bits.M32;
  }

  @TestFactory
  Stream<DynamicTest> logicAndShifts() {
    List<InstructionCase> cases = new ArrayList<>();
    for (int bits : new int[] {16, 32, 64}) {
      String in = "b" + bits;
      String three = in + " " + in + " " + in;
      String u = "u" + bits;
      cases.add(
          InstructionCase.of(
              "and." + in + " r, a, b;", three, x -> wrap(big(x[0], u).and(big(x[1], u)), bits)));
      cases.add(
          InstructionCase.of(
              "or." + in + " r, a, b;", three, x -> wrap(big(x[0], u).or(big(x[1], u)), bits)));
      cases.add(
          InstructionCase.of(
              "xor." + in + " r, a, b;", three, x -> wrap(big(x[0], u).xor(big(x[1], u)), bits)));
      String shifted = in + " " + in + " b32";
      cases.add(
          InstructionCase.of(
              "shl." + in + " r, a, b;",
              shifted,
              x -> x[1] >= bits ? 0 : wrap(big(x[0], u).shiftLeft((int) x[1]), bits)));
      for (String type : new String[] {"b" + bits, u, "s" + bits}) {
        cases.add(
            InstructionCase.of(
                "shr." + type + " r, a, b;",
                shifted,
                x -> wrap(big(x[0], type).shiftRight((int) Math.min(x[1], 64)), bits)));
      }
    }
    for (String wrap : new String[] {"wrap", "clamp"}) {
      cases.add(
          InstructionCase.of(
              "shf.l." + wrap + ".b32 r, a, b, c;",
              "b32 b32 b32 b32",
              x -> pair(x).shiftLeft(amount(x[2], wrap)).shiftRight(32).longValue() & Bits.M32));
      cases.add(
          InstructionCase.of(
              "shf.r." + wrap + ".b32 r, a, b, c;",
              "b32 b32 b32 b32",
              x -> pair(x).shiftRight(amount(x[2], wrap)).longValue() & Bits.M32));
    }
    for (int table : new int[] {0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0xEA, 0x6A}) {
      cases.add(
          InstructionCase.of(
              "lop3.b32 r, a, b, c, " + table + ";", "b32 b32 b32 b32", x -> looked(x, table)));
    }
    cases.add(
        InstructionCase.of(
            ".reg .pred p; .reg .b32 v; lop3.or.b32 v|p, a, b, c, 0x96, !d; selp.b32 r, v, -1, p;",
            "b32 b32 b32 b32 pred",
            x -> looked(x, 0x96) != 0 || x[3] == 0 ? looked(x, 0x96) : Bits.M32));
    cases.add(
        InstructionCase.of(
            ".reg .pred p; lop3.and.b32 _|p, a, b, c, 0x80, d; selp.b32 r, 1, 0, p;",
            "b32 b32 b32 b32 pred",
            x -> (x[0] & x[1] & x[2]) != 0 && x[3] != 0 ? 1 : 0));
    return InstructionCase.tests(cases.stream());
  }

  private static BigInteger pair(long[] x) {
    return BigInteger.valueOf(x[1]).shiftLeft(32).or(BigInteger.valueOf(x[0]));
  }

  private static int amount(long c, String wrap) {
    return (int) (wrap.equals("wrap") ? c & 31 : Math.min(c, 32));
  }

  private static long looked(long[] x, int table) {
    long result = 0;
    for (int i = 0; i < 32; i++) {
      long index = (x[0] >>> i & 1) * 4 + (x[1] >>> i & 1) * 2 + (x[2] >>> i & 1);
      result |= (long) (table >>> index & 1) << i;
    }
    return result;
  }

  @TestFactory
  Stream<DynamicTest> permutations() {
    List<InstructionCase> cases = new ArrayList<>();
    cases.add(
        InstructionCase.of(
            "prmt.b32 r, a, b, c;",
            "b32 b32 b32 b32",
            x -> {
              long result = 0;
              for (int i = 0; i < 4; i++) {
                int selector = (int) (x[2] >>> (4 * i)) & 15;
                int chosen = byteOf(x, selector & 7);
                result |= (long) (selector > 7 ? (byte) chosen >> 7 & 255 : chosen) << (8 * i);
              }
              return result;
            }));
    int[][][] modes = {
      {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}},
      {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},
      {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
      {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},
      {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}},
      {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}
    };
    String[] names = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (int mode = 0; mode < names.length; mode++) {
      int[][] table = modes[mode];
      cases.add(
          InstructionCase.of(
              "prmt.b32." + names[mode] + " r, a, b, c;",
              "b32 b32 b32 b32",
              x -> {
                long result = 0;
                // The table of the PTX ISA gives the most significant byte first.
                for (int i = 0; i < 4; i++) {
                  result |= (long) byteOf(x, table[(int) x[2] & 3][3 - i]) << (8 * i);
                }
                return result;
              }));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static int byteOf(long[] x, int index) {
    return (int) ((index < 4 ? x[0] : x[1]) >>> (8 * (index & 3))) & 255;
  }

  @TestFactory
  Stream<DynamicTest> dotProductsOfBytes() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String s : new String[] {"u", "s"}) {
      for (String t : new String[] {"u", "s"}) {
        cases.add(
            InstructionCase.of(
                "dp4a.%s32.%s32 r, a, b, c;".formatted(s, t),
                "b32 b32 b32 b32",
                x -> {
                  BigInteger sum = BigInteger.valueOf(x[2]);
                  for (int i = 0; i < 4; i++) {
                    sum =
                        sum.add(
                            big(x[0] >>> (8 * i) & 255, s + "8")
                                .multiply(big(x[1] >>> (8 * i) & 255, t + "8")));
                  }
                  return wrap(sum, 32);
                }));
        for (int half = 0; half < 2; half++) {
          int shift = 16 * half;
          cases.add(
              InstructionCase.of(
                  "dp2a.%s.%s32.%s32 r, a, b, c;".formatted(half == 0 ? "lo" : "hi", s, t),
                  "b32 b32 b32 b32",
                  x -> {
                    BigInteger sum = BigInteger.valueOf(x[2]);
                    for (int i = 0; i < 2; i++) {
                      sum =
                          sum.add(
                              big(x[0] >>> (16 * i) & 0xFFFF, s + "16")
                                  .multiply(big(x[1] >>> (shift + 8 * i) & 255, t + "8")));
                    }
                    return wrap(sum, 32);
                  }));
        }
      }
    }
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> carriesGoFromWordToWord() {
    List<InstructionCase> cases = new ArrayList<>();
    String split = ".reg .b32 al, ah, bl, bh, rl, rh; mov.b64 {al, ah}, a; mov.b64 {bl, bh}, b; ";
    cases.add(
        InstructionCase.of(
            split + "add.cc.u32 rl, al, bl; addc.u32 rh, ah, bh; mov.b64 r, {rl, rh};",
            "b64 b64 b64",
            x -> x[0] + x[1]));
    cases.add(
        InstructionCase.of(
            split + "sub.cc.u32 rl, al, bl; subc.u32 rh, ah, bh; mov.b64 r, {rl, rh};",
            "b64 b64 b64",
            x -> x[0] - x[1]));
    cases.add(
        InstructionCase.of(
            split
                + "mul.lo.u32 rl, al, bl; mul.hi.u32 rh, al, bl; "
                + "mad.lo.cc.u32 rh, ah, bl, rh; mad.lo.u32 rh, al, bh, rh; mov.b64 r, {rl, rh};",
            "b64 b64 b64",
            x -> x[0] * x[1]));
    // The carries out of the upper words of a 128-bit sum and difference.
    cases.add(
        InstructionCase.of(
            ".reg .b64 lo, hi; add.cc.u64 lo, a, b; addc.cc.u64 hi, b, c; addc.u64 r, 0, 0;",
            "b64 b64 b64 b64",
            x -> {
              BigInteger low = big(x[0], "u64").add(big(x[1], "u64")).shiftRight(64);
              return big(x[1], "u64").add(big(x[2], "u64")).add(low).shiftRight(64).longValue();
            }));
    cases.add(
        InstructionCase.of(
            ".reg .b64 lo, hi; sub.cc.u64 lo, a, b; subc.cc.u64 hi, b, c; subc.u64 r, 0, 0;",
            "b64 b64 b64 b64",
            x -> {
              BigInteger low = big(x[0], "u64").subtract(big(x[1], "u64")).shiftRight(64);
              return big(x[1], "u64")
                  .subtract(big(x[2], "u64"))
                  .add(low)
                  .shiftRight(64)
                  .longValue();
            }));
    // The flag after a subtraction is 1 where nothing was borrowed, whatever comes next.
    cases.add(
        InstructionCase.of(
            ".reg .b64 lo, hi; sub.cc.u64 lo, a, b; subc.cc.u64 hi, b, c; addc.u64 r, 0, 0;",
            "b64 b64 b64 b64",
            x -> {
              BigInteger low = big(x[0], "u64").subtract(big(x[1], "u64")).shiftRight(64);
              BigInteger high = big(x[1], "u64").subtract(big(x[2], "u64")).add(low);
              return high.signum() < 0 ? 0 : 1;
            }));
    cases.add(
        InstructionCase.of(
            ".reg .b32 rl; add.cc.u32 rl, a, b; subc.u32 r, 0, 0;",
            "b32 b32 b32",
            x -> big(x[0], "u32").add(big(x[1], "u32")).bitLength() > 32 ? 0 : 0xFFFF_FFFFL));
    cases.add(
        InstructionCase.of(
            ".reg .b64 lo; mad.lo.cc.u64 lo, a, b, c; madc.hi.u64 r, a, b, 0;",
            "b64 b64 b64 b64",
            x ->
                wrap(
                    big(x[0], "u64")
                        .multiply(big(x[1], "u64"))
                        .add(big(x[2], "u64"))
                        .shiftRight(64),
                    64)));
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> packedHalfWords() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"u16", "s16"}) {
      cases.add(packed("add", type, BigInteger::add));
      cases.add(packed("min", type, BigInteger::min));
      cases.add(packed("max", type, BigInteger::max));
    }
    cases.add(packed("min.relu", "s16", (a, b) -> a.min(b).max(BigInteger.ZERO)));
    cases.add(packed("max.relu", "s16", (a, b) -> a.max(b).max(BigInteger.ZERO)));
    return InstructionCase.tests(cases.stream());
  }

  private static InstructionCase packed(String name, String type, TwoBig function) {
    return InstructionCase.of(
        name + "." + type + "x2 r, a, b;",
        "b32 b32 b32",
        x -> {
          long low = wrap(function.apply(big(x[0] & 0xFFFF, type), big(x[1] & 0xFFFF, type)), 16);
          long high = wrap(function.apply(big(x[0] >>> 16, type), big(x[1] >>> 16, type)), 16);
          return low | high << 16;
        });
  }
}
