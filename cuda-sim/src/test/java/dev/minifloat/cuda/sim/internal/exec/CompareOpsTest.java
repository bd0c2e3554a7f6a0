package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Comparisons and selections against the order of big integers and of doubles. */
class CompareOpsTest {
  private static final Map<String, IntPredicate> ORDERED = new LinkedHashMap<>();

  static {
    ORDERED.put("eq", order -> order == 0);
    ORDERED.put("ne", order -> order != 0);
    ORDERED.put("lt", order -> order < 0);
    ORDERED.put("le", order -> order <= 0);
    ORDERED.put("gt", order -> order > 0);
    ORDERED.put("ge", order -> order >= 0);
  }

  private static final Map<String, IntPredicate> UNSIGNED =
      Map.of(
          "lo", order -> order < 0,
          "ls", order -> order <= 0,
          "hi", order -> order > 0,
          "hs", order -> order >= 0);

  private static int order(long a, long b, String type) {
    int bits = Integer.parseInt(type.substring(1));
    return big(a, bits, type.startsWith("s")).compareTo(big(b, bits, type.startsWith("s")));
  }

  private static BigInteger big(long value, int bits, boolean signed) {
    BigInteger unsigned = new BigInteger(Long.toUnsignedString(value));
    boolean minus = signed && unsigned.testBit(bits - 1);
    return minus ? unsigned.subtract(BigInteger.ONE.shiftLeft(bits)) : unsigned;
  }

  private static double number(long bits, String type) {
    return switch (type) {
      case "f32" -> Float.intBitsToFloat((int) bits);
      case "f64" -> Double.longBitsToDouble(bits);
      case "f16" -> Float.float16ToFloat((short) bits);
      default -> Float.intBitsToFloat((int) bits << 16);
    };
  }

  /** The fourteen comparisons of floating point numbers. */
  private static boolean holds(String operator, double a, double b) {
    boolean unordered = Double.isNaN(a) || Double.isNaN(b);
    if (operator.equals("num") || operator.equals("nan")) {
      return unordered == operator.equals("nan");
    }
    // compare() tells −0 from +0, the instructions don't.
    int order = unordered ? 0 : Double.compare(a + 0.0, b + 0.0);
    boolean alsoUnordered = operator.length() == 3;
    return unordered ? alsoUnordered : ORDERED.get(operator.substring(0, 2)).test(order);
  }

  private static List<String> floatOperators() {
    List<String> operators = new ArrayList<>();
    for (String operator : ORDERED.keySet()) {
      operators.add(operator);
      operators.add(operator + "u");
    }
    operators.add("num");
    operators.add("nan");
    return operators;
  }

