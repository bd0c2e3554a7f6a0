package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** F16 and BF16 instructions against exact decimal arithmetic and tables of their numbers. */
class HalfOpsTest {
  private static final int NAN = 0x7FFF;

  /** A half format: its numbers, its table, and its name in PTX. */
  private record Half(String name, ExactRounding.Table table, boolean bfloat) {
    double decode(long code) {
      return bfloat ? Float.intBitsToFloat((int) code << 16) : Float.float16ToFloat((short) code);
    }

    /** What an instruction gives for an exact number, or for what a double says of specials. */
    int encode(BigDecimal exact, double special) {
      if (exact != null && exact.signum() != 0) {
        return table.round(exact, "rn", false);
      }
      if (Double.isNaN(special)) {
        return NAN;
      }
      int infinity = bfloat ? 0x7F80 : 0x7C00;
      int magnitude = special == 0 ? 0 : infinity;
      return 1 / special < 0 || special < 0 ? magnitude | 0x8000 : magnitude;
    }

    boolean isSubnormal(long code) {
      int exponent = bfloat ? 0x7F80 : 0x7C00;
      return (code & exponent) == 0 && (code & 0x7FFF) != 0;
    }

    long flush(long code) {
      return isSubnormal(code) ? code & 0x8000 : code;
    }
  }

  private static final Half F16 = new Half("f16", ExactRounding.half(), false);
  private static final Half BF16 = new Half("bf16", ExactRounding.bfloat(), true);

  private interface Exact {
    BigDecimal apply(BigDecimal a, BigDecimal b, BigDecimal c);
  }

  private interface Special {
    double apply(double a, double b, double c);
  }

  /** An operation on codes. */
  private interface Codes {
    long apply(long a, long b, long c);
  }

  private static Codes exactly(Half half, Exact exact, Special special) {
    return (a, b, c) -> {
      double x = half.decode(a);
      double y = half.decode(b);
      double z = half.decode(c);
      boolean finite = Double.isFinite(x) && Double.isFinite(y) && Double.isFinite(z);
      BigDecimal value =
          finite ? exact.apply(new BigDecimal(x), new BigDecimal(y), new BigDecimal(z)) : null;
      return half.encode(value, special.apply(x, y, z));
    };
  }

  /** The instruction on single numbers and on pairs. */
  private static void add(
      List<InstructionCase> cases, String name, Half half, int operands, Codes codes) {
    String arguments = " r, a, b, c".substring(0, 2 + 3 * operands);
    cases.add(
        InstructionCase.of(
            name + "." + half.name() + arguments + ";",
            "f16" + " f16".repeat(operands),
            x -> codes.apply(x[0], x.length > 1 ? x[1] : 0, x.length > 2 ? x[2] : 0)));
    // Pairs from the same edges: a value in one half, another in the other.
    String packed =
        ".reg .b32 pa, pb, pc, pr; .reg .b16 s, t; mov.b32 pa, {a, b}; mov.b32 pb, {b, a}; "
            + "mov.b32 pc, {a, a}; "
            + name
            + "."
            + half.name()
            + "x2"
            + arguments
                .replace("r", "pr")
                .replace(" a", " pa")
                .replace(" b", " pb")
                .replace(" c", " pc")
            + "; mov.b32 {s, t}, pr; ";
    cases.add(
        InstructionCase.of(
            packed + "mov.b16 r, s;", "f16 f16 f16", x -> codes.apply(x[0], x[1], x[0])));
    cases.add(
        InstructionCase.of(
            packed + "mov.b16 r, t;", "f16 f16 f16", x -> codes.apply(x[1], x[0], x[0])));
  }

  private static final Exact PLUS = (a, b, c) -> a.add(b);
  private static final Exact MINUS = (a, b, c) -> a.subtract(b);
  private static final Exact TIMES = (a, b, c) -> a.multiply(b);
  private static final Exact FUSED = (a, b, c) -> a.multiply(b).add(c);

