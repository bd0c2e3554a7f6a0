package dev.minifloat.cli;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import java.io.PrintWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Explains a number of a format down to its bits. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Draw the bits of a number in a format, with its exact value, neighbours and ulp, and what"
          + " each rounding and overflow choice gives.",
      "A decimal is read exactly and rounded once."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat explain f8_e4m3 0.1",
      "  minifloat explain e5m2 0x7C",
      "  minifloat explain bf16 -0x1.fp-130",
      "  minifloat explain e8m0 inf --json"
    })
final class ExplainCommand extends BaseCommand {
  private static final Pattern CODE = Pattern.compile("0[xX][0-9a-fA-F]+");

  private static final Map<String, Rounding> ROUNDINGS = new LinkedHashMap<>();

  static {
    ROUNDINGS.put("nearest-even", Rounding.NEAREST_EVEN);
    ROUNDINGS.put("toward-zero", Rounding.TOWARD_ZERO);
    ROUNDINGS.put("toward-positive", Rounding.TOWARD_POSITIVE);
  }

  @Parameters(
      index = "0",
      paramLabel = "DTYPE",
      description = "A format, such as f8_e4m3, bf16, e8m0, float4_e2m1fn, i8.")
  String dtypeName;

  @Parameters(
      index = "1",
      paramLabel = "VALUE|0xCODE",
      description =
          "A decimal, a hexadecimal float (0x1.8p3), inf, -inf or nan; or the code of an element in"
              + " hexadecimal (0x7E).")
  String text;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  /** What one rounding gives under one overflow choice. */
  private record Outcome(String rounding, Overflow overflow, CodePoint result, double probability) {
    Map<String, Object> map() {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("rounding", rounding);
      map.put("overflow", overflow.name());
      map.put("code", result.hex());
      map.put("value", number(result.value()));
      map.put("probability", probability);
      return map;
    }

    String text() {
      String odds = probability == 1 ? "" : String.format(Locale.ROOT, " (p = %.7g)", probability);
      return result.hex() + " = " + result.shown() + odds;
    }
  }

