package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.Backends;
import dev.minifloat.cli.report.BackendResult;
import dev.minifloat.cli.report.ChartRenderer;
import dev.minifloat.cli.report.FormatResult;
import dev.minifloat.cli.report.HtmlReport;
import dev.minifloat.cli.report.JFreeCharts;
import dev.minifloat.cli.report.Report;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.encoder.ExpectedEmbeddings;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.ModelArchive;
import dev.minifloat.encoder.SampleSentences;
import dev.minifloat.encoder.WeightFormat;
import dev.minifloat.spi.Availability;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Embeds real sentences with a real model, its weights in every format. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Embed a dozen sentences with a model's weights in F32, F16, BF16, FP8, MXFP8, MXFP4 and"
          + " NVFP4, print what each format saves and costs, and write a report with charts.",
      "Fails if F32 is not what ONNX Runtime gives.",
      "With --sentence, or on a simulated GPU, embed one sentence with the weights in FP8, there and"
          + " on the CPU, and print both vectors. Fails if they differ by more than the order of"
          + " sums explains."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat demo",
      "  minifloat demo --backend all --model bge-small --report bge.html",
      "  minifloat demo --backend cuda-sim:sm_89",
      "  minifloat demo --backend cuda --sentence 'The tomatoes need water.'"
    })
final class DemoCommand extends BaseCommand {
  private static final String ALL = "all";

  /** Short: a simulated GPU takes a second or more for each token. */
  private static final String SENTENCE = "The tomatoes need water.";

