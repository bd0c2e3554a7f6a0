package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** F32 and F64 instructions against exact decimal arithmetic and Java's own. */
class FloatOpsTest {
  private static final String[] MODES = {"rn", "rz", "rm", "rp"};
  private static final long NAN = 0x7FFF_FFFFL;

  /** Enough digits that no quotient or root lies nearer to a rounding boundary than its error. */
  private static final MathContext DIGITS = new MathContext(1200, RoundingMode.FLOOR);

  private interface Exact {
    BigDecimal apply(BigDecimal a, BigDecimal b, BigDecimal c);
  }

  private interface Native {
    double apply(double a, double b, double c);
  }

  private static float f(long bits) {
    return Float.intBitsToFloat((int) bits);
  }

  private static double d(long bits) {
    return Double.longBitsToDouble(bits);
  }

  private static long bits(float value) {
    return Double.isNaN(value) ? NAN : Float.floatToRawIntBits(value) & Bits.M32;
  }

  /** What Java gives for infinities, NaN and zeros, whose signs depend on the mode. */
  private static double special(
      Native plain, String mode, double a, double b, double c, boolean sum) {
    double result = plain.apply(a, b, c);
    if (result == 0 && sum && mode.equals("rm")) {
      // x − x is −0 when rounding down; a sum of two +0 is +0.
      double first = plain == FMA ? a * b : a;
      double second = plain == FMA ? c : plain == SUB ? -b : b;
      boolean plus = 1 / first > 0 && first == 0 && 1 / second > 0 && second == 0;
      return plus ? 0.0 : -0.0;
    }
    return result;
  }

  private static final Native ADD = (a, b, c) -> a + b;
  private static final Native SUB = (a, b, c) -> a - b;
  private static final Native FMA = Math::fma;

  private static long single(Exact exact, Native plain, String mode, long[] x, boolean sum) {
    float a = f(x[0]);
    float b = x.length > 1 ? f(x[1]) : 0;
    float c = x.length > 2 ? f(x[2]) : 0;
    if (!Float.isFinite(a) || !Float.isFinite(b) || !Float.isFinite(c)) {
      return bits((float) plain.apply(a, b, c));
    }
    BigDecimal value = exact.apply(new BigDecimal(a), new BigDecimal(b), new BigDecimal(c));
    if (value == null || value.signum() == 0) {
      return bits((float) special(plain, mode, a, b, c, sum));
    }
    return bits(withSign(ExactRounding.toFloat(value, mode), value));
  }

  /** A result that became zero keeps the exact result's sign. */
  private static float withSign(float rounded, BigDecimal exact) {
    return rounded == 0 ? Math.copySign(0f, exact.signum()) : rounded;
  }

  private static double withSign(double rounded, BigDecimal exact) {
    return rounded == 0 ? Math.copySign(0.0, exact.signum()) : rounded;
  }

  private static long twice(Exact exact, Native plain, String mode, long[] x, boolean sum) {
    double a = d(x[0]);
    double b = x.length > 1 ? d(x[1]) : 0;
    double c = x.length > 2 ? d(x[2]) : 0;
    if (!Double.isFinite(a) || !Double.isFinite(b) || !Double.isFinite(c)) {
      return Double.doubleToLongBits(plain.apply(a, b, c));
    }
    BigDecimal value = exact.apply(new BigDecimal(a), new BigDecimal(b), new BigDecimal(c));
    if (value == null || value.signum() == 0) {
      return Double.doubleToLongBits(special(plain, mode, a, b, c, sum));
    }
    return Double.doubleToLongBits(withSign(ExactRounding.toDouble(value, mode), value));
  }

  private static BigDecimal quotient(BigDecimal a, BigDecimal b) {
    return b.signum() == 0 || a.signum() == 0 ? null : sticky(a.divide(b, DIGITS), a, b);
  }

  /** Cut off toward minus infinity, so a digit after the last says that more follows. */
  private static BigDecimal sticky(BigDecimal cut, BigDecimal a, BigDecimal b) {
    return cut.multiply(b).compareTo(a) == 0
        ? cut
        : cut.add(BigDecimal.ONE.movePointLeft(cut.scale() + 1));
  }

  private static BigDecimal root(BigDecimal a) {
    if (a.signum() <= 0) {
      return null;
    }
    BigDecimal cut = a.sqrt(new MathContext(800, RoundingMode.FLOOR));
    return cut.multiply(cut).compareTo(a) == 0
        ? cut
        : cut.add(BigDecimal.ONE.movePointLeft(cut.scale() + 1));
  }