  @Override
  public Integer call() {
    DType dtype = dtype();
    if (CODE.matcher(text).matches()) {
      explain(dtype, null, List.of(), code(dtype));
      return 0;
    }
    ExactValue value = parsed("VALUE", () -> ExactValue.parse(text));
    double odd = value.oddDouble();
    int code = Codec.encode(dtype, odd, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype), 0);
    explain(dtype, value, outcomes(dtype, odd), new CodePoint(dtype, code));
    return 0;
  }

  /** Formats that are more than an element type are asked for now and then. */
  private DType dtype() {
    String elements =
        switch (dtypeName.strip().toLowerCase(Locale.ROOT)) {
          case "nvfp4", "mxfp4" -> "f4_e2m1";
          case "mxfp6" -> "f6_e2m3 (or f6_e3m2)";
          case "mxfp8" -> "f8_e4m3 (or f8_e5m2)";
          default -> null;
        };
    if (elements != null) {
      throw usage(
          "DTYPE: "
              + dtypeName
              + " is an element type plus block scales; ask for the element type, "
              + elements);
    }
    return parsed("DTYPE", () -> DType.parse(dtypeName.strip()));
  }

  private CodePoint code(DType dtype) {
    BigInteger code = new BigInteger(text.substring(2), 16);
    if (code.bitLength() > dtype.bits()) {
      throw usage(
          "VALUE: code " + text + " has more than the " + dtype.bits() + " bits of " + dtype);
    }
    return new CodePoint(dtype, code.intValue());
  }

  private static List<Outcome> outcomes(DType dtype, double value) {
    List<Outcome> outcomes = new ArrayList<>();
    ROUNDINGS.forEach(
        (name, rounding) -> {
          for (Overflow overflow : Overflow.values()) {
            int code = Codec.encode(dtype, value, rounding, overflow, 0);
            outcomes.add(new Outcome(name, overflow, new CodePoint(dtype, code), 1));
          }
        });
    for (Overflow overflow : Overflow.values()) {
      double up = Math.scalb((double) threshold(dtype, value, overflow), -32);
      int grown = stochastic(dtype, value, overflow, 0);
      int kept = stochastic(dtype, value, overflow, -1);
      if (up < 1) {
        outcomes.add(new Outcome("stochastic", overflow, new CodePoint(dtype, kept), 1 - up));
      }
      if (up > 0) {
        outcomes.add(new Outcome("stochastic", overflow, new CodePoint(dtype, grown), up));
      }
    }
    return outcomes;
  }

  private static int stochastic(DType dtype, double value, Overflow overflow, int random) {
    return Codec.encodeWithBits(dtype, value, Rounding.stochastic(0), overflow, random);
  }

  /** How many of the 2^32 random words make the magnitude grow: the lowest of them do. */
  private static long threshold(DType dtype, double value, Overflow overflow) {
    int kept = stochastic(dtype, value, overflow, -1);
    long low = 0;
    long high = 0xFFFF_FFFFL;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (stochastic(dtype, value, overflow, (int) middle) != kept) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void explain(DType dtype, ExactValue value, List<Outcome> outcomes, CodePoint code) {
    if (json) {
      Json.print(out(), map(dtype, value, outcomes, code));
      return;
    }
    PrintWriter out = out();
    if (!dtypeName.strip().equalsIgnoreCase(dtype.name())) {
      out.println("\"" + dtypeName.strip() + "\" is read as " + dtype + ".");
    }
    out.println(format(dtype));
    if (dtype == DType.F8_E8M0) {
      out.println("It has neither sign nor zero: of an input the magnitude is encoded.");
    }
    out.println();
    if (value != null) {
      printInput(out, value);
      printOutcomes(out, outcomes);
      out.println();
      out.println(
          "To nearest even, with the default overflow ("
              + Overflow.defaultFor(dtype)
              + "), the code is "
              + code.hex()
              + ":");
    } else {
      out.println("Code " + code.hex() + ":");
    }
    out.println();
    BitDiagram.of(code).forEach(line -> out.println("  " + line));
    out.println();
    out.println("value      " + code.shown() + hexFloat(code.value()));
    out.println("class      " + code.kind().name().toLowerCase(Locale.ROOT));
    out.println("below      " + neighbour(code.below()));
    out.println("above      " + neighbour(code.above()));
    out.println("ulp        " + code.ulp().map(CodePoint::shown).orElse("none"));
  }

  private static String format(DType dtype) {
    if (dtype.isInteger()) {
      return "%s: %d bits, two's complement, %s to %s"
          .formatted(
              dtype,
              dtype.bits(),
              CodePoint.decimal(-dtype.max() - 1),
              CodePoint.decimal(dtype.max()));
    }
    if (dtype == DType.F8_E8M0) {
      return dtype + ": 8 bits, all exponent (bias 127): powers of two, 2^-127 to 2^127; NaN";
    }
    String specials = dtype.hasInfinity() ? "infinities and NaN" : "no infinity, ";
    if (!dtype.hasInfinity()) {
      specials += dtype.hasNaN() ? "but NaN" : "no NaN";
    }
    return "%s: %d bits: 1 sign, %d exponent (bias %d), %d mantissa; %s%nlargest %s, smallest normal 2^%d, smallest subnormal 2^%d"
        .formatted(
            dtype,
            dtype.bits(),
            dtype.exponentBits(),
            dtype.bias(),
            dtype.mantissaBits(),
            specials,
            CodePoint.shown(dtype.max()),
            Math.getExponent(dtype.minNormal()),
            Math.getExponent(dtype.minSubnormal()));
  }

  private void printInput(PrintWriter out, ExactValue value) {
    out.println("Input " + text.strip());
    if (!value.isDouble()) {
      out.println(
          "  which no double equals (the nearest is "
              + CodePoint.shown(value.nearestDouble())
              + "); it is rounded once, from the exact value:");
    }
    out.println();
  }

  private static void printOutcomes(PrintWriter out, List<Outcome> outcomes) {
    Table table =
        new Table()
            .text("rounding", "rounding")
            .text("saturate", Overflow.SATURATE.name())
            .text("ieee", Overflow.IEEE.name());
    List<String> names = outcomes.stream().map(Outcome::rounding).distinct().toList();
    for (String name : names) {
      List<String> saturate = texts(outcomes, name, Overflow.SATURATE);
      List<String> ieee = texts(outcomes, name, Overflow.IEEE);
      for (int i = 0; i < Math.max(saturate.size(), ieee.size()); i++) {
        table.row(
            i == 0 ? name : "",
            i < saturate.size() ? saturate.get(i) : "",
            i < ieee.size() ? ieee.get(i) : "");
      }
    }
    table.print(out);
  }

  private static List<String> texts(List<Outcome> outcomes, String name, Overflow overflow) {
    return outcomes.stream()
        .filter(o -> o.rounding.equals(name) && o.overflow == overflow)
        .map(Outcome::text)
        .toList();
  }

  private static String hexFloat(double value) {
    return Double.isFinite(value) && !CodePoint.isLong(value)
        ? " = " + Double.toHexString(value)
        : "";
  }

  private static String neighbour(Optional<CodePoint> neighbour) {
    return neighbour.map(point -> point.hex() + " = " + point.shown()).orElse("none");
  }

  private static Object number(double value) {
    return Double.isFinite(value) ? (Object) value : CodePoint.decimal(value);
  }

  private Map<String, Object> map(
      DType dtype, ExactValue value, List<Outcome> outcomes, CodePoint code) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("dtype", dtype.name());
    map.put("bits", dtype.bits());
    map.put("exponentBits", dtype.exponentBits());
    map.put("mantissaBits", dtype.mantissaBits());
    map.put("bias", dtype.bias());
    if (value != null) {
      map.put("input", text.strip());
      map.put("inputIsDouble", value.isDouble());
      map.put("nearestDouble", number(value.nearestDouble()));
      map.put("results", outcomes.stream().map(Outcome::map).toList());
    }
    map.put("code", code.hex());
    map.put("binary", code.binary());
    map.put("negative", code.isNegative());
    map.put("exponentField", code.exponentField());
    map.put("mantissaField", code.mantissaField());
    map.put("value", number(code.value()));
    map.put("exact", code.decimal());
    map.put("hex", Double.isFinite(code.value()) ? Double.toHexString(code.value()) : null);
    map.put("class", code.kind().name().toLowerCase(Locale.ROOT));
    map.put("below", code.below().map(ExplainCommand::point).orElse(null));
    map.put("above", code.above().map(ExplainCommand::point).orElse(null));
    map.put("ulp", code.ulp().orElse(null));
    return map;
  }

  private static Map<String, Object> point(CodePoint point) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("code", point.hex());
    map.put("value", number(point.value()));
    return map;
  }
}
