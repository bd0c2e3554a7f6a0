package dev.minifloat.cpu.internal.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the machine can do and Java doesn't tell, so that kernels whose vector operations it lacks
 * are not chosen: these would run, on the heap, a hundred times slower.
 */
public final class Cpu {
  private static final Path INFO = Path.of("/proc/cpuinfo");
  private static final boolean PERMUTES_BYTES = hasFlag("avx512_vbmi") || hasFlag("avx512vbmi");

  private Cpu() {}

  /**
   * Whether bytes of a 512-bit vector can be permuted: AVX512_VBMI. No, where it can't be known.
   */
  public static boolean permutesBytes() {
    return PERMUTES_BYTES;
  }

  private static boolean hasFlag(String flag) {
    if (!Files.isReadable(INFO)) {
      return false;
    }
    try {
      for (String line : Files.readAllLines(INFO)) {
        if (line.startsWith("flags")) {
          return List.of(line.substring(line.indexOf(':') + 1).trim().split(" ")).contains(flag);
        }
      }
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("can't read " + INFO, e);
    }
  }
}
