package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.CUlaunchAttribute_st;
import dev.minifloat.cuda.driver.CUlaunchConfig_st;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The kernels of {@code compiled/hopper.cu}, as nvcc compiled them: tensor copies in, warpgroup
 * multiplications, tensor copies out, alone and in clusters; and what happens to them when a line
 * is wrong.
 */
class HopperGemmTest {
  private static final int TILE_M = 128;
  private static final int TILE_N = 64;
  private static final int SHARED = 3 * (128 + 64) * 128 + 128 * 64 * 2 + 48 + 2048;

  private static String ptx() throws IOException {
    try (InputStream in = HopperGemmTest.class.getResourceAsStream("/compiled/hopper.ptx")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Numbers whose products and sums are exact in F32. */
  private static byte[] codes(SplittableRandom random, int count) {
    byte[] codes = new byte[count];
    for (int i = 0; i < count; i++) {
      codes[i] = (byte) ((random.nextBoolean() ? 0x80 : 0) | 0x28 + random.nextInt(24));
    }
    return codes;
  }

  private static double value(byte code) {
    double magnitude = Math.scalb(1 + (code & 7) / 8.0, ((code & 0x7F) >> 3) - 7);
    return code < 0 ? -magnitude : magnitude;
  }

  private static double[] values(byte[] codes) {
    double[] values = new double[codes.length];
    for (int i = 0; i < codes.length; i++) {
      values[i] = value(codes[i]);
    }
    return values;
  }

  private static MemorySegment map(
      Client client,
      int type,
      long address,
      int columns,
      int rows,
      int box,
      int boxRows,
      int bytes) {
    MemorySegment map = client.arena.allocate(128, 64);
    client.ok(
        cuTensorMapEncodeTiled,
        map,
        type,
        2,
        address,
        client.arena.allocateFrom(ValueLayout.JAVA_LONG, columns, rows),
        client.arena.allocateFrom(ValueLayout.JAVA_LONG, (long) columns * bytes),
        client.ints(box, boxRows),
        client.ints(1, 1),
        0,
        bytes == 1 ? 3 : 0,
        2,
        0);
    return map;
  }

  /** A product's operands on the device, and what it must be. */
  private static final class Product {
    private final Client client;
    private final int m;
    private final int n;
    private final int k;
    private final byte[] a;
    private final byte[] b;
    private final long d;
    private final MemorySegment params;

    Product(Client client, int m, int n, int k, int blocks) {
      this.client = client;
      this.m = m;
      this.n = n;
      this.k = k;
      SplittableRandom random = new SplittableRandom(m + n + k);
      a = codes(random, m * k);
      b = codes(random, n * k);
      long aAt = client.upload(client.arena.allocateFrom(ValueLayout.JAVA_BYTE, a));
      long bAt = client.upload(client.arena.allocateFrom(ValueLayout.JAVA_BYTE, b));
      d = client.upload(client.arena.allocate(2L * m * n));
      params =
          client.params(
              map(client, 0, aAt, k, m, 128, TILE_M, 1),
              map(client, 0, bAt, k, n, 128, TILE_N / blocks, 1),
              map(client, 9, d, n, m, TILE_N, 64, 2),
              k,
              Float.floatToIntBits(0.5f));
    }

    CuResult launch(long function) {
      client.ok(cuFuncSetAttribute, function, 8, SHARED);
      int rows = (m + TILE_M - 1) / TILE_M;
      int columns = (n + TILE_N - 1) / TILE_N;
      return client.call(
          cuLaunchKernel, function, columns, rows, 1, 384, 1, 1, SHARED, 0L, params, 0L);
    }

    void check() {
      MemorySegment out = client.arena.allocate(2L * m * n, 4);
      client.ok(cuMemcpyDtoH_v2, out, d, out.byteSize());
      double[] x = values(a);
      double[] y = values(b);
      for (int row = 0; row < m; row++) {
        for (int column = 0; column < n; column++) {
          double sum = 0;
          for (int i = 0; i < k; i++) {
            sum += x[row * k + i] * y[column * k + i];
          }
          int bits = Float.floatToIntBits((float) (sum * 0.5));
          int expected = (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16;
          int found = out.getAtIndex(ValueLayout.JAVA_SHORT, row * n + column) & 0xFFFF;
          if (found != expected) {
            assertEquals(expected, found, "row %d, column %d".formatted(row, column));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "gemm_block, 128, 64, 128, 0",
    "gemm_block, 200, 136, 592, 1",
    "gemm_block, 8, 8, 16, 2",
    "gemm_cluster, 256, 64, 512, 3",
    "gemm_cluster, 450, 200, 784, 4",
  })
  void productsAreExact(String kernel, int m, int n, int k, long seed) throws IOException {
    try (Client client =
        Client.ready(SimulatedDriver.builder().device("sim:sm_90a").seed(seed).build())) {
      Product product = new Product(client, m, n, k, kernel.endsWith("cluster") ? 2 : 1);
      long function = client.function(client.module(ptx()), kernel);
      assertEquals(CuResult.SUCCESS, product.launch(function));
      assertEquals(
          CuResult.SUCCESS,
          client.call(cuCtxSynchronize),
          () -> client.driver.lastTrap().orElse(""));
      product.check();
    }
  }

  /** Each changes a line of the PTX; the simulator must say what is wrong. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gemm_block   | fence.proxy.async.shared::cta;                | //                                  | no fence.proxy.async
          gemm_block   | cp.async.bulk.wait_group.read 0;              | //                                  | nobody has waited
          gemm_block   | wgmma.wait_group.sync.aligned 0;              | wgmma.wait_group.sync.aligned 1;    | no wgmma.wait_group
          gemm_block   | wgmma.fence.sync.aligned;                     | //                                  | no wgmma.fence
          gemm_block   | fence.mbarrier_init.release.cluster;          | //                                  | arrival at the mbarrier
          gemm_block   | mbarrier.arrive.shared::cta.b64 _,            | //                                  | no thread of the block can go on
          gemm_cluster | mbarrier.arrive.release.cluster.shared::cluster.b64 _, | //                         | no thread of the cluster can go on
          gemm_cluster | .multicast::cluster                           | ''                                  | no thread of the cluster can go on
          """)
  void aWrongLineIsFound(String kernel, String from, String to, String part) throws IOException {
    String text = ptx();
    assertTrue(text.contains(from), from);
    String changed =
        from.startsWith(".multicast")
            ? text.replaceAll("\\.multicast::cluster ([^;]*), %rs\\d+;", " $1;")
            : text.replace(from, to);
    try (Client client = Client.ready("sim:sm_90a")) {
      Product product = new Product(client, 256, 64, 640, kernel.endsWith("cluster") ? 2 : 1);
      long function = client.function(client.module(changed), kernel);
      assertEquals(CuResult.SUCCESS, product.launch(function));
      client.call(cuCtxSynchronize);
      String trap = client.driver.lastTrap().orElse("nothing was found");
      assertTrue(trap.contains(part), trap);
    }
  }

  @Test
  void clustersAreCheckedWhenTheyAreLaunched() throws IOException {
    try (Client client = Client.ready("sim:sm_90a")) {
      long module = client.module(ptx());
      long cluster = client.function(module, "gemm_cluster");
      assertEquals(2, client.getInt(cuFuncGetAttribute, 12, cluster));
      Product odd = new Product(client, 128, 64, 128, 2);
      assertEquals(CuResult.INVALID_CLUSTER_SIZE, odd.launch(cluster));
      long block = client.function(module, "gemm_block");
      MemorySegment config = client.arena.allocate(CUlaunchConfig_st.layout());
      CUlaunchConfig_st.gridDimX(config, 1);
      CUlaunchConfig_st.gridDimY(config, 16);
      CUlaunchConfig_st.gridDimZ(config, 1);
      CUlaunchConfig_st.blockDimX(config, 384);
      CUlaunchConfig_st.blockDimY(config, 1);
      CUlaunchConfig_st.blockDimZ(config, 1);
      CUlaunchConfig_st.sharedMemBytes(config, SHARED);
      MemorySegment attribute = client.arena.allocate(CUlaunchAttribute_st.layout());
      CUlaunchConfig_st.attrs(config, attribute);
      CUlaunchConfig_st.numAttrs(config, 1);
      CUlaunchAttribute_st.id(attribute, 4);
      MemorySegment value = CUlaunchAttribute_st.value(attribute);
      value.set(ValueLayout.JAVA_INT, 0, 1);
      value.set(ValueLayout.JAVA_INT, 8, 1);
      Product product = new Product(client, 16 * TILE_M, 64, 128, 1);
      client.ok(cuFuncSetAttribute, block, 8, SHARED);
      value.set(ValueLayout.JAVA_INT, 4, 16);
      client.fails(
          CuResult.INVALID_CLUSTER_SIZE, cuLaunchKernelEx, config, block, product.params, 0L);
      client.ok(cuFuncSetAttribute, block, 14, 1);
      client.ok(cuLaunchKernelEx, config, block, product.params, 0L);
      value.set(ValueLayout.JAVA_INT, 4, 3);
      client.fails(
          CuResult.INVALID_CLUSTER_SIZE, cuLaunchKernelEx, config, block, product.params, 0L);
      client.ok(cuCtxSynchronize);
      product.check();
    }
  }
}
