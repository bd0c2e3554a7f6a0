package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.MinifloatException;
import dev.minifloat.MxScaleRule;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cli.convert.Converter;
import dev.minifloat.cli.convert.ErrorStats;
import dev.minifloat.cli.convert.Selection;
import dev.minifloat.cli.convert.SourceTensor;
import dev.minifloat.formats.Paths;
import dev.minifloat.formats.SafetensorsWriter;
import dev.minifloat.formats.TensorFile;
import dev.minifloat.formats.TensorFiles;
import dev.minifloat.formats.layout.QuantizedLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Quantizes a file of weights. */
@Command(
    name = "convert",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Quantize the weights of a safetensors or ONNX file into a safetensors file.",
      "",
      "The weights of linear layers are converted, everything else is copied. In an ONNX model they"
          + " are the matrices of MatMul and Gemm, written as [out, in] and named after the layer's"
          + " bias; in a safetensors file, matrices of floats named ...weight without embed, norm,"
          + " bias, position, router, gate or lm_head in their name. --include replaces that rule,"
          + " --exclude makes exceptions.",
      "",
      "Files of any size are streamed. The output is put in place when it is complete. The layouts"
          + " compressed-tensors and deepseek-fp8 come with OUT.quantization_config.json (OUT less"
          + " its suffix), to be merged into the model's config.json."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat convert model.safetensors fp8.safetensors --dtype f8_e4m3 --scaling rows",
      "  minifloat convert model.onnx fp4.safetensors --dtype nvfp4 --layout compressed-tensors"
    })
final class ConvertCommand extends BaseCommand {
  private static final String SUFFIX = ".safetensors";

  /** Whole blocks of every scaling: a layout that can't hold it can't hold the format. */
  private static final Shape ANY_MATRIX = Shape.of(128, 128);

  @Parameters(
      index = "0",
      paramLabel = "IN",
      description =
          "A .safetensors or .onnx file, an index of shards (.safetensors.index.json) or its"
              + " directory.")
  Path input;

  @Parameters(index = "1", paramLabel = "OUT.safetensors", description = "The file to write.")
  Path output;

  @Option(
      names = "--dtype",
      required = true,
      paramLabel = "DTYPE",
      description =
          "f8_e4m3, f8_e5m2, f6_e2m3, f6_e3m2, f4_e2m1, i8, i4, f16, bf16, f32, or with a scaling of"
              + " their own mxfp8, mxfp6, mxfp4, nvfp4.")
  String dtypeName;

  @Option(
      names = "--scaling",
      paramLabel = "SCALING",
      description =
          "none, tensor, rows, columns, RxC (blocks, such as 128x128), mx or nvfp4. Default: rows for"
              + " formats of 8 bits, mx below, 128x128 with deepseek-fp8.")
  String scalingName;

  @Option(
      names = "--mx-rule",
      paramLabel = "RULE",
      description =
          "How MX scales follow from a block's amax: ${COMPLETION-CANDIDATES} (default: FLOOR, as"
              + " OCP MX 1.0). Only where the scaling is mx.")
  MxScaleRule mxRule;

  @Option(
      names = "--rounding",
      paramLabel = "ROUNDING",
      defaultValue = "nearest-even",
      description =
          "nearest-even (default), toward-zero, toward-positive, or stochastic[:SEED], which is"
              + " slower.")
  String roundingName;

  @Option(
      names = "--layout",
      paramLabel = "LAYOUT",
      defaultValue = "plain",
      description = "plain (default), compressed-tensors or deepseek-fp8.")
  String layoutName;

  @Option(
      names = "--include",
      paramLabel = "REGEX",
      description = "Convert the float tensors whose name this finds, and no others.")
  String include;

