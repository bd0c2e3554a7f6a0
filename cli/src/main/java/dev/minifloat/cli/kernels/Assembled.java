package dev.minifloat.cli.kernels;

import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a kernel takes of a multiprocessor.
 *
 * @param registers of a thread
 * @param spilledBytes that a thread keeps in memory for want of registers
 * @param source who says so: ptxas, or the catalog
 */
public record Assembled(int registers, int spilledBytes, String source) {
  private static final Pattern SPILLS =
      Pattern.compile("(\\d+) bytes spill stores, (\\d+) bytes spill loads");
  private static final Pattern REGISTERS = Pattern.compile("Used (\\d+) registers");

  /** What the catalog says: its kernels are only admitted without spills. */
  public static Assembled recorded(KernelEntry kernel) {
    return new Assembled(kernel.registers(), 0, "catalog");
  }

  /** Where ptxas is on the PATH; empty if it isn't. */
  public static Optional<Path> ptxas() {
    String path = System.getenv("PATH");
    return path == null
        ? Optional.empty()
        : Stream.of(path.split(File.pathSeparator, -1))
            .filter(folder -> !folder.isEmpty())
            .map(folder -> Path.of(folder, "ptxas"))
            .filter(Files::isExecutable)
            .findFirst();
  }

  /**
   * What ptxas makes of a kernel, for its file's target.
   *
   * @throws IOException if it fails, with its words
   */
  public static Assembled by(Path ptxas, KernelCatalog catalog, KernelEntry kernel)
      throws IOException, InterruptedException {
    Path ptx = Files.createTempFile("minifloat", ".ptx");
    try {
      Files.write(ptx, catalog.open(kernel.file()));
      Process process =
          new ProcessBuilder(
                  ptxas.toString(),
                  "-v",
                  "-arch=" + kernel.file().target(),
                  "--entry",
                  kernel.entry(),
                  "-o",
                  "/dev/null",
                  ptx.toString())
              .redirectErrorStream(true)
              .start();
      process.getOutputStream().close();
      String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher registers = REGISTERS.matcher(log);
      Matcher spills = SPILLS.matcher(log);
      if (process.waitFor() != 0 || !registers.find()) {
        throw new IOException("ptxas can't assemble " + kernel.entry() + ": " + log.strip());
      }
      int spilled =
          spills.find() ? Integer.parseInt(spills.group(1)) + Integer.parseInt(spills.group(2)) : 0;
      return new Assembled(Integer.parseInt(registers.group(1)), spilled, "ptxas");
    } finally {
      Files.delete(ptx);
    }
  }
}