  @Option(
      names = "--backend",
      paramLabel = "NAME|all",
      description =
          "Which backend computes; 'all' for one after another (the reference takes minutes)."
              + " Default: the best one.")
  String backendName;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      defaultValue = "minilm",
      description = "minilm, bge-small or e5-small. Default: ${DEFAULT-VALUE}.")
  String modelName;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      defaultValue = "minifloat-report.html",
      description = "Where the report goes. Default: ${DEFAULT-VALUE}.")
  Path reportFile;

  @Option(
      names = "--models",
      paramLabel = "DIR",
      defaultValue = "${sys:minifloat.models:-models}",
      description = "The folder of the models' jars. Default: ${DEFAULT-VALUE}.")
  Path modelsDir;

  @Option(
      names = "--sentence",
      paramLabel = "TEXT",
      description =
          "Embed this only, in FP8, and compare with the CPU. On a simulated GPU the default is \""
              + SENTENCE
              + "\"")
  String sentence;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  private final ChartRenderer renderer;
  private final List<WeightFormat> formats;
  private final Demo.Effort effort;

  /** For picocli. */
  DemoCommand() {
    this(new JFreeCharts(), WeightFormat.all(), Demo.Effort.NORMAL);
  }

  /** With another renderer of the charts, other formats after F32, and another effort. */
  DemoCommand(ChartRenderer renderer, List<WeightFormat> formats, Demo.Effort effort) {
    this.renderer = renderer;
    this.formats = formats;
    this.effort = effort;
  }

  @Override
  public Integer call() {
    KnownModel model = parsed("--model", () -> KnownModel.named(modelName));
    if (sentence != null || isByNameOnly(backendName)) {
      return compareOneSentence(model);
    }
    List<String> names = backendNames();
    OutputFile.requireWritable(reportFile);
    Report report = report(model, names);
    if (json) {
      writeAndPrintJson(report);
    } else {
      print(report);
      Optional<String> noPicture = HtmlReport.write(report, renderer, reportFile);
      out().println("Report: " + reportFile.toAbsolutePath().normalize());
      noPicture.ifPresent(why -> out().println("There is no picture in it: " + why));
    }
    for (BackendResult backend : report.backends()) {
      double difference = backend.differenceFromOnnxRuntime();
      if (!(difference <= ExpectedEmbeddings.TOLERANCE)) {
        throw new CommandFailure(
            "backend %s: F32 embeddings differ from ONNX Runtime's by %.1e, more than %.0e"
                .formatted(backend.name(), difference, ExpectedEmbeddings.TOLERANCE));
      }
    }
    return 0;
  }

  /** The short form: one sentence, one format, two backends. */
  private int compareOneSentence(KnownModel model) {
    if (ALL.equals(backendName)) {
      throw usage("--sentence is compared on one backend, so it goes without --backend all");
    }
    if (spec.commandLine().getParseResult().hasMatchedOption("--report")) {
      throw usage("--report holds the figures of all formats, and one sentence has none");
    }
    String text = sentence == null ? SENTENCE : sentence;
    SentenceDemo.Result result;
    try (Backend other = openBackend(backendName);
        Backend cpu = openCpu(other.name());
        Progress progress = Progress.of("Embedding", SentenceDemo.STEPS, " steps")) {
      ModelArchive archive = ModelArchive.open(model, modelsDir);
      result = new SentenceDemo(model, archive, text, progress).run(cpu, other);
    }
    if (json) {
      Json.print(out(), SentenceDemo.map(result));
    } else {
      SentenceDemo.print(result, out());
    }
    if (!result.agrees()) {
      throw new CommandFailure(
          "backend %s: the embedding differs from %s's by %.1e, more than %.0e"
              .formatted(
                  result.other().backend(),
                  result.cpu().backend(),
                  result.largestDifference(),
                  ExpectedEmbeddings.TOLERANCE));
    }
    return 0;
  }

  /** The best backend on the CPU that is not the one it is compared with. */
  private static Backend openCpu(String other) {
    return Backends.report().stream()
        .filter(report -> report.priority() >= 0)
        .filter(report -> report.availability() instanceof Availability.Available)
        .map(Backends.Report::name)
        .filter(name -> !name.equals(CudaBackend.NAME) && !name.equals(other))
        .findFirst()
        .map(Backends::open)
        .orElseThrow(() -> new CommandFailure("no backend on the CPU can run to compare with"));
  }

  /** Names of the backends to run; null for the best one. */
  private List<String> backendNames() {
    if (!ALL.equals(backendName)) {
      if (backendName != null) {
        requireKnown("--backend", backendName, " and all");
      }
      List<String> one = new ArrayList<>();
      one.add(backendName);
      return one;
    }
    return Backends.report().stream()
        .filter(report -> report.priority() >= 0)
        .filter(report -> report.availability() instanceof Availability.Available)
        .map(Backends.Report::name)
        .toList();
  }

  private Report report(KnownModel model, List<String> names) {
    List<BackendResult> results = new ArrayList<>();
    try (Demo demo = new Demo(model, ModelArchive.open(model, modelsDir), effort)) {
      for (String name : names) {
        try (Backend backend = openBackend(name);
            Progress progress = Progress.of("Embedding", demo.steps(formats), " runs")) {
          results.add(demo.run(backend, formats, progress));
        }
      }
      return new Report(
          model.modelName(),
          commandLine(),
          facts(model, demo, results),
          demo.neighbours(),
          demo.tokens(),
          results);
    }
  }

  private String commandLine() {
    StringBuilder command = new StringBuilder("./minifloat demo");
    if (backendName != null) {
      command.append(" --backend ").append(backendName);
    }
    return command.append(" --model ").append(modelName).toString();
  }

  private static Map<String, String> facts(
      KnownModel model, Demo demo, List<BackendResult> results) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Minifloat", Main.Version.number());
    facts.put("processor", Processor.name());
    for (BackendResult result : results) {
      BackendInfo info = result.info();
      facts.put(
          "backend " + result.name(),
          info.device()
              + (info.threads() == 1 ? ", 1 thread" : ", " + info.threads() + " threads"));
    }
    facts.put(
        "JDK",
        Runtime.version()
            + ", "
            + System.getProperty("java.vm.name")
            + ", "
            + System.getProperty("java.vendor"));
    facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    facts.put("model", model.modelName() + ", the FP32 weights in " + model.coordinates());
    facts.put("input", SampleSentences.dozen().size() + " sentences, " + demo.tokens() + " tokens");
    return facts;
  }

  /**
   * The JSON says whether there is a report; the figures are printed even if it can't be written.
   */
  private void writeAndPrintJson(Report report) {
    Map<String, Object> map = maps(report);
    map.put("report", null);
    map.put("noPicture", null);
    try {
      Optional<String> noPicture = HtmlReport.write(report, renderer, reportFile);
      map.put("report", reportFile.toAbsolutePath().normalize().toString());
      map.put("noPicture", noPicture.orElse(null));
    } finally {
      Json.print(out(), map);
    }
  }

  private void print(Report report) {
    report.facts().forEach((name, value) -> out().println(name + ": " + value));
    out().println();
    table(report).print(out());
    out().println();
    out()
        .println(
            "linear: matrices of the linear layers with their scales. all: with tables (F16 and"
                + " BF16 in those rows, else F32), biases and norms (F32).");
    out()
        .println(
            "Cosines and changes are against F32 weights on the same backend; tokens/s are of this"
                + " machine as it was, an indication only.");
    for (BackendResult backend : report.backends()) {
      out()
          .println(
              String.format(
                  Locale.ROOT,
                  "F32 on %s is within %.1e of ONNX Runtime in every component. %s",
                  backend.name(),
                  backend.differenceFromOnnxRuntime(),
                  backend.timing()));
    }
    out().flush();
  }

  private static Table table(Report report) {
    Table table =
        new Table()
            .text("backend", "backend")
            .text("format", "weights")
            .number("linearBytes", "linear MB", "%.2f")
            .number("allBytes", "all MB", "%.2f")
            .number("minCosine", "min cosine", "%.7f")
            .number("worstPairChange", "worst pair change", "%.6f")
            .number("tokensPerSecond", "tokens/s", "%.0f");
    for (BackendResult backend : report.backends()) {
      for (FormatResult result : backend.formats()) {
        table.row(
            result.backend(),
            result.format().name(),
            result.bytes().linear() / 1e6,
            result.bytes().total() / 1e6,
            result.fidelity().minCosine(),
            result.fidelity().worstPairChange(),
            result.tokensPerSecond());
      }
    }
    return table;
  }

  private Map<String, Object> maps(Report report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("model", report.model());
    map.put("command", report.command());
    map.put("facts", report.facts());
    map.put("sentences", report.neighbours().size());
    map.put("tokens", report.tokens());
    List<Map<String, Object>> backends = new ArrayList<>();
    for (BackendResult backend : report.backends()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("backend", backend.name());
      one.put("device", backend.info().device());
      one.put("vectorBits", backend.info().vectorBits());
      one.put("threads", backend.info().threads());
      one.put("differenceFromOnnxRuntime", backend.differenceFromOnnxRuntime());
      one.put("formats", backend.formats().stream().map(DemoCommand::map).toList());
      backends.add(one);
    }
    map.put("backends", backends);
    return map;
  }

  private static Map<String, Object> map(FormatResult result) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("format", result.format().name());
    map.put("linearBytes", result.bytes().linear());
    map.put("tableBytes", result.bytes().tables());
    map.put("vectorBytes", result.bytes().vectors());
    map.put("allBytes", result.bytes().total());
    map.put("minCosine", result.fidelity().minCosine());
    map.put("meanCosine", result.fidelity().meanCosine());
    map.put("worstPairChange", result.fidelity().worstPairChange());
    map.put("medianError", result.errors().median());
    map.put("largestError", result.errors().largest());
    map.put("tokensPerSecond", result.tokensPerSecond());
    map.put("repetitions", result.repetitions());
    return map;
  }
}