  @TestFactory
  Stream<DynamicTest> integersCompare() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"u16", "u32", "u64", "s16", "s32", "s64"}) {
      String in = "b" + type.substring(1);
      Map<String, IntPredicate> operators = new LinkedHashMap<>(ORDERED);
      if (type.startsWith("u")) {
        operators.putAll(UNSIGNED);
      }
      operators.forEach(
          (name, test) -> {
            cases.add(
                InstructionCase.of(
                    "setp.%s.%s r, a, b;".formatted(name, type),
                    "pred %s %s".formatted(in, in),
                    x -> test.test(order(x[0], x[1], type)) ? 1 : 0));
            cases.add(
                InstructionCase.of(
                    "set.%s.u32.%s r, a, b;".formatted(name, type),
                    "b32 %s %s".formatted(in, in),
                    x -> test.test(order(x[0], x[1], type)) ? Bits.M32 : 0));
          });
    }
    for (String bits : new String[] {"16", "32", "64"}) {
      cases.add(
          InstructionCase.of(
              "setp.eq.b%s r, a, b;".formatted(bits),
              "pred b%s b%s".formatted(bits, bits),
              x -> x[0] == x[1] ? 1 : 0));
    }
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> floatsCompare() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"f32", "f64", "f16", "bf16"}) {
      String in = type.equals("bf16") ? "f16" : type;
      for (String operator : floatOperators()) {
        cases.add(
            InstructionCase.of(
                "setp.%s.%s r, a, b;".formatted(operator, type),
                "pred %s %s".formatted(in, in),
                x -> holds(operator, number(x[0], type), number(x[1], type)) ? 1 : 0));
      }
      String result = type.endsWith("16") ? "u16" : "s32";
      cases.add(
          InstructionCase.of(
              "set.ltu.%s.%s r, a, b;".formatted(result, type),
              "b%s %s %s".formatted(result.substring(1), in, in),
              x ->
                  holds("ltu", number(x[0], type), number(x[1], type))
                      ? Bits.mask(Integer.parseInt(result.substring(1)))
                      : 0));
    }
    cases.add(
        InstructionCase.of(
            "set.ge.f32.f32 r, a, b;",
            "b32 f32 f32",
            x -> number(x[0], "f32") >= number(x[1], "f32") ? 0x3F800000L : 0));
    cases.add(
        InstructionCase.of(
            "set.lt.f16.f16 r, a, b;",
            "f16 f16 f16",
            x -> number(x[0], "f16") < number(x[1], "f16") ? 0x3C00 : 0));
    cases.add(
        InstructionCase.of(
            "set.lt.bf16.bf16 r, a, b;",
            "f16 f16 f16",
            x -> number(x[0], "bf16") < number(x[1], "bf16") ? 0x3F80 : 0));
    cases.add(
        InstructionCase.of(
            "setp.lt.ftz.f32 r, a, b;",
            "pred f32 f32",
            x -> flushed(x[0]) < flushed(x[1]) ? 1 : 0));
    return InstructionCase.tests(cases.stream());
  }

  private static double flushed(long bits) {
    double value = number(bits, "f32");
    return Math.abs(value) < Float.MIN_NORMAL ? 0 : value;
  }

  @TestFactory
  Stream<DynamicTest> packedHalvesCompareApart() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"f16", "bf16"}) {
      String pairs = ".reg .b32 pa, pb; mov.b32 pa, {a, b}; mov.b32 pb, {b, a}; ";
      cases.add(
          InstructionCase.of(
              ".reg .pred p, q; .reg .b32 u, v; %ssetp.lt.%sx2 p|q, pa, pb; ".formatted(pairs, type)
                  + "selp.b32 u, 1, 0, p; selp.b32 v, 2, 0, q; or.b32 r, u, v;",
              "b32 f16 f16",
              x ->
                  (number(x[0], type) < number(x[1], type) ? 1 : 0)
                      + (number(x[1], type) < number(x[0], type) ? 2 : 0)));
      cases.add(
          InstructionCase.of(
              pairs + "set.gt.u32.%sx2 r, pa, pb;".formatted(type),
              "b32 f16 f16",
              x ->
                  (number(x[0], type) > number(x[1], type) ? 0xFFFFL : 0)
                      | (number(x[1], type) > number(x[0], type) ? 0xFFFF_0000L : 0)));
      long one = type.equals("f16") ? 0x3C00 : 0x3F80;
      cases.add(
          InstructionCase.of(
              pairs + "set.gt.%1$sx2.%1$sx2 r, pa, pb;".formatted(type),
              "b32 f16 f16",
              x ->
                  (number(x[0], type) > number(x[1], type) ? one : 0)
                      | (number(x[1], type) > number(x[0], type) ? one << 16 : 0)));
    }
    return InstructionCase.tests(cases.stream());
  }

  @TestFactory
  Stream<DynamicTest> predicatesCombine() {
    List<InstructionCase> cases = new ArrayList<>();
    String both = "selp.b32 u, 1, 0, p; selp.b32 v, 2, 0, q; or.b32 r, u, v;";
    String declared = ".reg .pred p, q; .reg .b32 u, v; ";
    for (String bool : new String[] {"and", "or", "xor"}) {
      for (boolean negated : new boolean[] {false, true}) {
        cases.add(
            InstructionCase.of(
                declared
                    + "setp.lt.%s.s32 p|q, a, b, %sc; ".formatted(bool, negated ? "!" : "")
                    + both,
                "b32 b32 b32 pred",
                x -> {
                  boolean less = (int) x[0] < (int) x[1];
                  boolean c = x[2] != 0 ^ negated;
                  return (combined(bool, less, c) ? 1 : 0) + (combined(bool, !less, c) ? 2 : 0);
                }));
      }
      cases.add(
          InstructionCase.of(
              "set.lt.%s.u32.s32 r, a, b, c;".formatted(bool),
              "b32 b32 b32 pred",
              x -> combined(bool, (int) x[0] < (int) x[1], x[2] != 0) ? Bits.M32 : 0));
      cases.add(
          InstructionCase.of(
              "%s.pred r, a, b;".formatted(bool),
              "pred pred pred",
              x -> combined(bool, x[0] != 0, x[1] != 0) ? 1 : 0));
    }
    cases.add(InstructionCase.of("not.pred r, a;", "pred pred", x -> 1 - x[0]));
    cases.add(InstructionCase.of("mov.pred r, a;", "pred pred", x -> x[0]));
    cases.add(InstructionCase.of("mov.pred r, 1;", "pred pred", x -> 1));
    return InstructionCase.tests(cases.stream());
  }

  private static boolean combined(String bool, boolean a, boolean b) {
    return switch (bool) {
      case "and" -> a && b;
      case "or" -> a || b;
      default -> a ^ b;
    };
  }

  @TestFactory
  Stream<DynamicTest> selections() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"b16", "b32", "b64", "u32", "s16", "f32", "f64"}) {
      String in = type.startsWith("f") ? type : "b" + type.substring(1);
      cases.add(
          InstructionCase.of(
              "selp.%s r, a, b, c;".formatted(type),
              "%s %s %s pred".formatted(in, in, in),
              x -> x[2] != 0 ? x[0] : x[1]));
      cases.add(
          InstructionCase.of(
              "slct.%s.s32 r, a, b, c;".formatted(type),
              "%s %s %s b32".formatted(in, in, in),
              x -> (int) x[2] >= 0 ? x[0] : x[1]));
      cases.add(
          InstructionCase.of(
              "slct.%s.f32 r, a, b, c;".formatted(type),
              "%s %s %s f32".formatted(in, in, in),
              x -> number(x[2], "f32") >= 0 ? x[0] : x[1]));
    }
    cases.add(
        InstructionCase.of(
            "slct.ftz.b32.f32 r, a, b, c;",
            "b32 b32 b32 f32",
            x -> flushed(x[2]) >= 0 ? x[0] : x[1]));
    return InstructionCase.tests(cases.stream());
  }
}