  private static String canonical64() {
    // NaN payloads are not compared.
    return ".reg .pred u; setp.nan.f64 u, r, r; @u mov.b64 r, 0x7ff8000000000000; ";
  }

  @TestFactory
  Stream<DynamicTest> everyRoundingIsExact() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String mode : MODES) {
      add(cases, "add." + mode, 2, (a, b, c) -> a.add(b), ADD, mode, true);
      add(cases, "sub." + mode, 2, (a, b, c) -> a.subtract(b), SUB, mode, true);
      add(cases, "mul." + mode, 2, (a, b, c) -> a.multiply(b), (a, b, c) -> a * b, mode, false);
      add(cases, "fma." + mode, 3, (a, b, c) -> a.multiply(b).add(c), FMA, mode, true);
      add(cases, "mad." + mode, 3, (a, b, c) -> a.multiply(b).add(c), FMA, mode, true);
      add(cases, "div." + mode, 2, (a, b, c) -> quotient(a, b), (a, b, c) -> a / b, mode, false);
      add(cases, "sqrt." + mode, 1, (a, b, c) -> root(a), (a, b, c) -> Math.sqrt(a), mode, false);
      add(
          cases,
          "rcp." + mode,
          1,
          (a, b, c) -> quotient(BigDecimal.ONE, a),
          (a, b, c) -> 1 / a,
          mode,
          false);
    }
    add(cases, "add", 2, (a, b, c) -> a.add(b), ADD, "rn", true);
    add(cases, "sub", 2, (a, b, c) -> a.subtract(b), SUB, "rn", true);
    add(cases, "mul", 2, (a, b, c) -> a.multiply(b), (a, b, c) -> a * b, "rn", false);
    return InstructionCase.tests(cases.stream());
  }

  private static void add(
      List<InstructionCase> cases,
      String name,
      int operands,
      Exact exact,
      Native plain,
      String mode,
      boolean sum) {
    String arguments = " r, a, b, c".substring(0, 2 + 3 * operands);
    cases.add(
        InstructionCase.of(
            name + ".f32" + arguments + ";",
            "f32" + " f32".repeat(operands),
            x -> single(exact, plain, mode, x, sum)));
    cases.add(
        InstructionCase.of(
            name + ".f64" + arguments + "; " + canonical64(),
            "f64" + " f64".repeat(operands),
            x -> twice(exact, plain, mode, x, sum)));
  }

  private static long flush(long bits) {
    return Math.abs(f(bits)) < Float.MIN_NORMAL ? bits & 0x8000_0000L : bits;
  }

  @TestFactory
  Stream<DynamicTest> flushingAndSaturation() {
    List<InstructionCase> cases = new ArrayList<>();
    cases.add(
        InstructionCase.of(
            "add.ftz.f32 r, a, b;",
            "f32 f32 f32",
            x -> flush(bits(f(flush(x[0])) + f(flush(x[1]))))));
    cases.add(
        InstructionCase.of(
            "sub.ftz.f32 r, a, b;",
            "f32 f32 f32",
            x -> flush(bits(f(flush(x[0])) - f(flush(x[1]))))));
    cases.add(
        InstructionCase.of(
            "mul.ftz.f32 r, a, b;",
            "f32 f32 f32",
            x -> flush(bits(f(flush(x[0])) * f(flush(x[1]))))));
    cases.add(
        InstructionCase.of(
            "fma.rn.ftz.f32 r, a, b, c;",
            "f32 f32 f32 f32",
            x -> flush(bits(Math.fma(f(flush(x[0])), f(flush(x[1])), f(flush(x[2])))))));
    cases.add(
        InstructionCase.of(
            "div.rn.ftz.f32 r, a, b;",
            "f32 f32 f32",
            x -> flush(bits(f(flush(x[0])) / f(flush(x[1]))))));
    cases.add(InstructionCase.of("abs.ftz.f32 r, a;", "f32 f32", x -> flush(x[0]) & 0x7FFF_FFFFL));
    cases.add(InstructionCase.of("neg.ftz.f32 r, a;", "f32 f32", x -> flush(x[0]) ^ 0x8000_0000L));
    cases.add(
        InstructionCase.of(
            "add.sat.f32 r, a, b;", "f32 f32 f32", x -> saturated(f(x[0]) + f(x[1]))));
    cases.add(
        InstructionCase.of(
            "mul.sat.f32 r, a, b;", "f32 f32 f32", x -> saturated(f(x[0]) * f(x[1]))));
    cases.add(
        InstructionCase.of(
            "fma.rn.sat.f32 r, a, b, c;",
            "f32 f32 f32 f32",
            x -> saturated(Math.fma(f(x[0]), f(x[1]), f(x[2])))));
    return InstructionCase.tests(cases.stream());
  }

  private static long saturated(float value) {
    return value >= 1 ? 0x3F80_0000L : value > 0 ? bits(value) : 0;
  }

  @TestFactory
  Stream<DynamicTest> signsAndExtremes() {
    List<InstructionCase> cases = new ArrayList<>();
    cases.add(InstructionCase.of("abs.f32 r, a;", "f32 f32", x -> x[0] & 0x7FFF_FFFFL));
    cases.add(InstructionCase.of("neg.f32 r, a;", "f32 f32", x -> x[0] ^ 0x8000_0000L));
    cases.add(InstructionCase.of("abs.f64 r, a;", "f64 f64", x -> x[0] & Long.MAX_VALUE));
    cases.add(InstructionCase.of("neg.f64 r, a;", "f64 f64", x -> x[0] ^ Long.MIN_VALUE));
    cases.add(
        InstructionCase.of(
            "copysign.f32 r, a, b;",
            "f32 f32 f32",
            x -> (x[1] & 0x7FFF_FFFFL) | (x[0] & 0x8000_0000L)));
    cases.add(
        InstructionCase.of(
            "copysign.f64 r, a, b;",
            "f64 f64 f64",
            x -> (x[1] & Long.MAX_VALUE) | (x[0] & Long.MIN_VALUE)));
    for (boolean min : new boolean[] {true, false}) {
      String name = min ? "min" : "max";
      cases.add(
          InstructionCase.of(
              name + ".f32 r, a, b;", "f32 f32 f32", x -> extreme(f(x[0]), f(x[1]), min)));
      cases.add(
          InstructionCase.of(
              name + ".ftz.f32 r, a, b;",
              "f32 f32 f32",
              x -> extreme(f(flush(x[0])), f(flush(x[1])), min)));
      cases.add(
          InstructionCase.of(
              name + ".NaN.f32 r, a, b;",
              "f32 f32 f32",
              x -> bits(min ? Math.min(f(x[0]), f(x[1])) : Math.max(f(x[0]), f(x[1])))));
      cases.add(
          InstructionCase.of(
              name + ".xorsign.abs.f32 r, a, b;",
              "f32 f32 f32",
              x -> {
                long result = extreme(Math.abs(f(x[0])), Math.abs(f(x[1])), min);
                return result == NAN ? NAN : result | ((x[0] ^ x[1]) & 0x8000_0000L);
              }));
      cases.add(
          InstructionCase.of(
              name + ".f64 r, a, b; " + canonical64(),
              "f64 f64 f64",
              x -> {
                double a = d(x[0]);
                double b = d(x[1]);
                double both = min ? Math.min(a, b) : Math.max(a, b);
                return Double.doubleToLongBits(Double.isNaN(a) ? b : Double.isNaN(b) ? a : both);
              }));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static long extreme(float a, float b, boolean min) {
    float both = min ? Math.min(a, b) : Math.max(a, b);
    return bits(Double.isNaN(a) ? b : Double.isNaN(b) ? a : both);
  }

  @TestFactory
  Stream<DynamicTest> properties() {
    List<InstructionCase> cases = new ArrayList<>();
    for (String type : new String[] {"f32", "f64"}) {
      boolean single = type.equals("f32");
      double normal = single ? Float.MIN_NORMAL : Double.MIN_NORMAL;
      cases.add(property("finite", type, v -> Double.isFinite(v) ? 1 : 0));
      cases.add(property("infinite", type, v -> Double.isInfinite(v) ? 1 : 0));
      cases.add(property("number", type, v -> Double.isNaN(v) ? 0 : 1));
      cases.add(property("notanumber", type, v -> Double.isNaN(v) ? 1 : 0));
      cases.add(property("normal", type, v -> Double.isFinite(v) && Math.abs(v) >= normal ? 1 : 0));
      cases.add(property("subnormal", type, v -> v != 0 && Math.abs(v) < normal ? 1 : 0));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static InstructionCase property(String name, String type, DoubleUnaryOperator holds) {
    return InstructionCase.of(
        "testp." + name + "." + type + " r, a;",
        "pred " + type,
        x -> (long) holds.applyAsDouble(type.equals("f32") ? f(x[0]) : d(x[0])));
  }

  /** An approximation: how far it may be from the true value, by the PTX ISA. */
  private record Bound(String code, DoubleUnaryOperator exact, double absolute, double relative) {}

  @TestFactory
  Stream<DynamicTest> approximationsStayWithinTheirBounds() {
    double twoUlp = 0x1p-22;
    return Stream.of(
            new Bound("rcp.approx.f32 r, a;", v -> 1 / v, 0x1p-149, 0x1p-23),
            new Bound("rcp.approx.ftz.f32 r, a;", v -> 1 / v, Float.MIN_NORMAL, 0x1p-23),
            new Bound("sqrt.approx.f32 r, a;", Math::sqrt, 0x1p-149, 0x1p-23),
            new Bound("rsqrt.approx.f32 r, a;", v -> 1 / Math.sqrt(v), 0, 0x1p-22),
            new Bound("sin.approx.f32 r, a;", Math::sin, 0x1p-20, 0),
            new Bound("cos.approx.f32 r, a;", Math::cos, 0x1p-20, 0),
            new Bound("ex2.approx.f32 r, a;", v -> Math.pow(2, v), 0x1p-149, twoUlp),
            new Bound("ex2.approx.ftz.f32 r, a;", v -> Math.pow(2, v), 0x1p-126, twoUlp),
            new Bound("lg2.approx.f32 r, a;", v -> Math.log(v) / Math.log(2), 0x1p-22, 0x1p-22),
            new Bound("tanh.approx.f32 r, a;", Math::tanh, 0, 0x1p-11))
        .map(bound -> DynamicTest.dynamicTest(bound.code(), () -> check(bound)));
  }

  private static void check(Bound bound) {
    boolean flushes = bound.code().contains(".ftz");
    long[][] cases = Scalars.cases(new String[] {"f32"}, 4096);
    long[] results = Scalars.run(bound.code(), new String[] {"f32"}, "f32", cases);
    for (int n = 0; n < cases.length; n++) {
      double a = f(flushes ? flush(cases[n][0]) : cases[n][0]);
      double exact = bound.exact().applyAsDouble(a);
      float found = f(results[n]);
      String what = bound.code() + " of " + a + " gives " + found + " for " + exact;
      if (Double.isNaN(exact)) {
        assertEquals(NAN, results[n], what);
      } else if (Math.abs(exact) > Float.MAX_VALUE) {
        assertEquals((float) exact, found, what);
      } else {
        double error = Math.abs(found - exact);
        assertTrue(error <= bound.absolute() + bound.relative() * Math.abs(exact), what);
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> approximateQuotientsStayWithinTheirBounds() {
    return Stream.of("div.approx.f32 r, a, b;", "div.full.f32 r, a, b;")
        .map(code -> DynamicTest.dynamicTest(code, () -> checkQuotient(code)));
  }

  private static void checkQuotient(String code) {
    String[] types = {"f32", "f32"};
    long[][] cases = Scalars.cases(types, 4096);
    long[] results = Scalars.run(code, types, "f32", cases);
    for (int n = 0; n < cases.length; n++) {
      float a = f(cases[n][0]);
      float b = f(cases[n][1]);
      float found = f(results[n]);
      String what = code + " of " + a + " and " + b;
      if (code.contains("approx") && Math.abs(b) > 0x1p126f && Float.isFinite(b)) {
        float expected = Float.isInfinite(a) || Double.isNaN(a) ? Float.NaN : 0;
        assertEquals(expected, found == 0 ? 0 : found, what);
      } else {
        double exact = (double) a / b;
        boolean near = Math.abs(found - exact) <= Math.abs(exact) * 0x1p-22 + 0x1p-149;
        assertTrue(near || Float.compare((float) exact, found) == 0, what + " gives " + found);
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> upperHalvesOfReciprocals() {
    return Stream.of(
            "rcp.approx.ftz.f64 r, a;", "rsqrt.approx.ftz.f64 r, a;", "rsqrt.approx.f64 r, a;")
        .map(code -> DynamicTest.dynamicTest(code, () -> checkUpperHalf(code)));
  }

  private static void checkUpperHalf(String code) {
    String[] types = {"f64"};
    long[][] cases = Scalars.cases(types, 4096);
    long[] results = Scalars.run(code, types, "f64", cases);
    for (int n = 0; n < cases.length; n++) {
      double a = d(cases[n][0]);
      if (code.contains("ftz") && Math.abs(a) < Double.MIN_NORMAL) {
        a = Math.copySign(0.0, a);
      }
      double exact = code.startsWith("rcp") ? 1 / a : 1 / Math.sqrt(a);
      double found = d(results[n]);
      String what = code + " of " + a + " gives " + found;
      if (!Double.isFinite(exact) || exact == 0) {
        assertEquals(exact, found, what);
      } else {
        double error = Math.abs(found - exact);
        assertTrue(error <= Math.abs(exact) * 0x1p-19 + Double.MIN_NORMAL, what);
      }
    }
  }
}
