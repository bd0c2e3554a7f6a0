package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Functions of {@code compiled/functions.h}, which a C++ compiler translated for the host and a
 * CUDA compiler to PTX, with and without optimisation: the results agree to the bit. {@code
 * functions.txt} is what the host's program printed. Where nvcc is, fresh PTX of today's text is
 * tried as well.
 */
class CompiledFunctionsTest {
  private static final int INPUTS = 256;

  private static String resource(String name) throws IOException {
    try (InputStream in = CompiledFunctionsTest.class.getResourceAsStream("/compiled/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The same numbers that {@code functions.cpp} takes. */
  private static int input(int i) {
    if (i < 128) {
      return i;
    }
    int x = i;
    x ^= x >>> 16;
    x *= 0x85ebca6b;
    x ^= x >>> 13;
    x *= 0xc2b2ae35;
    return x ^ (x >>> 16);
  }

  @TestFactory
  Stream<DynamicTest> ptxAgreesWithTheHost(@TempDir Path folder) throws Exception {
    Stream.Builder<DynamicTest> tests = Stream.builder();
    for (String name : new String[] {"functions-O3.ptx", "functions-O0.ptx"}) {
      String ptx = resource(name);
      tests.add(DynamicTest.dynamicTest(name, () -> check(ptx)));
    }
    Path nvcc = nvcc();
    if (nvcc != null) {
      for (String file : new String[] {"functions.h", "functions.cu"}) {
        Files.writeString(folder.resolve(file), resource(file));
      }
      for (List<String> flags :
          List.of(
              List.of("-O3", "-arch=sm_80"),
              List.of("-Xcicc", "-O0", "-arch=sm_80"),
              List.of("-O3", "-arch=sm_89", "-lineinfo"))) {
        String ptx = compile(nvcc, folder, flags);
        tests.add(DynamicTest.dynamicTest("nvcc " + flags, () -> check(ptx)));
      }
    }
    return tests.build();
  }

  private static Path nvcc() {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, "nvcc");
      if (Files.isExecutable(file)) {
        return file;
      }
    }
    return null;
  }

  private static String compile(Path nvcc, Path folder, List<String> flags) throws Exception {
    Path output = folder.resolve("out.ptx");
    List<String> command = new java.util.ArrayList<>();
    command.add(nvcc.toString());
    command.addAll(List.of("-ptx", "-fmad=false"));
    command.addAll(flags);
    command.addAll(List.of("functions.cu", "-o", output.toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    if (!process.waitFor(10, TimeUnit.MINUTES) || process.exitValue() != 0) {
      throw new IllegalStateException(command + ": " + Files.readString(folder.resolve("log")));
    }
    return Files.readString(output);
  }

  private static void check(String ptx) throws IOException {
    Device device = new Device(ptx);
    int[] in = new int[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
      in[i] = input(i);
    }
    Allocation input = device.ints(in);
    Allocation output = device.longs(new long[8 * INPUTS]);
    device.launch("run", new Dim3(4, 1, 1), new Dim3(64, 1, 1), 0, input, output, INPUTS);
    long[] results = device.longs(output);
    List<String> lines = resource("functions.txt").lines().toList();
    assertEquals(INPUTS, lines.size());
    for (int i = 0; i < INPUTS; i++) {
      StringBuilder line = new StringBuilder();
      for (int j = 0; j < 8; j++) {
        line.append(j == 0 ? "" : " ").append(Long.toHexString(results[8 * i + j]));
      }
      assertEquals(lines.get(i), line.toString(), "input " + in[i]);
    }
  }
}
