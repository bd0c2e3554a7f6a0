package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** cvt between every pair of scalar types against exact decimal arithmetic. */
class ConvertOpsTest {
  private static final String[] INTEGERS = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  private static final Map<String, RoundingMode> WHOLE =
      Map.of(
          "rni", RoundingMode.HALF_EVEN,
          "rzi", RoundingMode.DOWN,
          "rmi", RoundingMode.FLOOR,
          "rpi", RoundingMode.CEILING);
  private static final ExactRounding.Table F16 = ExactRounding.half();
  private static final ExactRounding.Table BF16 = ExactRounding.bfloat();

  private static int bits(String type) {
    return Integer.parseInt(type.replaceAll("[a-z]", ""));
  }

  private static String register(String type) {
    return switch (type) {
      case "u8", "s8" -> "b16";
      case "bf16" -> "f16";
      case "f16", "f32", "f64" -> type;
      default -> "b" + bits(type);
    };
  }

  private static BigInteger integer(long value, String type) {
    BigInteger low =
        new BigInteger(Long.toUnsignedString(value)).mod(BigInteger.ONE.shiftLeft(bits(type)));
    boolean minus = type.startsWith("s") && low.testBit(bits(type) - 1);
    return minus ? low.subtract(BigInteger.ONE.shiftLeft(bits(type))) : low;
  }

  private static BigInteger clamp(BigInteger value, String type) {
    boolean signed = type.startsWith("s");
    BigInteger beyond = BigInteger.ONE.shiftLeft(bits(type) - (signed ? 1 : 0));
    BigInteger least = signed ? beyond.negate() : BigInteger.ZERO;
    return value.max(least).min(beyond.subtract(BigInteger.ONE));
  }

  /** An integer in a register, which may be wider than its type. */
  private static long inRegister(BigInteger value, String type, int register) {
    return integer(value.mod(BigInteger.ONE.shiftLeft(bits(type))).longValue(), type)
        .mod(BigInteger.ONE.shiftLeft(register))
        .longValue();
  }

  private static double number(long bits, String type) {
    return switch (type) {
      case "f64" -> Double.longBitsToDouble(bits);
      case "f32" -> Float.intBitsToFloat((int) bits);
      case "f16" -> Float.float16ToFloat((short) bits);
      default -> Float.intBitsToFloat((int) bits << 16);
    };
  }

  /** The bits of a number in a type; NaN as instructions give it. */
  private static long encoded(BigDecimal exact, double special, String type, String mode) {
    if (exact == null || exact.signum() == 0) {
      return switch (type) {
        case "f64" -> Double.doubleToLongBits(special);
        case "f32" ->
            Double.isNaN(special)
                ? 0x7FFF_FFFFL
                : Float.floatToRawIntBits((float) special) & Bits.M32;
        case "f16" ->
            Double.isNaN(special) ? 0x7FFF : Float.floatToFloat16((float) special) & Bits.M16;
        default -> Double.isNaN(special) ? 0x7FFF : Float.floatToRawIntBits((float) special) >>> 16;
      };
    }
    return switch (type) {
      case "f64" -> Double.doubleToLongBits(ExactRounding.toDouble(exact, mode));
      case "f32" -> {
        float rounded = ExactRounding.toFloat(exact, mode);
        rounded = rounded == 0 ? Math.copySign(0f, exact.signum()) : rounded;
        yield Float.floatToRawIntBits(rounded) & Bits.M32;
      }
      case "f16" -> F16.round(exact, mode, false);
      default -> BF16.round(exact, mode, false);
    };
  }

  private static BigDecimal exact(double value) {
    return Double.isFinite(value) ? new BigDecimal(value) : null;
  }

