package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Op;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A recorded quantization: a matrix and the bytes that it becomes. Fixtures are derived from the
 * text of the numerics contract in exact rationals, without the codec, and kept as text among the
 * resources.
 *
 * @param name file, case, format and rule
 * @param input F32
 * @param spec how it is quantized
 * @param expected elements, scales and, for NVFP4, the scale of the tensor
 */
public record Fixture(String name, HostTensor input, QuantSpec spec, HostTensor expected) {
  private static final List<String> FILES =
      List.of("tensor", "rows", "columns", "block", "mx", "nvfp4");

  /** All of them. */
  public static List<Fixture> all() {
    List<Fixture> fixtures = new ArrayList<>();
    for (String file : FILES) {
      Map<String, String> fields = new HashMap<>();
      for (String line : GoldenData.lines("fixtures/" + file + ".txt")) {
        int space = line.indexOf(' ');
        if (line.startsWith("#") || space < 0) {
          continue;
        }
        fields.put(line.substring(0, space), line.substring(space + 1));
        if (line.startsWith("elements ")) {
          fixtures.add(read(file, fields));
        }
      }
    }
    return List.copyOf(fixtures);
  }

  private static Fixture read(String file, Map<String, String> fields) {
    DType dtype = DType.parse(fields.get("dtype"));
    Scaling scaling = Scaling.parse(fields.get("scaling"));
    MxScaleRule rule = MxScaleRule.valueOf(fields.get("rule"));
    QuantSpec spec = QuantSpec.of(dtype).scaling(scaling).mxRule(rule);
    String[] extents = fields.get("shape").split(" ", -1);
    long[] dims = {Long.parseLong(extents[0]), Long.parseLong(extents[1])};
    float global = Float.intBitsToFloat(codes(fields.get("global"))[0]);
    HostTensor expected =
        HostTensor.allocate(Arena.ofAuto(), dtype, Shape.of(dims), scaling, global);
    int[] scales = codes(fields.get("scales"));
    for (int i = 0; i < scales.length; i++) {
      PackedElements.set(scaling.scaleDType(), expected.scales(), i, scales[i]);
    }
    int[] elements = codes(fields.get("elements"));
    for (int i = 0; i < elements.length; i++) {
      PackedElements.set(dtype, expected.data(), i, elements[i]);
    }
    HostTensor input = Data.codes(DType.F32, codes(fields.get("input")), dims);
    boolean mx = scaling instanceof Scaling.Mx;
    String name = file + ": " + fields.get("case") + " to " + dtype + (mx ? " " + rule : "");
    return new Fixture(name, input, spec, expected);
  }

  private static int[] codes(String words) {
    return Arrays.stream(words.split(" ", -1))
        .mapToInt(word -> Integer.parseUnsignedInt(word, 16))
        .toArray();
  }

  /**
   * Compares a quantized {@link #input} with the record.
   *
   * @throws ContractViolation at the first element or scale that differs
   */
  public void requireSame(HostTensor actual) {
    Compare.sameBits("fixture " + name, expected, actual);
  }

  static void addTo(Collector to) {
    for (Fixture fixture : all()) {
      to.addIf(
          to.supports(Op.QUANTIZE, fixture.spec.dtype(), fixture.spec.scaling()),
          "fixtures",
          fixture.name,
          () -> {
            try (Scope scope = to.backend().scope()) {
              Tensor x = scope.upload(fixture.input);
              fixture.requireSame(scope.download(scope.quantize(x, fixture.spec)));
            }
          });
    }
  }
}