  @TestFactory
  Stream<DynamicTest> arithmeticRoundsOnce() {
    List<InstructionCase> cases = new ArrayList<>();
    for (Half half : List.of(F16, BF16)) {
      add(cases, "add", half, 2, exactly(half, PLUS, (a, b, c) -> a + b));
      add(cases, "sub.rn", half, 2, exactly(half, MINUS, (a, b, c) -> a - b));
      add(cases, "mul", half, 2, exactly(half, TIMES, (a, b, c) -> a * b));
      Codes fused = exactly(half, FUSED, (a, b, c) -> a * b + c);
      add(cases, "fma.rn", half, 3, fused);
      add(cases, "fma.rn.relu", half, 3, (a, b, c) -> relu(fused.apply(a, b, c)));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static long relu(long code) {
    return code != NAN && (code & 0x8000) != 0 ? 0 : code;
  }

  @TestFactory
  Stream<DynamicTest> modifiersOfF16() {
    List<InstructionCase> cases = new ArrayList<>();
    Codes plus = exactly(F16, PLUS, (a, b, c) -> a + b);
    Codes minus = exactly(F16, MINUS, (a, b, c) -> a - b);
    Codes times = exactly(F16, TIMES, (a, b, c) -> a * b);
    Codes fused = exactly(F16, FUSED, (a, b, c) -> a * b + c);
    add(cases, "add.ftz", F16, 2, flushed(plus));
    add(cases, "sub.ftz", F16, 2, flushed(minus));
    add(cases, "mul.ftz", F16, 2, flushed(times));
    add(cases, "fma.rn.ftz", F16, 3, flushed(fused));
    add(cases, "add.sat", F16, 2, saturated(plus));
    add(cases, "sub.sat", F16, 2, saturated(minus));
    add(cases, "mul.sat", F16, 2, saturated(times));
    add(cases, "fma.rn.sat", F16, 3, saturated(fused));
    return InstructionCase.tests(cases.stream());
  }

  private static Codes flushed(Codes codes) {
    return (a, b, c) -> F16.flush(codes.apply(F16.flush(a), F16.flush(b), F16.flush(c)));
  }

  private static Codes saturated(Codes codes) {
    return (a, b, c) -> {
      long code = codes.apply(a, b, c);
      double value = F16.decode(code);
      return value >= 1 ? 0x3C00 : value > 0 ? code : 0;
    };
  }

  @TestFactory
  Stream<DynamicTest> signsAndExtremes() {
    List<InstructionCase> cases = new ArrayList<>();
    for (Half half : List.of(F16, BF16)) {
      add(cases, "abs", half, 1, (a, b, c) -> a & 0x7FFF);
      add(cases, "neg", half, 1, (a, b, c) -> a ^ 0x8000);
      for (boolean min : new boolean[] {true, false}) {
        String name = min ? "min" : "max";
        add(cases, name, half, 2, (a, b, c) -> extreme(half, a, b, min, false));
        add(cases, name + ".NaN", half, 2, (a, b, c) -> extreme(half, a, b, min, true));
      }
    }
    add(cases, "abs.ftz", F16, 1, (a, b, c) -> F16.flush(a) & 0x7FFF);
    add(cases, "neg.ftz", F16, 1, (a, b, c) -> F16.flush(a) ^ 0x8000);
    add(
        cases,
        "min.ftz",
        F16,
        2,
        (a, b, c) -> extreme(F16, F16.flush(a), F16.flush(b), true, false));
    return InstructionCase.tests(cases.stream());
  }

  private static long extreme(Half half, long a, long b, boolean min, boolean keepNan) {
    double x = half.decode(a);
    double y = half.decode(b);
    if (Double.isNaN(x) || Double.isNaN(y)) {
      return keepNan || (Double.isNaN(x) && Double.isNaN(y)) ? NAN : Double.isNaN(x) ? b : a;
    }
    int order = Double.compare(x, y);
    return (min ? order <= 0 : order >= 0) ? a : b;
  }

  @TestFactory
  Stream<DynamicTest> approximationsAreTheNearestCode() {
    List<InstructionCase> cases = new ArrayList<>();
    for (Half half : List.of(F16, BF16)) {
      String flush = half.bfloat() ? ".ftz" : "";
      add(
          cases,
          "ex2.approx" + flush,
          half,
          1,
          (a, b, c) -> {
            double value = Math.pow(2, half.decode(half.bfloat() ? half.flush(a) : a));
            long code = nearest(half, value);
            return half.bfloat() ? half.flush(code) : code;
          });
      add(cases, "tanh.approx", half, 1, (a, b, c) -> nearest(half, Math.tanh(half.decode(a))));
    }
    return InstructionCase.tests(cases.stream());
  }

  private static long nearest(Half half, double value) {
    return half.encode(Double.isFinite(value) ? new BigDecimal(value) : null, value);
  }
}
