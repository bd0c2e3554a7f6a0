package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.VectorKernels;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is compiled allocates nothing, given the tensor to write to. */
@Tag("allocation")
class ConversionAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final Shape SHAPE = Shape.of(64, 512);
  private static final List<Rounding> ROUNDINGS =
      List.of(Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.stochastic(3));

  private static VectorBackend backend;
  private static VectorKernels kernels;
  private static TensorView x;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(1);
    kernels = new VectorKernels(new Workers(1), new Memory());
    x = tensor(DType.F32, SHAPE, Scaling.none());
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < SHAPE.elements(); i++) {
      float value = (float) random.nextDouble(-3, 3);
      Views.storage(x).data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  private static TensorView tensor(DType dtype, Shape shape, Scaling scaling) {
    try (Arena arena = Arena.ofConfined()) {
      return (TensorView) backend.upload(HostTensor.allocate(arena, dtype, shape, scaling));
    }
  }

  /** Prints what allocates where all calls are made in one JVM: as listed, or the last first. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) {
      open();
      Map<String, Runnable> calls = new LinkedHashMap<>(quantization());
      calls.putAll(conversion());
      List<String> order = new ArrayList<>(calls.keySet());
      if (arguments[0].equals("reversed")) {
        order = order.reversed();
      }
      // What was compiled for the first calls is shared with the last ones, and the other way
      // round.
      for (int turn = 0; turn < 2; turn++) {
        for (String what : order) {
          long bytes = leastAllocated(calls.get(what));
          if (bytes > 0) {
            System.out.println("turn " + turn + ": " + what + ": " + bytes + " bytes");
          }
        }
      }
      close();
      System.out.println("calls: " + order.size());
    }
  }

  /** Bytes of a call, once they don't get fewer: what is interpreted boxes vectors. */
  private static long leastAllocated(Runnable call) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 40_000 && least > 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      call.run();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  private static void assertAllocateNothing(Map<String, Runnable> calls) {
    calls.forEach((what, call) -> assertEquals(0, leastAllocated(call), what));
  }

  @Test
  void quantizeAndDequantizeAllocateNothing() {
    assertAllocateNothing(quantization());
  }

  @Test
  void convertAndCopyAllocateNothing() {
    assertAllocateNothing(conversion());
  }

  /** A method that is compiled before a loop that calls it may not be inlined there any more. */
  @ParameterizedTest
  @ValueSource(strings = {"listed", "reversed"})
  void whatIsCompiledFirstMakesNoDifference(String order) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:MaxVectorSize=" + Species.BITS / 8, "-XX:-BackgroundCompilation"));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Program.class.getName(), order));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    assertTrue(output.lines().anyMatch(line -> line.startsWith("calls: ")), output);
    assertTrue(output.lines().noneMatch(line -> line.startsWith("turn ")), output);
  }

  private static Map<String, Runnable> quantization() {
    Map<String, Runnable> calls = new LinkedHashMap<>();
    for (QuantSpec spec :
        List.of(
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
            QuantSpec.of(DType.F8_E5M2).scaling(Scaling.block(16, 100)),
            QuantSpec.of(DType.I8).scaling(Scaling.columns()),
            QuantSpec.of(DType.I4).scaling(Scaling.tensor()),
            QuantSpec.of(DType.F6_E3M2).scaling(Scaling.mx()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.mx()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()))) {
      TensorView quantized = tensor(spec.dtype(), SHAPE, spec.scaling());
      for (Rounding rounding : ROUNDINGS) {
        QuantSpec rounded = spec.rounding(rounding);
        calls.put("quantize " + rounded, () -> kernels.quantize(x, quantized, rounded));
      }
      TensorView values = tensor(DType.F32, SHAPE, Scaling.none());
      calls.put("dequantize " + spec, () -> kernels.dequantize(quantized, values));
      TensorView turned = quantized.transposed();
      TensorView columns = tensor(DType.BF16, turned.shape(), Scaling.none());
      calls.put("turned " + spec, () -> kernels.dequantize(turned, columns));
      calls.put("amax " + spec, () -> kernels.amax(quantized));
    }
    return calls;
  }

  private static Map<String, Runnable> conversion() {
    Map<String, Runnable> calls = new LinkedHashMap<>();
    for (DType dtype : DType.values()) {
      TensorView to = tensor(dtype, SHAPE, Scaling.none());
      TensorView same = tensor(dtype, SHAPE, Scaling.none());
      TensorView back = tensor(DType.F32, SHAPE, Scaling.none());
      Overflow overflow = Overflow.defaultFor(dtype);
      if (dtype != DType.F32) {
        for (Rounding rounding : ROUNDINGS) {
          calls.put(
              "F32 to " + dtype + ", " + rounding,
              () -> kernels.convert(x, to, rounding, overflow));
        }
        calls.put(
            dtype + " to F32",
            () -> kernels.convert(to, back, Rounding.NEAREST_EVEN, Overflow.IEEE));
      }
      calls.put("copy of " + dtype, () -> kernels.copy(to, same));
      calls.put("amax of " + dtype, () -> kernels.amax(to));
    }
    return calls;
  }
}
