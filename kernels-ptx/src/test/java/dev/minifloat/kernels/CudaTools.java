package dev.minifloat.kernels;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The compiler and the assembler of CUDA, where they are on the PATH. */
final class CudaTools {
  /** What the committed files were compiled by: another nvcc may order instructions differently. */
  static final String NVCC_RELEASE = "V13.0.88";

  private static final Path SOURCES = Path.of("src/main/cuda");
  private static final Pattern USED =
      Pattern.compile("Compiling entry function '(\\w+)'|Used (\\d+) registers");

  private CudaTools() {}

  static Optional<Path> find(String tool) {
    return Stream.of(System.getenv("PATH").split(":"))
        .map(folder -> Path.of(folder, tool))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** nvcc, if it is there and of {@link #NVCC_RELEASE}. */
  static Optional<Path> nvcc() throws IOException, InterruptedException {
    Optional<Path> nvcc = find("nvcc");
    boolean same = nvcc.isPresent() && run(nvcc.get(), "--version").contains(NVCC_RELEASE);
    return same ? nvcc : Optional.empty();
  }

  /**
   * Compiles a source to PTX, with the given version in place of the compiler's own. The path of
   * the source is relative, since it enters names within the PTX.
   */
  static String compile(Path nvcc, String source, Target target, String version)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile("minifloat", ".ptx");
    try {
      run(
          nvcc,
          "-ptx",
          "-std=c++17",
          "-arch=" + target.toString().replace("sm_", "compute_"),
          "-O3",
          "-ftz=false",
          "-prec-div=true",
          "-prec-sqrt=true",
          "-fmad=false",
          "-o",
          out.toString(),
          source);
      String text = Files.readString(out);
      // A hint about loads that read more than they use; older versions don't know it.
      text = text.replaceAll("(?m)^\\s*\\.pragma \"used_bytes_mask [^\"]*\";\n", "");
      return text.replaceFirst("(?m)^\\.version \\S+$", ".version " + version);
    } finally {
      Files.delete(out);
    }
  }

  /**
   * Assembles PTX for a device and gives the registers of each entry.
   *
   * @throws IOException if ptxas complains, or spills
   */
  static Map<String, Integer> assemble(Path ptxas, Path ptx, String device)
      throws IOException, InterruptedException {
    String log =
        run(ptxas, "-v", "--warn-on-spills", "-arch=" + device, "-o", "/dev/null", ptx.toString());
    if (log.contains("spilled")) {
      throw new IOException(ptx + " for " + device + " spills registers:\n" + log);
    }
    Map<String, Integer> registers = new HashMap<>();
    Matcher matcher = USED.matcher(log);
    String entry = null;
    while (matcher.find()) {
      if (matcher.group(1) != null) {
        entry = matcher.group(1);
      } else {
        registers.put(entry, Integer.valueOf(matcher.group(2)));
      }
    }
    return registers;
  }

  private static String run(Path tool, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(tool.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).directory(SOURCES.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " failed:\n" + output);
    }
    return output;
  }
}
