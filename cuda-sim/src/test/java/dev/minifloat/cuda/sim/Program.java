package dev.minifloat.cuda.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A program of {@code src/test/cuda}, as nvcc compiled it ({@code regenerate-programs}), on a
 * simulated device.
 */
final class Program implements AutoCloseable {
  private final StringBuilder printed = new StringBuilder();
  private final Client client;
  private final long module;

  /**
   * Loads a program.
   *
   * @param optimisation O3 or O0
   */
  Program(String name, String optimisation) {
    client =
        Client.ready(SimulatedDriver.builder().device("sim:sm_80").output(printed::append).build());
    module = client.module(text("/programs/" + name + "-" + optimisation + ".ptx"));
  }

  private static String text(String resource) {
    try (InputStream in = Program.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Blocks or threads in three dimensions. */
  record Extent(int x, int y, int z) {
    static Extent of(int x) {
      return new Extent(x, 1, 1);
    }
  }

  /** Runs a kernel to its end. */
  void run(String kernel, int blocks, int threads, Object... arguments) {
    run(kernel, Extent.of(blocks), Extent.of(threads), 0, arguments);
  }

  /** The same with all that a launch can be given. */
  void run(String kernel, Extent grid, Extent block, int shared, Object... arguments) {
    CuResult launched =
        client.call(
            DriverFunction.cuLaunchKernel,
            client.function(module, kernel),
            grid.x(),
            grid.y(),
            grid.z(),
            block.x(),
            block.y(),
            block.z(),
            shared,
            0L,
            client.params(arguments),
            0L);
    finish(kernel, launched);
  }

  /** Runs a kernel whose blocks may wait for each other. */
  void runTogether(String kernel, int blocks, int threads, Object... arguments) {
    CuResult launched =
        client.call(
            DriverFunction.cuLaunchCooperativeKernel,
            client.function(module, kernel),
            blocks,
            1,
            1,
            threads,
            1,
            1,
            0,
            0L,
            client.params(arguments));
    finish(kernel, launched);
  }

  private void finish(String kernel, CuResult launched) {
    assertEquals(CuResult.SUCCESS, launched, kernel);
    CuResult ended = client.call(DriverFunction.cuCtxSynchronize);
    assertEquals(CuResult.SUCCESS, ended, () -> client.driver.lastTrap().orElse(kernel));
  }

  /** What kernels have printed. */
  String printed() {
    return printed.toString();
  }

  /** A struct to pass by value. */
  MemorySegment struct(long bytes) {
    return client.arena.allocate(bytes, 8);
  }

  /** Memory that is 0. */
  long zeros(long bytes) {
    return client.upload(client.arena.allocate(bytes, 8));
  }

  long upload(byte... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_BYTE, values));
  }

  long upload(short... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_SHORT, values));
  }

  long upload(int... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_INT, values));
  }

  long upload(long... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_LONG, values));
  }

  long upload(float... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_FLOAT, values));
  }

  long upload(double... values) {
    return client.upload(client.arena.allocateFrom(ValueLayout.JAVA_DOUBLE, values));
  }

  private MemorySegment download(long address, long bytes) {
    MemorySegment out = client.arena.allocate(bytes, 8);
    client.ok(DriverFunction.cuMemcpyDtoH_v2, out, address, bytes);
    return out;
  }

  short[] shorts(long address, int count) {
    return download(address, 2L * count).toArray(ValueLayout.JAVA_SHORT);
  }

  int[] ints(long address, int count) {
    return download(address, 4L * count).toArray(ValueLayout.JAVA_INT);
  }

  long[] longs(long address, int count) {
    return download(address, 8L * count).toArray(ValueLayout.JAVA_LONG);
  }

  float[] floats(long address, int count) {
    return download(address, 4L * count).toArray(ValueLayout.JAVA_FLOAT);
  }

  double[] doubles(long address, int count) {
    return download(address, 8L * count).toArray(ValueLayout.JAVA_DOUBLE);
  }

  @Override
  public void close() {
    client.close();
  }
}