  @TestFactory
  Stream<DynamicTest> integersToIntegers() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String from : INTEGERS) {
      for (String to : INTEGERS) {
        cases.add(
            InstructionCase.of(
                "cvt.%s.%s r, a;".formatted(to, from),
                register(to) + " " + register(from),
                x -> inRegister(integer(x[0], from), to, bits(register(to)))));
        cases.add(
            InstructionCase.of(
                "cvt.sat.%s.%s r, a;".formatted(to, from),
                register(to) + " " + register(from),
                x -> inRegister(clamp(integer(x[0], from), to), to, bits(register(to)))));
      }
    }
    // Into and out of registers wider than the types.
    cases.add(
        InstructionCase.of("cvt.s8.s32 r, a;", "b64 b64", x -> integer(x[0], "s8").longValue()));
    cases.add(InstructionCase.of("cvt.u16.u32 r, a;", "b32 b32", x -> x[0] & 0xFFFF));
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> floatsToIntegers() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String from : new String[] {"f16", "bf16", "f32", "f64"}) {
      for (String to : INTEGERS) {
        WHOLE.forEach(
            (mode, rounding) ->
                cases.add(
                    InstructionCase.of(
                        "cvt.%s.%s.%s r, a;".formatted(mode, to, from),
                        register(to) + " " + register(from),
                        x -> whole(number(x[0], from), rounding, to))));
      }
    }
    cases.add(
        InstructionCase.of(
            "cvt.rpi.ftz.s32.f32 r, a;",
            "b32 f32",
            x -> {
              double value = number(x[0], "f32");
              return whole(
                  Math.abs(value) < Float.MIN_NORMAL ? 0 : value, RoundingMode.CEILING, "s32");
            }));
    return InstructionCase.tests(cases.stream());
  }

  private static long whole(double value, RoundingMode rounding, String to) {
    if (Double.isNaN(value)) {
      return 0;
    }
    BigInteger rounded =
        Double.isInfinite(value)
            ? BigInteger.ONE.shiftLeft(70).multiply(BigInteger.valueOf(value > 0 ? 1 : -1))
            : new BigDecimal(value).setScale(0, rounding).toBigInteger();
    return inRegister(clamp(rounded, to), to, bits(register(to)));
  }

  @TestFactory
  Stream<DynamicTest> integersToFloats() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String from : INTEGERS) {
      for (String to : new String[] {"f16", "bf16", "f32", "f64"}) {
        for (String mode : new String[] {"rn", "rz", "rm", "rp"}) {
          cases.add(
              InstructionCase.of(
                  "cvt.%s.%s.%s r, a;".formatted(mode, to, from),
                  register(to) + " " + register(from),
                  x -> encoded(new BigDecimal(integer(x[0], from)), 0.0, to, mode)));
        }
      }
    }
    cases.add(
        InstructionCase.of(
            "cvt.rn.sat.f32.s32 r, a;", "f32 b32", x -> (int) x[0] > 0 ? 0x3F800000L : 0));
    cases.add(
        InstructionCase.of(
            "cvt.rn.sat.f16.s32 r, a;", "f16 b32", x -> (int) x[0] > 0 ? 0x3C00 : 0));
    cases.add(
        InstructionCase.of(
            "cvt.rn.sat.f64.s64 r, a;", "f64 b64", x -> x[0] > 0 ? 0x3FF0000000000000L : 0));
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> floatsToFloats() {
    List<InstructionCase> cases = new ArrayList<>();
    String nan64 = " .reg .pred u; setp.nan.f64 u, r, r; @u mov.b64 r, 0x7ff8000000000000;";
    for (String wide : new String[] {"f32.f16", "f64.f16", "f32.bf16", "f64.bf16", "f64.f32"}) {
      String to = wide.substring(0, 3);
      String from = wide.substring(4);
      cases.add(
          InstructionCase.of(
              "cvt." + wide + " r, a;" + (to.equals("f64") ? nan64 : ""),
              to + " " + register(from),
              x -> encoded(exact(number(x[0], from)), number(x[0], from), to, "rn")));
    }
    for (String narrow :
        new String[] {
          "f32.f64", "f16.f32", "f16.f64", "bf16.f32", "bf16.f16", "bf16.f64", "f16.bf16"
        }) {
      String to = narrow.substring(0, narrow.indexOf('.'));
      String from = narrow.substring(narrow.indexOf('.') + 1);
      for (String mode : new String[] {"rn", "rz", "rm", "rp"}) {
        cases.add(
            InstructionCase.of(
                "cvt.%s.%s r, a;".formatted(mode, narrow),
                register(to) + " " + register(from),
                x -> encoded(exact(number(x[0], from)), number(x[0], from), to, mode)));
      }
    }
    for (String type : new String[] {"f16", "bf16", "f32", "f64"}) {
      WHOLE.forEach(
          (mode, rounding) ->
              cases.add(
                  InstructionCase.of(
                      "cvt.%1$s.%2$s.%2$s r, a;".formatted(mode, type)
                          + (type.equals("f64") ? nan64 : ""),
                      register(type) + " " + register(type),
                      x -> toWhole(x[0], type, rounding))));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static long toWhole(long bits, String type, RoundingMode rounding) {
    double value = number(bits, type);
    BigDecimal exact = exact(value);
    BigDecimal whole = exact == null ? null : exact.setScale(0, rounding);
    double special = whole == null ? value : Math.copySign(0.0, value);
    return encoded(whole, special, type, "rn");
  }

  @TestFactory
  Stream<DynamicTest> modifiersOfFloatConversions() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String to : new String[] {"f16", "bf16"}) {
      for (String mode : new String[] {"rn", "rz"}) {
        cases.add(
            InstructionCase.of(
                "cvt.%s.relu.%s.f32 r, a;".formatted(mode, to),
                "f16 f32",
                x -> {
                  double value = number(x[0], "f32");
                  return value <= 0 ? 0 : encoded(exact(value), value, to, mode);
                }));
        cases.add(
            InstructionCase.of(
                "cvt.%s.satfinite.%s.f32 r, a;".formatted(mode, to),
                "f16 f32",
                x -> finite(number(x[0], "f32"), to, mode)));
      }
    }
    cases.add(
        InstructionCase.of(
            "cvt.sat.f32.f32 r, a;",
            "f32 f32",
            x -> {
              float value = Float.intBitsToFloat((int) x[0]);
              return value >= 1 ? 0x3F800000L : value > 0 ? x[0] : 0;
            }));
    cases.add(InstructionCase.of("cvt.ftz.f32.f32 r, a;", "f32 f32", x -> canonical(flush(x[0]))));
    cases.add(
        InstructionCase.of(
            "cvt.rn.ftz.f16.f32 r, a;",
            "f16 f32",
            x -> {
              double value = number(flush(x[0]), "f32");
              return encoded(exact(value), value, "f16", "rn");
            }));
    cases.add(
        InstructionCase.of(
            "cvt.rn.ftz.f32.f64 r, a;",
            "f32 f64",
            x -> {
              double value = number(x[0], "f64");
              return flush(encoded(exact(value), value, "f32", "rn"));
            }));
    cases.add(InstructionCase.of("cvt.rna.tf32.f32 r, a;", "b32 f32", x -> tf32(x[0], "rna")));
    cases.add(InstructionCase.of("cvt.rn.tf32.f32 r, a;", "b32 f32", x -> tf32(x[0], "rn")));
    cases.add(InstructionCase.of("cvt.rz.tf32.f32 r, a;", "b32 f32", x -> tf32(x[0], "rz")));
    return InstructionCase.tests(cases.stream());
  }

  private static long finite(double value, String to, String mode) {
    double largest = to.equals("f16") ? 65504 : number(0x7F7F, "bf16");
    boolean clamps = Math.abs(value) > largest;
    double kept = clamps ? Math.copySign(largest, value) : value;
    return encoded(exact(kept), kept, to, mode);
  }

  private static long flush(long bits) {
    return Math.abs(number(bits, "f32")) < Float.MIN_NORMAL ? bits & 0x8000_0000L : bits;
  }

  private static long canonical(long bits) {
    return number(bits, "f32") != number(bits, "f32") ? 0x7FFF_FFFFL : bits;
  }

  /** TF32 has F32's exponents and 10 bits of fraction: rounding is of the bits below them. */
  private static long tf32(long bits, String mode) {
    double value = number(bits, "f32");
    if (Double.isNaN(value)) {
      return 0x7FFF_E000L;
    }
    if (Double.isInfinite(value)) {
      return bits;
    }
    long low = bits & 0x1FFF;
    long kept = bits - low;
    boolean up =
        switch (mode) {
          case "rz" -> false;
          case "rna" -> low >= 0x1000;
          default -> low > 0x1000 || (low == 0x1000 && (bits & 0x2000) != 0);
        };
    return up ? kept + 0x2000 : kept;
  }
}
