package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.Backends;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.DeviceFacts;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.spi.Availability;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The file that somebody with a device sends to somebody without: what was checked, on what, with
 * what result. It holds no name of the user, and paths of the home folder begin with {@code ~}.
 */
final class VerifyReport {
  /** What a reader asks for first: changed when a key goes or gets another meaning. */
  static final String FORMAT = "minifloat verify 1";

  /** Properties of the system that say which JVM this is. */
  private static final List<String> JAVA =
      List.of("java.runtime.version", "java.vendor", "java.vm.name", "java.vm.version");

  private static final List<String> SYSTEM = List.of("os.name", "os.version", "os.arch");

  private final String command;
  private final Function<String, String> hide;
  private final Instant start = Instant.now();
  private final List<Map<String, Object>> tested = new ArrayList<>();

  /**
   * A report that begins now.
   *
   * @param command what is run
   */
  VerifyReport(String command) {
    this(command, hiding(System.getProperty("user.home"), System.getProperty("user.name")));
  }

  /**
   * A report that begins now.
   *
   * @param command what is run
   * @param hide takes what is private from a text
   */
  VerifyReport(String command, Function<String, String> hide) {
    this.command = command;
    this.hide = hide;
  }

  /**
   * Takes a user's traces from texts: the home folder becomes {@code ~}, and the user's name, where
   * it is a part of a path, {@code USER}.
   */
  static Function<String, String> hiding(String home, String user) {
    Pattern name = Pattern.compile("(?<=[/\\\\])" + Pattern.quote(user) + "(?![\\w.-])");
    // The home of a process without a user may be "/", which every path begins with.
    boolean hasHome = home.length() > 1;
    Pattern folder = Pattern.compile(Pattern.quote(home) + "(?![\\w.-])");
    return text -> {
      String homeless = hasHome ? folder.matcher(text).replaceAll("~") : text;
      return name.matcher(homeless).replaceAll(Matcher.quoteReplacement("USER"));
    };
  }

  /** Adds a backend that was checked; it is still open. */
  void tested(Backend backend) {
    BackendInfo info = backend.info();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", backend.name());
    map.put("device", info.device());
    map.put("vectorBits", info.vectorBits());
    map.put("threads", info.threads());
    if (backend instanceof CudaBackend cuda) {
      map.put("cuda", facts(cuda));
    }
    tested.add(map);
  }

  private static Map<String, Object> facts(CudaBackend cuda) {
    DeviceFacts facts = cuda.facts();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("driverVersion", facts.driverVersion());
    map.put("name", facts.name());
    map.put("ordinal", facts.ordinal());
    map.put("capability", facts.capability());
    map.put("memoryBytes", facts.memoryBytes());
    map.put("attributes", facts.attributes());
    map.put("loadedKernels", cuda.loadedKernels());
    return map;
  }

  /**
   * Writes the report.
   *
   * @param outcomes of the checks
   * @param failure what ended the run before its end; null for nothing
   * @throws IOException if it can't be written
   */
  void write(Path file, List<Outcome> outcomes, Throwable failure) throws IOException {
    Files.writeString(file, Json.text(hidden(map(outcomes, failure))) + "\n");
  }

  private Map<String, Object> map(List<Outcome> outcomes, Throwable failure) {
    long failed = outcomes.stream().filter(outcome -> !outcome.ok()).count();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("format", FORMAT);
    map.put("command", command);
    map.put("started", start.truncatedTo(ChronoUnit.SECONDS).toString());
    map.put("seconds", Instant.now().getEpochSecond() - start.getEpochSecond());
    map.put("ok", failed == 0 && failure == null && !outcomes.isEmpty());
    map.put("failed", failed);
    map.put("endedBy", failure == null ? null : Outcome.trace(failure));
    Map<String, Object> minifloat = new LinkedHashMap<>();
    minifloat.put("version", Main.Version.number());
    minifloat.put("kernelCatalogSha256", KernelCatalog.sha256());
    map.put("minifloat", minifloat);
    Map<String, Object> java = properties(JAVA);
    java.put("maxHeapMiB", Runtime.getRuntime().maxMemory() >> 20);
    map.put("java", java);
    Map<String, Object> system = properties(SYSTEM);
    system.put("processor", Processor.name());
    system.put("memoryMiB", memoryMiB());
    map.put("system", system);
    map.put("backends", Backends.report().stream().map(VerifyReport::availability).toList());
    map.put("tested", tested);
    map.put("checks", outcomes.stream().map(Outcome::reportMap).toList());
    return map;
  }

  private static Map<String, Object> properties(List<String> names) {
    return names.stream()
        .collect(
            Collectors.toMap(
                name -> name,
                name -> System.getProperty(name, "unknown"),
                (a, _) -> a,
                (Supplier<Map<String, Object>>) LinkedHashMap::new));
  }

  private static Long memoryMiB() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getTotalMemorySize() >> 20
        : null;
  }

  private static Map<String, Object> availability(Backends.Report report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", report.name());
    switch (report.availability()) {
      case Availability.Available(String what) -> {
        map.put("usable", true);
        map.put("why", what);
      }
      case Availability.Unavailable(List<Availability.Reason> reasons) -> {
        map.put("usable", false);
        map.put("why", reasons.stream().map(Availability.Reason::what).toList());
      }
    }
    return map;
  }

  /** The same without what is private, in every text of it. */
  private Object hidden(Object value) {
    return switch (value) {
      case String text -> hide.apply(text);
      case List<?> list -> list.stream().map(this::hidden).toList();
      case Map<?, ?> map -> {
        Map<Object, Object> copy = new LinkedHashMap<>();
        map.forEach((key, element) -> copy.put(key, element == null ? null : hidden(element)));
        yield copy;
      }
      default -> value;
    };
  }
}