  @Option(
      names = "--exclude",
      paramLabel = "REGEX",
      description = "Copy the tensors whose name this finds.")
  String exclude;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description = "What to compute with (default: the best one).")
  String backendName;

  @Option(names = "--force", description = "Replace OUT if it exists.")
  boolean force;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Override
  public Integer call() {
    requireSuffix();
    QuantizedLayout layout = parsed("--layout", () -> QuantizedLayout.parse(layoutName));
    QuantSpec spec = spec(layout);
    requireHolds(layout, spec);
    Selection selection = new Selection(regex("--include", include), regex("--exclude", exclude));
    Path config = configPath();
    OutputFile.requireNew(output, force);
    if (layout != QuantizedLayout.PLAIN) {
      OutputFile.requireNew(config, force);
    }
    long start = System.nanoTime();
    try (TensorFile file = TensorFiles.open(input);
        Backend backend = openBackend(backendName)) {
      List<SourceTensor> tensors = selection.of(file);
      requireSome(tensors);
      Table table = table();
      ErrorStats all = new ErrorStats();
      write(file, backend, spec, layout, tensors, table, all);
      List<String> ignored = ignored(tensors);
      Optional<Map<String, Object>> quantization = layout.quantizationConfig(spec, ignored);
      quantization.ifPresent(map -> writeConfig(config, map));
      report(
          table,
          all,
          spec,
          backend,
          quantization.isPresent() ? config : null,
          (System.nanoTime() - start) * 1e-9);
    }
    return 0;
  }

  private QuantSpec spec(QuantizedLayout layout) {
    String name = dtypeName.strip().toLowerCase(Locale.ROOT);
    DType dtype =
        switch (name) {
          case "nvfp4", "mxfp4" -> DType.F4_E2M1;
          case "mxfp6" -> DType.F6_E2M3;
          case "mxfp8" -> DType.F8_E4M3;
          default -> parsed("--dtype", () -> DType.parse(name));
        };
    if (dtype == DType.F8_E8M0 || dtype == DType.I32) {
      throw usage("--dtype: weights are not kept as " + dtype);
    }
    Scaling scaling = scaling(name, dtype, layout);
    QuantSpec scaled = parsed(chosen(), () -> QuantSpec.of(dtype).scaling(scaling));
    if (mxRule == null) {
      return scaled.rounding(rounding());
    }
    if (!scaling.equals(Scaling.mx())) {
      throw usage(
          "--mx-rule " + mxRule + ": " + chosen() + " is scaled by " + scaling + ", not mx");
    }
    return scaled.rounding(rounding()).mxRule(mxRule);
  }

  private void requireSuffix() {
    if (output.getFileName() == null || !output.getFileName().toString().endsWith(SUFFIX)) {
      throw usage("OUT: \"" + output + "\" doesn't end in " + SUFFIX + ", the only format written");
    }
  }

  /** The formats that a layout has follow from the options alone. */
  private void requireHolds(QuantizedLayout layout, QuantSpec spec) {
    parsed(
        chosen() + " --layout " + layoutName,
        () -> layout.plan("any", spec.dtype(), ANY_MATRIX, spec.scaling(), 1));
  }

  /** The options that say how elements are kept. */
  private String chosen() {
    return "--dtype " + dtypeName + (scalingName == null ? "" : " --scaling " + scalingName);
  }

  private Scaling scaling(String name, DType dtype, QuantizedLayout layout) {
    Scaling own =
        name.equals("nvfp4") ? Scaling.nvfp4() : name.startsWith("mx") ? Scaling.mx() : null;
    if (scalingName != null) {
      Scaling chosen = parsed("--scaling", () -> Scaling.parse(scalingName));
      if (own != null && !own.equals(chosen)) {
        throw usage(chosen() + ": " + name + " is scaled by " + own + ", not " + chosen);
      }
      return chosen;
    }
    if (own != null) {
      return own;
    }
    if (dtype.bits() > 8) {
      return Scaling.none();
    }
    if (layout == QuantizedLayout.DEEPSEEK_FP8) {
      return Scaling.block(128, 128);
    }
    return dtype.bits() == 8 || dtype.isInteger() ? Scaling.rows() : Scaling.mx();
  }

  private Rounding rounding() {
    String name = roundingName.strip().toLowerCase(Locale.ROOT);
    if (name.startsWith("stochastic:")) {
      try {
        return Rounding.stochastic(Long.parseLong(name.substring("stochastic:".length())));
      } catch (NumberFormatException e) {
        throw new ParameterException(
            spec.commandLine(), "--rounding: the seed of \"" + name + "\" is no integer", e);
      }
    }
    return switch (name) {
      case "nearest-even" -> Rounding.NEAREST_EVEN;
      case "toward-zero" -> Rounding.TOWARD_ZERO;
      case "toward-positive" -> Rounding.TOWARD_POSITIVE;
      case "stochastic" -> Rounding.stochastic(0);
      default ->
          throw usage(
              "--rounding: \""
                  + name
                  + "\" is none of nearest-even, toward-zero, toward-positive, stochastic[:SEED]");
    };
  }

  private Pattern regex(String option, String text) {
    try {
      return text == null ? null : Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      throw usage(option + ": \"" + text + "\" is no regular expression: " + e.getDescription());
    }
  }

  private Path configPath() {
    String name = output.getFileName().toString();
    String stem = name.substring(0, name.length() - SUFFIX.length());
    return output.resolveSibling(stem + ".quantization_config.json");
  }

  private void requireSome(List<SourceTensor> tensors) {
    if (tensors.stream().noneMatch(SourceTensor::converted)) {
      throw new CommandFailure(
          input
              + ": none of its "
              + tensors.size()
              + " tensors is to be converted; --include REGEX chooses by name");
    }
  }

  private void write(
      TensorFile file,
      Backend backend,
      QuantSpec spec,
      QuantizedLayout layout,
      List<SourceTensor> tensors,
      Table table,
      ErrorStats all) {
    try (ProgressHolder progress = new ProgressHolder();
        Converter converter =
            new Converter(file, backend, spec, layout, amount -> progress.bar.step(amount))) {
      progress.bar = Progress.ofBytes("convert", converter.work(tensors));
      SafetensorsWriter.Plan plan = planned(() -> converter.plan(output, tensors));
      try (SafetensorsWriter writer = plan.create();
          AtExit _ = AtExit.run(writer::close)) {
        for (SourceTensor tensor : tensors) {
          progress.bar.message(tensor.name());
          if (tensor.converted()) {
            ErrorStats stats = naming(tensor, () -> converter.convert(tensor, writer));
            addRow(table, tensor, spec, stats);
            all.add(stats);
            warn(tensor, stats);
          } else {
            naming(
                tensor,
                () -> {
                  converter.copy(tensor, writer);
                  return null;
                });
            table.row(row(tensor, "copied", null));
          }
        }
        writer.commit();
      }
    }
  }

  /** A bar that is known only once the work is. */
  private static final class ProgressHolder implements AutoCloseable {
    private Progress bar = Progress.none();

    @Override
    public void close() {
      bar.close();
    }
  }

  private <T> T planned(java.util.function.Supplier<T> plan) {
    try {
      return plan.get();
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(input + ": " + e.getMessage(), e);
    }
  }

  private <T> T naming(SourceTensor tensor, java.util.function.Supplier<T> work) {
    try {
      return work.get();
    } catch (MinifloatException | IllegalArgumentException e) {
      throw new CommandFailure(
          input + ": tensor \"" + tensor.info().name() + "\": " + e.getMessage(), e);
    }
  }

  private void warn(SourceTensor tensor, ErrorStats stats) {
    if (stats.notFinite() > 0) {
      err()
          .println(
              "warning: tensor \"%s\": %s NaN or infinite, and %s a scale with %s"
                  .formatted(
                      tensor.info().name(),
                      stats.notFinite() == 1 ? "1 value is" : stats.notFinite() + " values are",
                      stats.lost() == 1 ? "1 other shares" : stats.lost() + " others share",
                      stats.notFinite() == 1 ? "it" : "them"));
    }
  }

  private static Table table() {
    return new Table()
        .text("name", "tensor")
        .text("source", "was")
        .text("shape", "shape")
        .text("result", "is")
        .number("sqnr", "SQNR dB", "%.2f")
        .number("maxError", "max error", "%.3g")
        .number("saturated", "saturated %", "%.4f")
        .number("flushed", "to zero %", "%.4f");
  }

  private static void addRow(Table table, SourceTensor tensor, QuantSpec spec, ErrorStats stats) {
    String result =
        spec.dtype() + (spec.scaling() instanceof Scaling.None ? "" : " " + spec.scaling());
    table.row(row(tensor, result, stats));
  }

  private static Object[] row(SourceTensor tensor, String result, ErrorStats stats) {
    return new Object[] {
      tensor.name(),
      tensor.info().type().name(),
      tensor.shape().toString(),
      result,
      stats == null ? null : finite(stats.sqnr()),
      stats == null ? null : (Object) stats.maxError(),
      stats == null ? null : (Object) stats.saturatedPercent(),
      stats == null ? null : (Object) stats.flushedPercent()
    };
  }

  /** What has no noise, or no signal, has no ratio to print. */
  private static Object finite(double sqnr) {
    return Double.isInfinite(sqnr) ? "exact" : Double.isNaN(sqnr) ? "no signal" : (Object) sqnr;
  }

  private static List<String> ignored(List<SourceTensor> tensors) {
    return tensors.stream()
        .filter(tensor -> !tensor.converted() && tensor.shape().rank() == 2)
        .map(SourceTensor::name)
        .filter(name -> name.endsWith(".weight"))
        .map(name -> name.substring(0, name.length() - ".weight".length()))
        .toList();
  }

  private void writeConfig(Path wanted, Map<String, Object> quantization) {
    Path path = Paths.replaceable(wanted);
    Path temporary = path.resolveSibling("." + path.getFileName() + ".tmp");
    try {
      Files.writeString(temporary, Json.text(Map.of("quantization_config", quantization)) + "\n");
      Files.move(temporary, path, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void report(
      Table table, ErrorStats all, QuantSpec spec, Backend backend, Path config, double seconds) {
    long size = size(output);
    if (json) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("input", input.toString());
      map.put("output", output.toString());
      map.put("quantizationConfig", config == null ? null : config.toString());
      map.put("dtype", spec.dtype().name());
      map.put("scaling", spec.scaling().toString());
      map.put("layout", layoutName);
      map.put("backend", backend.name());
      map.put("bytes", size);
      map.put("seconds", seconds);
      map.put("sqnr", finite(all.sqnr()));
      map.put("tensors", table.maps());
      Json.print(out(), map);
      return;
    }
    table.print(out());
    out().println();
    out()
        .printf(
            Locale.ROOT,
            "%s: %s, SQNR of all that was converted %s%n",
            output,
            ByteSize.text(size),
            all.sqnr() > Double.MAX_VALUE
                ? "exact"
                : String.format(Locale.ROOT, "%.2f dB", all.sqnr()));
    if (config != null) {
      out().println(config + ": quantization_config, for the model's config.json");
    }
    out().printf(Locale.ROOT, "%.1f s on backend %s%n", seconds, backend.name());
  }

  private static long size(Path path) {
    try {
      return Files.size(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
