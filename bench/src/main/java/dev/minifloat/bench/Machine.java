package dev.minifloat.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a run ran on. */
final class Machine {
  /** The key of the command in {@link #facts}. */
  static final String COMMAND = "Command";

  /** The key under which a run adds how long it took. */
  static final String DURATION = "Duration";

  private static final Path CPUS = Path.of("/proc/cpuinfo");

  private Machine() {}

  /** Processor, cores, JDK and so on, and the command that does it again. */
  static Map<String, String> facts(String command, String variant) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Processor", processor());
    facts.put("Cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    facts.put("Vectors", variant);
    facts.put("System", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("JDK", System.getProperty("java.vendor.version", "") + " " + Runtime.version());
    facts.put(COMMAND, command);
    return facts;
  }

  /** The processor's name and, where the name says little, its family and model. */
  private static String processor() {
    Map<String, String> info = new LinkedHashMap<>();
    try {
      for (String line : Files.readAllLines(CPUS)) {
        int colon = line.indexOf(':');
        if (colon > 0) {
          info.putIfAbsent(line.substring(0, colon).strip(), line.substring(colon + 1).strip());
        }
      }
    } catch (IOException e) {
      // Not Linux.
      return System.getProperty("os.arch");
    }
    String name = info.getOrDefault("model name", System.getProperty("os.arch"));
    return info.containsKey("model")
        ? "%s (family %s, model %s)".formatted(name, info.get("cpu family"), info.get("model"))
        : name;
  }
}
