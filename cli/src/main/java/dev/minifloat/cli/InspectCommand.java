package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cli.convert.BasicStats;
import dev.minifloat.cli.convert.ErrorStats;
import dev.minifloat.cli.convert.FormatStats;
import dev.minifloat.cli.convert.Probe;
import dev.minifloat.cli.convert.RowSource;
import dev.minifloat.cli.convert.ScaledTensor;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorFiles;
import dev.minifloat.formats.TensorInfo;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what is in a file of tensors, and what formats would make of it. */
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Show the tensors of a file: type, shape, largest and smallest values, mean, zeros, NaN, and"
          + " the signal to quantization noise ratio (SQNR) in several formats, each with its usual"
          + " scaling.",
      "Quantized tensors that convert wrote, in any layout, are shown once, with their scaling, and"
          + " their values are elements times scales; --raw shows what the file stores.",
      "With --tensor, show one in detail: for each format what share of the elements would be zero,"
          + " subnormal or saturated, the largest error, and the block that suffers most."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat inspect model.safetensors",
      "  minifloat inspect model.onnx --tensor encoder.layer.0.output.dense.weight"
    })
final class InspectCommand extends BaseCommand {
  private static final List<QuantSpec> BRIEF =
      List.of(
          QuantSpec.of(DType.F16),
          QuantSpec.of(DType.BF16),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()),
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()),
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()));

  private static final List<QuantSpec> FULL =
      List.of(
          QuantSpec.of(DType.F16),
          QuantSpec.of(DType.BF16),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.none()),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.tensor()),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(128, 128)),
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()),
          QuantSpec.of(DType.F8_E5M2).scaling(Scaling.none()),
          QuantSpec.of(DType.F8_E5M2).scaling(Scaling.rows()),
          QuantSpec.of(DType.F6_E2M3).scaling(Scaling.mx()),
          QuantSpec.of(DType.F6_E3M2).scaling(Scaling.mx()),
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()),
          QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()),
          QuantSpec.of(DType.I8).scaling(Scaling.rows()),
          QuantSpec.of(DType.I4).scaling(Scaling.rows()));

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description =
          "A .safetensors or .onnx file, an index of shards (.safetensors.index.json) or its"
              + " directory.")
  Path path;

  @Option(names = "--tensor", paramLabel = "NAME", description = "Show this tensor in detail.")
  String tensor;

  @Option(
      names = "--raw",
      description = "Show elements and scales of quantized tensors as they are stored.")
  boolean raw;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description = "What to quantize with (default: the best one).")
  String backendName;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Override
  public Integer call() {
    try (TensorFile file = TensorFiles.open(path);
        Backend backend = openBackend(backendName);
        Probe probe = new Probe(backend)) {
      Map<String, ScaledTensor> scaled =
          raw ? Map.of() : ScaledTensor.of(file, text -> err().println("warning: " + text));
      if (tensor != null) {
        if (!scaled.containsKey(tensor) && file.find(tensor).isEmpty()) {
          // Says which names are like it.
          throw usage("--tensor: " + missing(file));
        }
        detail(file, scaled, probe);
      } else {
        summary(file, scaled, probe);
      }
    }
    return 0;
  }

  private String missing(TensorFile file) {
    try {
      return file.info(tensor).name();
    } catch (IllegalArgumentException e) {
      return withoutArgument(e.getMessage());
    }
  }

  /** One tensor, and what was found; {@code scaled} is null unless it is quantized. */
  private record Found(
      TensorInfo info, ScaledTensor scaled, BasicStats values, List<FormatStats> formats) {
    String name() {
      return scaled == null ? info.name() : scaled.name();
    }

    String type() {
      return scaled == null ? info.type().name() : scaled.tensor().dtype().name();
    }

    Shape shape() {
      return scaled == null ? info.shape() : scaled.tensor().shape();
    }

    String scaling() {
      return scaled == null ? null : scaled.tensor().scaling().toString();
    }
  }

  private static Found look(ScaledTensor scaled, Probe probe, Progress progress) {
    BasicStats values = probe.values(scaled.tensor(), progress::step);
    return new Found(scaled.elements(), scaled, values, List.of());
  }

  private Found look(
      TensorFile file, TensorInfo info, Probe probe, List<QuantSpec> specs, Progress progress) {
    boolean detailed = tensor != null;
    BasicStats values = probe.values(info, file.data(info.name()), progress::step);
    List<FormatStats> formats = List.of();
    if (RowSource.isFloat(info.type())) {
      RowSource source = new RowSource(info.type(), info.shape(), file.data(info.name()), false);
      float amax =
          values.nans() > 0
              ? Float.NaN
              : values.infinities() > 0 ? Float.POSITIVE_INFINITY : (float) values.amax();
      formats = probe.formats(source, specs, amax, detailed);
    }
    return new Found(info, null, values, formats);
  }

  private void summary(TensorFile file, Map<String, ScaledTensor> scaled, Probe probe) {
    Map<String, ScaledTensor> byElements = new HashMap<>();
    Set<String> scales = new HashSet<>();
    for (ScaledTensor tensor : scaled.values()) {
      byElements.put(tensor.elements().name(), tensor);
      scales.addAll(tensor.parts().subList(1, tensor.parts().size()));
    }
    boolean showScaling = json || !scaled.isEmpty();
    Table table = new Table().text("name", "tensor").text("dtype", "type");
    if (showScaling) {
      table.text("scaling", "scaling");
    }
    table
        .text("shape", "shape")
        .number("amax", "amax", "%.4g")
        .number("smallest", "min |x|>0", "%.3g")
        .number("mean", "mean", "%.3g")
        .number("zeroPercent", "zero %", "%.2f")
        .number("notFinite", "NaN/Inf", "%d");
    for (QuantSpec spec : BRIEF) {
      table.number("sqnr " + name(spec), name(spec) + " dB", "%.1f");
    }
    long total = file.tensors().stream().mapToLong(info -> info.shape().elements()).sum();
    try (Progress progress = Progress.of("inspect", total, "")) {
      for (TensorInfo info : file.tensors()) {
        progress.message(info.name());
        ScaledTensor quantized = byElements.get(info.name());
        if (quantized != null) {
          table.row(summaryRow(look(quantized, probe, progress), showScaling));
        } else if (!scales.contains(info.name())) {
          table.row(summaryRow(look(file, info, probe, BRIEF, progress), showScaling));
        }
      }
    }
    if (json) {
      Json.print(out(), table.maps());
    } else {
      table.print(out());
      if (!scaled.isEmpty()) {
        out().println();
        out()
            .println(
                "Values of tensors with a scaling are elements times scales; --raw shows both as"
                    + " they are stored.");
      }
    }
  }

  private static Object[] summaryRow(Found found, boolean showScaling) {
    BasicStats values = found.values;
    List<Object> row = new ArrayList<>();
    row.add(found.name());
    row.add(found.type());
    if (showScaling) {
      row.add(found.scaling());
    }
    row.add(found.shape().toString());
    row.add(values.amax());
    row.add(values.smallest());
    row.add(values.mean());
    row.add(values.zeroPercent());
    row.add(values.nans() + values.infinities());
    for (int i = 0; i < BRIEF.size(); i++) {
      row.add(i < found.formats.size() ? ratio(found.formats.get(i).errors()) : null);
    }
    return row.toArray();
  }

  private void detail(TensorFile file, Map<String, ScaledTensor> scaled, Probe probe) {
    ScaledTensor quantized = scaled.get(tensor);
    long elements =
        quantized == null
            ? file.info(tensor).shape().elements()
            : quantized.tensor().shape().elements();
    Found found;
    try (Progress progress = Progress.of("inspect", elements, "")) {
      found =
          quantized == null
              ? look(file, file.info(tensor), probe, FULL, progress)
              : look(quantized, probe, progress);
    }
    Table table =
        new Table()
            .text("format", "format")
            .text("scaling", "scaling")
            .number("zeroPercent", "zero %", "%.4f")
            .number("subnormalPercent", "subnormal %", "%.4f")
            .number("saturatedPercent", "saturated %", "%.4f")
            .number("sqnr", "SQNR dB", "%.2f")
            .number("maxError", "max error", "%.3g")
            .text("worstBlock", "worst block");
    for (FormatStats format : found.formats) {
      ErrorStats errors = format.errors();
      table.row(
          format.spec().dtype().name(),
          format.spec().scaling().toString(),
          format.zeroPercent(),
          format.subnormalPercent(),
          errors.saturatedPercent(),
          ratio(errors),
          errors.maxError(),
          format.worst().map(FormatStats.Block::toString).orElse(null));
    }
    if (json) {
      Json.print(out(), detailMap(found, table));
    } else {
      printDetail(found, table);
    }
  }

  private static Map<String, Object> detailMap(Found found, Table table) {
    BasicStats values = found.values;
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", found.name());
    map.put("dtype", found.type());
    map.put("scaling", found.scaling());
    map.put("layout", found.scaled == null ? null : found.scaled.layout().label());
    map.put("shape", found.shape().dims());
    map.put("file", found.info.file());
    map.put("offset", found.info.offset());
    map.put("amax", values.amax());
    map.put("smallest", values.smallest());
    map.put("mean", values.mean());
    map.put("zeroPercent", values.zeroPercent());
    map.put("nans", values.nans());
    map.put("infinities", values.infinities());
    map.put("firstNotFinite", values.firstNotFinite() < 0 ? null : values.firstNotFinite());
    map.put("formats", table.maps());
    return map;
  }

  private void printDetail(Found found, Table table) {
    BasicStats values = found.values;
    PrintWriter out = out();
    out.println(found.name() + ": " + found.type() + " " + found.shape());
    if (found.scaled != null) {
      out.println(
          "scaling    "
              + found.scaling()
              + ", in the layout "
              + found.scaled.layout().label()
              + "; the values below are elements times scales (--raw: elements as stored)");
    }
    out.println("in         " + found.info.file() + ", at byte " + found.info.offset());
    // Nine digits tell any two F32 apart.
    out.println("amax       " + String.format(Locale.ROOT, "%.9g", values.amax()));
    out.println("min |x|>0  " + String.format(Locale.ROOT, "%.9g", values.smallest()));
    out.println("mean       " + String.format(Locale.ROOT, "%.6g", values.mean()));
    out.println("zero       " + String.format(Locale.ROOT, "%.4f %%", values.zeroPercent()));
    out.println(
        "NaN, Inf   "
            + (values.firstNotFinite() < 0
                ? "none"
                : values.nans()
                    + " NaN, "
                    + values.infinities()
                    + " Inf, the first at index "
                    + values.firstNotFinite()));
    if (found.formats.isEmpty()) {
      return;
    }
    out.println();
    out.println("Cast to");
    table.print(out);
  }

  /** Without noise, or without signal, there is no ratio. */
  private static Object ratio(ErrorStats errors) {
    double sqnr = errors.sqnr();
    return Double.isInfinite(sqnr) ? "exact" : Double.isNaN(sqnr) ? "-" : (Object) sqnr;
  }

  private static String name(QuantSpec spec) {
    return switch (spec.scaling()) {
      case Scaling.None _ -> spec.dtype().name();
      case Scaling.NvFp4 _ -> "NVFP4";
      case Scaling.Mx _ -> "MXFP" + spec.dtype().bits();
      case Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _, Scaling.Block _ ->
          spec.dtype() + " " + spec.scaling();
    };
  }
}
