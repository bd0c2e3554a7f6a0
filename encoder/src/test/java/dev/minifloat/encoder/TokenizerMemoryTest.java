package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class TokenizerMemoryTest {
  /** What a JVM that does nothing needs, and the reader's buffers and sets of constant size. */
  private static final int SLACK = 12 << 20;

  @Test
  void filesAreReadOrRefusedInTwiceTheirSize() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmn4m",
                "-Xmx" + (2 * TokenizerMemory.SIZE + SLACK),
                "-cp",
                System.getProperty("java.class.path"),
                TokenizerMemory.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), output);
  }
}
