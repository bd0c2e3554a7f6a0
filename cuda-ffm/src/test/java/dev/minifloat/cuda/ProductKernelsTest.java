package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.contract.ErrorBounds;
import dev.minifloat.cuda.sim.LaunchStatistics;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import dev.minifloat.kernels.Target;
import dev.minifloat.reference.ReferenceBackend;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Which kernel multiplies what, and that it is right: operands that are turned first above all. */
class ProductKernelsTest {
  /** The sum of the kernels for few rows is what they launch last. */
  private static final String SKINNY = "skinny_sum";

  /**
   * An operand.
   *
   * @param turned whether products see the transpose of what is stored
   * @param shape as products see it
   */
  private record Operand(DType dtype, Scaling scaling, boolean turned, Shape shape) {
    static Operand of(DType dtype, Scaling scaling, long... dims) {
      return new Operand(dtype, scaling, false, Shape.of(dims));
    }

    static Operand turned(DType dtype, Scaling scaling, long... dims) {
      return new Operand(dtype, scaling, true, Shape.of(dims));
    }

    /** What is stored. */
    HostTensor host(ReferenceBackend reference, long seed) {
      Shape stored = turned ? shape.with(-2, shape.columns()).with(-1, shape.rows()) : shape;
      SplittableRandom random = new SplittableRandom(seed);
      float[] values = new float[(int) stored.elements()];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextGaussian();
      }
      try (Scope scope = reference.scope()) {
        QuantSpec spec = QuantSpec.of(dtype).scaling(scaling);
        return scope.download(
            scope.quantize(scope.upload(HostTensor.of(values, stored.dims())), spec));
      }
    }

    Tensor on(Operations ops, HostTensor host) {
      Tensor stored = ops.upload(host);
      return turned ? stored.transposed() : stored;
    }

    @Override
    public String toString() {
      return dtype + " " + scaling + " " + shape + (turned ? " turned" : "");
    }
  }

  private record Product(String device, String kernel, Operand a, Operand b) {
    @Override
    public String toString() {
      return kernel + " on " + device + ": " + a + " × " + b;
    }
  }

  private static final Scaling NONE = Scaling.none();
  private static final Scaling ONE = Scaling.tensor();
  private static final Scaling ROWS = Scaling.rows();
  private static final Scaling COLUMNS = Scaling.columns();
  private static final Scaling MX = Scaling.mx();
  private static final DType E4M3 = DType.F8_E4M3;
  private static final String DECODED = "gemm_f8_e4m3_f8_e4m3";
  private static final String NATIVE = "gemm_f8_native_e4m3_e4m3";

  private static Stream<Product> products() {
    return Stream.of(
        // As weights lie, [N, K].
        new Product(
            "sm_80",
            "gemm_bf16",
            Operand.of(DType.BF16, NONE, 20, 40),
            Operand.turned(DType.BF16, NONE, 40, 20)),
        new Product(
            "sm_80", DECODED, Operand.of(E4M3, ROWS, 20, 40), Operand.turned(E4M3, ROWS, 40, 20)),
        new Product(
            "sm_89", NATIVE, Operand.of(E4M3, ROWS, 20, 40), Operand.turned(E4M3, ROWS, 40, 20)),
        new Product(
            "sm_89",
            DECODED,
            Operand.of(E4M3, Scaling.mx(), 20, 70),
            Operand.turned(E4M3, Scaling.mx(), 70, 20)),
        new Product(
            "sm_80",
            "gemm_f16_f4_e2m1",
            Operand.of(DType.F16, NONE, 20, 70),
            Operand.turned(DType.F4_E2M1, Scaling.nvfp4(), 70, 20)),
        new Product(
            "sm_80",
            "gemm_i8",
            Operand.of(DType.I8, ROWS, 20, 70),
            Operand.turned(DType.I8, ROWS, 70, 20)),
        // Tiles by tensor maps, for which rows are a multiple of 16 bytes apart: one tile, several
        // of
        // them and cut ones, one stage and more than there are; matrices, and one for all of them.
        new Product(
            "sm_90a",
            "gemm_hopper_e4m3_e4m3",
            Operand.of(E4M3, ROWS, 20, 48),
            Operand.turned(E4M3, ROWS, 48, 20)),
        new Product(
            "sm_90a",
            "gemm_hopper_e4m3_e4m3",
            Operand.of(E4M3, Scaling.block(1, 128), 150, 720),
            Operand.turned(E4M3, Scaling.block(128, 128), 720, 270)),
        new Product(
            "sm_90a",
            "gemm_hopper_e4m3_e4m3",
            Operand.of(E4M3, Scaling.block(1, 128), 2, 18, 400),
            Operand.turned(E4M3, ONE, 400, 130)),
        new Product(
            "sm_90a",
            "gemm_hopper_e4m3_e5m2",
            Operand.of(E4M3, ROWS, 3, 20, 272),
            Operand.turned(DType.F8_E5M2, Scaling.block(128, 128), 3, 272, 20)),
        new Product(
            "sm_90a",
            "gemm_hopper_e5m2_e4m3",
            Operand.of(DType.F8_E5M2, Scaling.block(2, 128), 140, 256),
            Operand.turned(E4M3, ROWS, 256, 20)),
        new Product(
            "sm_90a",
            "gemm_hopper_e5m2_e5m2",
            Operand.of(DType.F8_E5M2, ONE, 1100, 16),
            Operand.turned(DType.F8_E5M2, ONE, 16, 300)),
        new Product(
            "sm_90a",
            "gemm_hopper_f16",
            Operand.of(DType.F16, NONE, 130, 328),
            Operand.turned(DType.F16, NONE, 328, 150)),
        new Product(
            "sm_90a",
            "gemm_hopper_bf16",
            Operand.of(DType.BF16, NONE, 3, 18, 72),
            Operand.of(DType.BF16, NONE, 3, 72, 200)),
        // The same in Tensor Memory: sums of all of K, and of 128 at a time where scales change.
        new Product(
            "sm_100f",
            "gemm_blackwell_e4m3_e4m3",
            Operand.of(E4M3, ROWS, 20, 48),
            Operand.turned(E4M3, ROWS, 48, 20)),
        new Product(
            "sm_100f",
            "gemm_blackwell_e4m3_e4m3",
            Operand.of(E4M3, Scaling.block(1, 128), 150, 720),
            Operand.turned(E4M3, Scaling.block(128, 128), 720, 270)),
        new Product(
            "sm_100f",
            "gemm_blackwell_e4m3_e5m2",
            Operand.of(E4M3, ROWS, 3, 20, 272),
            Operand.turned(DType.F8_E5M2, Scaling.block(128, 128), 3, 272, 20)),
        new Product(
            "sm_100f",
            "gemm_blackwell_e5m2_e4m3",
            Operand.of(DType.F8_E5M2, ROWS, 270, 720),
            Operand.turned(E4M3, ROWS, 720, 150)),
        new Product(
            "sm_100f",
            "gemm_blackwell_e5m2_e5m2",
            Operand.of(DType.F8_E5M2, ONE, 1100, 16),
            Operand.turned(DType.F8_E5M2, ONE, 16, 300)),
        new Product(
            "sm_100f",
            "gemm_blackwell_f16",
            Operand.of(DType.F16, NONE, 130, 328),
            Operand.turned(DType.F16, NONE, 328, 150)),
        new Product(
            "sm_100f",
            "gemm_blackwell_bf16",
            Operand.of(DType.BF16, NONE, 3, 18, 72),
            Operand.of(DType.BF16, NONE, 3, 72, 200)),
        // Scales of blocks in Tensor Memory.
        new Product(
            "sm_100f",
            "gemm_blackwell_mx_e4m3_e4m3",
            Operand.of(E4M3, MX, 140, 528),
            Operand.turned(E4M3, MX, 528, 270)),
        new Product(
            "sm_100f",
            "gemm_blackwell_mx_e5m2_e4m3",
            Operand.of(DType.F8_E5M2, MX, 2, 20, 80),
            Operand.turned(E4M3, MX, 2, 80, 20)),
        new Product(
            "sm_100f",
            "gemm_blackwell_mx_e4m3_e5m2",
            Operand.of(E4M3, ROWS, 20, 80),
            Operand.turned(DType.F8_E5M2, MX, 80, 20)),
        new Product(
            "sm_100f",
            "gemm_blackwell_mx_e5m2_e5m2",
            Operand.of(DType.F8_E5M2, MX, 600, 16),
            Operand.turned(DType.F8_E5M2, ROWS, 16, 300)),
        new Product(
            "sm_100f",
            "gemm_blackwell_mxf4",
            Operand.of(DType.F4_E2M1, MX, 140, 1056),
            Operand.turned(DType.F4_E2M1, MX, 1056, 130)),
        new Product(
            "sm_100f",
            "gemm_blackwell_mxf4",
            Operand.of(DType.F4_E2M1, MX, 20, 96),
            Operand.turned(DType.F4_E2M1, ROWS, 96, 20)),
        new Product(
            "sm_100f",
            "gemm_blackwell_nvf4",
            Operand.of(DType.F4_E2M1, Scaling.nvfp4(), 140, 1056),
            Operand.turned(DType.F4_E2M1, Scaling.nvfp4(), 1056, 130)),
        new Product(
            "sm_100f",
            "gemm_blackwell_nvf4",
            Operand.of(DType.F4_E2M1, Scaling.nvfp4(), 2, 20, 96),
            Operand.turned(DType.F4_E2M1, ONE, 2, 96, 20)),
        // Rows that tensor maps don't reach.
        new Product(
            "sm_100f",
            "gemm_f4_e2m1_f4_e2m1",
            Operand.of(DType.F4_E2M1, MX, 20, 70),
            Operand.turned(DType.F4_E2M1, MX, 70, 20)),
        // What tensor maps don't show, or the kernels don't scale.
        new Product(
            "sm_90a", NATIVE, Operand.of(E4M3, ROWS, 20, 40), Operand.turned(E4M3, ROWS, 40, 20)),
        new Product(
            "sm_90a",
            NATIVE,
            Operand.of(E4M3, Scaling.block(1, 128), 20, 256),
            Operand.turned(E4M3, Scaling.block(64, 128), 256, 20)),
        new Product(
            "sm_90a",
            NATIVE,
            Operand.of(E4M3, Scaling.block(1, 256), 20, 512),
            Operand.turned(E4M3, ROWS, 512, 20)),
        new Product(
            "sm_90a", DECODED, Operand.of(E4M3, MX, 20, 64), Operand.turned(E4M3, MX, 64, 20)),
        // Blocks that the tensor cores scale; or with one factor a row in their place.
        new Product(
            "sm_120f",
            "gemm_block_e4m3_e4m3",
            Operand.of(E4M3, MX, 140, 520),
            Operand.turned(E4M3, MX, 520, 130)),
        new Product(
            "sm_120f",
            "gemm_block_e5m2_e4m3",
            Operand.of(DType.F8_E5M2, MX, 2, 20, 70),
            Operand.turned(E4M3, MX, 2, 70, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e4m3_e5m2",
            Operand.of(E4M3, ROWS, 20, 70),
            Operand.turned(DType.F8_E5M2, MX, 70, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e5m2_e5m2",
            Operand.of(DType.F8_E5M2, ONE, 20, 130),
            Operand.turned(DType.F8_E5M2, ROWS, 130, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e4m3_e2m1",
            Operand.of(E4M3, MX, 140, 416),
            Operand.turned(DType.F4_E2M1, MX, 416, 130)),
        new Product(
            "sm_120f",
            "gemm_block_e5m2_e2m1",
            Operand.of(DType.F8_E5M2, ROWS, 20, 71),
            Operand.turned(DType.F4_E2M1, MX, 71, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e4m3_e2m3",
            Operand.of(E4M3, MX, 140, 416),
            Operand.turned(DType.F6_E2M3, MX, 416, 130)),
        new Product(
            "sm_120f",
            "gemm_block_e4m3_e3m2",
            Operand.of(E4M3, ROWS, 20, 71),
            Operand.turned(DType.F6_E3M2, MX, 71, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e2m3_e2m3",
            Operand.of(DType.F6_E2M3, MX, 20, 70),
            Operand.turned(DType.F6_E2M3, MX, 70, 20)),
        new Product(
            "sm_120f",
            "gemm_block_e3m2_e3m2",
            Operand.of(DType.F6_E3M2, MX, 2, 20, 148),
            Operand.turned(DType.F6_E3M2, ONE, 2, 148, 20)),
        new Product(
            "sm_120f",
            "gemm_block_mxf4",
            Operand.of(DType.F4_E2M1, MX, 140, 1056),
            Operand.turned(DType.F4_E2M1, MX, 1056, 130)),
        new Product(
            "sm_120f",
            "gemm_block_mxf4",
            Operand.of(DType.F4_E2M1, MX, 20, 71),
            Operand.turned(DType.F4_E2M1, ROWS, 71, 20)),
        new Product(
            "sm_120f",
            "gemm_block_nvf4",
            Operand.of(DType.F4_E2M1, Scaling.nvfp4(), 140, 1040),
            Operand.turned(DType.F4_E2M1, Scaling.nvfp4(), 1040, 130)),
        new Product(
            "sm_120f",
            "gemm_block_nvf4",
            Operand.of(DType.F4_E2M1, Scaling.nvfp4(), 2, 20, 71),
            Operand.turned(DType.F4_E2M1, ROWS, 71, 20)),
        // Two kinds of scales are for no such kernel, nor blocks of F32 scales.
        new Product(
            "sm_120f",
            "gemm_f4_e2m1_f4_e2m1",
            Operand.of(DType.F4_E2M1, Scaling.nvfp4(), 20, 70),
            Operand.turned(DType.F4_E2M1, MX, 70, 20)),
        new Product(
            "sm_120f",
            NATIVE,
            Operand.of(E4M3, Scaling.block(1, 128), 20, 300),
            Operand.turned(E4M3, Scaling.block(128, 128), 300, 20)),
        // Few rows.
        new Product(
            "sm_80",
            SKINNY,
            Operand.of(DType.F32, NONE, 1, 70),
            Operand.turned(E4M3, ROWS, 70, 50)),
        new Product(
            "sm_80",
            SKINNY,
            Operand.of(DType.F16, NONE, 2, 9, 1100),
            Operand.turned(DType.I4, Scaling.block(1, 32), 1100, 50)),
        // [K, N]: small ones as they are, large ones turned.
        new Product(
            "sm_80",
            "gemm_any",
            Operand.of(DType.F16, NONE, 20, 70),
            Operand.of(DType.F16, NONE, 70, 20)),
        new Product(
            "sm_80",
            "gemm_f16",
            Operand.of(DType.F16, NONE, 64, 67),
            Operand.of(DType.F16, NONE, 67, 65)),
        new Product(
            "sm_80",
            "gemm_f16",
            Operand.turned(DType.F16, NONE, 3, 33, 67),
            Operand.of(DType.F16, NONE, 3, 67, 41)),
        new Product(
            "sm_80",
            "gemm_f16",
            Operand.of(DType.F16, NONE, 3, 33, 67),
            Operand.of(DType.F16, NONE, 67, 41)),
        new Product(
            "sm_80",
            SKINNY,
            Operand.of(DType.BF16, NONE, 4, 257),
            Operand.of(DType.BF16, NONE, 257, 256)),
        new Product(
            "sm_80",
            "gemm_bf16_i4",
            Operand.of(DType.BF16, NONE, 33, 101),
            Operand.of(DType.I4, ONE, 101, 81)),
        new Product(
            "sm_80",
            "gemm_bf16_f6_e3m2",
            Operand.of(DType.BF16, NONE, 33, 101),
            Operand.of(DType.F6_E3M2, COLUMNS, 101, 81)),
        new Product(
            "sm_80",
            DECODED,
            Operand.turned(E4M3, COLUMNS, 64, 67),
            Operand.of(E4M3, COLUMNS, 67, 65)),
        new Product(
            "sm_89",
            NATIVE,
            Operand.of(E4M3, Scaling.block(1, 128), 18, 300),
            Operand.of(E4M3, Scaling.block(128, 128), 300, 150)),
        new Product(
            "sm_80",
            DECODED,
            Operand.of(E4M3, Scaling.block(1, 32), 2, 18, 200),
            Operand.of(E4M3, Scaling.block(64, 32), 2, 200, 50)),
        // Scales that can't be turned, or that no kernel for tensor cores takes.
        new Product(
            "sm_80",
            "gemm_any",
            Operand.of(E4M3, ROWS, 64, 67),
            Operand.of(E4M3, Scaling.mx(), 67, 65)),
        new Product(
            "sm_80", "gemm_any", Operand.of(E4M3, ROWS, 64, 67), Operand.of(E4M3, ROWS, 67, 65)),
        new Product(
            "sm_80",
            "gemm_f32",
            Operand.of(DType.F32, NONE, 64, 67),
            Operand.of(DType.F32, NONE, 67, 65)));
  }

  @TestFactory
  Stream<DynamicTest> kernelsAreChosenByTypeScalingAndExtent() {
    return products()
        .map(product -> DynamicTest.dynamicTest(product.toString(), () -> multiply(product)));
  }

  /** What is said without a device is what runs on one, and each other kernel has its reason. */
  @TestFactory
  Stream<DynamicTest> theChoiceIsExplainedWithoutADevice() {
    return products()
        .map(product -> DynamicTest.dynamicTest(product.toString(), () -> explain(product)));
  }

  private static void explain(Product product) {
    Shape a = product.a().shape();
    Shape b = product.b().shape();
    KernelChoice choice =
        KernelChoice.of(
            Target.parse(product.device()).capability(),
            new KernelChoice.Product(
                explained(product.a()),
                explained(product.b()),
                DType.F32,
                a.batch(),
                a.rows(),
                b.columns(),
                a.columns(),
                1));
    String kernel = choice.kernel().startsWith("skinny_") ? SKINNY : choice.kernel();
    assertEquals(product.kernel(), kernel);
    Set<String> others = new HashSet<>();
    for (KernelEntry entry : KernelCatalog.load().kernels()) {
      if (entry.operation() == Operation.GEMM || entry.operation() == Operation.SKINNY) {
        others.add(entry.entry());
      }
    }
    assertTrue(others.remove(choice.kernel()));
    List<String> refused = choice.refusals().stream().map(KernelChoice.Refusal::kernel).toList();
    assertEquals(others, new HashSet<>(refused));
    assertEquals(others.size(), refused.size());
  }

  private static KernelChoice.Operand explained(Operand operand) {
    return new KernelChoice.Operand(operand.dtype(), operand.scaling(), operand.turned());
  }

  @Test
  void aProductThatReadsNoOperandHasTheKernelForAnyViews() {
    KernelChoice.Operand half = new KernelChoice.Operand(DType.F16, NONE, false);
    KernelChoice choice =
        KernelChoice.of(80, new KernelChoice.Product(half, half, DType.F32, 1, 64, 64, 64, 0));
    assertEquals("gemm_any", choice.kernel());
    assertTrue(choice.steps().getFirst().contains("alpha is 0"), choice.steps().toString());
  }

  /** FP8 tensor cores need PTX 8.4, which drivers know from CUDA 12.4 on. */
  @Test
  void aDriverThatDoesNotKnowTheNewestPtxGetsAnOlderKernel() {
    multiply(
        new Product(
            "sm_89", DECODED, Operand.of(E4M3, ROWS, 20, 40), Operand.turned(E4M3, ROWS, 40, 20)),
        SimulatedDriver.builder().device("sim:sm_89").newestPtx(8, 3).build());
  }

  /** Columns that begin inside a byte, but lie within one block; or begin with a block of 16. */
  @Test
  void partsOfRowsHaveTheirOwnScales() {
    requireProductOfColumns("gemm_block_mxf4", MX, 35, 26);
    requireProductOfColumns("gemm_block_mxf4", MX, 64, 47);
    requireProductOfColumns("gemm_block_nvf4", Scaling.nvfp4(), 16, 51);
    // Two blocks, and the first is cut.
    requireProductOfColumns("gemm_any", MX, 35, 30);
  }

  private static void requireProductOfColumns(String kernel, Scaling scaling, long from, long k) {
    Operand x = Operand.of(DType.F4_E2M1, scaling, 20, 121);
    Operand w = Operand.of(DType.F4_E2M1, scaling, 18, 121);
    try (ReferenceBackend reference = new ReferenceBackend();
        Scope exactly = reference.scope();
        SimulatedBackend simulated = new SimulatedBackend("sm_120f");
        Scope scope = simulated.backend().scope()) {
      HostTensor a = x.host(reference, 1);
      HostTensor b = w.host(reference, 2);
      HostTensor actual = scope.download(scope.gemm(columns(scope, a, b, from, k)));
      assertEquals(
          kernel,
          simulated.driver().lastLaunch().map(LaunchStatistics::kernel).orElse("no kernel"));
      HostTensor expected = exactly.download(exactly.gemm(columns(exactly, a, b, from, k)));
      Tensor left = magnitudes(exactly, exactly.upload(a)).slice(1, from, from + k);
      Tensor right = magnitudes(exactly, exactly.upload(b)).slice(1, from, from + k);
      HostTensor magnitude = exactly.download(exactly.gemm(Gemm.of(left, right.transposed())));
      requireClose(expected, magnitude, actual, k);
    }
  }

  private static Gemm columns(Operations ops, HostTensor a, HostTensor b, long from, long k) {
    Tensor left = ops.upload(a).slice(1, from, from + k);
    return Gemm.of(left, ops.upload(b).slice(1, from, from + k).transposed());
  }

  private static void multiply(Product product) {
    multiply(product, SimulatedDriver.of("sim:" + product.device()));
  }

  private static void multiply(Product product, SimulatedDriver driver) {
    try (ReferenceBackend reference = new ReferenceBackend();
        Scope exactly = reference.scope();
        SimulatedBackend simulated = new SimulatedBackend(driver);
        Scope scope = simulated.backend().scope()) {
      HostTensor a = product.a().host(reference, 1);
      HostTensor b = product.b().host(reference, 2);
      HostTensor actual =
          scope.download(scope.gemm(Gemm.of(product.a().on(scope, a), product.b().on(scope, b))));
      String last =
          simulated.driver().lastLaunch().map(LaunchStatistics::kernel).orElse("no kernel");
      assertEquals(product.kernel(), last);
      Tensor left = product.a().on(exactly, a);
      Tensor right = product.b().on(exactly, b);
      HostTensor expected = exactly.download(exactly.gemm(Gemm.of(left, right)));
      HostTensor magnitude =
          exactly.download(
              exactly.gemm(Gemm.of(magnitudes(exactly, left), magnitudes(exactly, right))));
      requireClose(expected, magnitude, actual, left.shape().columns());
    }
  }

  private static Stream<Product> roundedProducts() {
    return Stream.of(
        new Product(
            "sm_89", NATIVE, Operand.of(E4M3, ROWS, 20, 40), Operand.turned(E4M3, ROWS, 40, 20)),
        new Product(
            "sm_80",
            SKINNY,
            Operand.of(DType.BF16, NONE, 3, 70),
            Operand.turned(DType.BF16, NONE, 70, 21)),
        new Product(
            "sm_80",
            "gemm_f32",
            Operand.of(DType.F32, NONE, 2, 18, 9),
            Operand.of(DType.F32, NONE, 2, 9, 11)));
  }

  /** Without a temporary result in F32; a quarter of them is too large, some no numbers. */
  @TestFactory
  Stream<DynamicTest> resultsInE4m3AreRoundedAsTheyAreMade() {
    return roundedProducts()
        .map(product -> DynamicTest.dynamicTest(product.toString(), () -> round(product)));
  }

  private static void round(Product product) {
    try (ReferenceBackend reference = new ReferenceBackend();
        SimulatedBackend simulated = new SimulatedBackend(product.device());
        Scope scope = simulated.backend().scope()) {
      Tensor a = product.a().on(scope, product.a().host(reference, 1));
      Tensor b = product.b().on(scope, product.b().host(reference, 2));
      float[] columns = new float[(int) b.shape().columns()];
      columns[1] = Float.NaN;
      Gemm gemm =
          Gemm.of(a, b)
              .alpha((float) (400 / Math.sqrt((double) a.shape().columns())))
              .bias(scope.upload(HostTensor.of(columns)));
      Tensor amax = scope.upload(HostTensor.of(new float[] {0}));
      HostTensor rounded = scope.download(scope.gemm(gemm.output(E4M3).amax(amax)));
      assertEquals(product.kernel(), simulated.driver().lastLaunch().orElseThrow().kernel());
      Tensor exact = scope.gemm(gemm);
      assertEquals(-1, scope.download(scope.convert(exact, E4M3)).data().mismatch(rounded.data()));
      assertEquals(scope.amax(exact), scope.download(amax).get(0));
      // What is rounded otherwise, or scaled, is converted from F32.
      QuantSpec cut = QuantSpec.of(E4M3).scaling(NONE).rounding(Rounding.Mode.TOWARD_ZERO);
      HostTensor other = scope.download(scope.gemm(gemm.output(cut)));
      assertEquals(-1, scope.download(scope.quantize(exact, cut)).data().mismatch(other.data()));
    }
  }

  private static Tensor magnitudes(Operations ops, Tensor x) {
    HostTensor values = ops.download(ops.dequantize(x, DType.F32));
    float[] magnitudes = new float[(int) values.shape().elements()];
    for (int i = 0; i < magnitudes.length; i++) {
      magnitudes[i] = Math.abs(values.get(i));
    }
    return ops.upload(HostTensor.of(magnitudes, values.shape().dims()));
  }

  /**
   * Within the bound of F32, which the simulator keeps, for it adds exactly; and a rounding more,
   * the reference's own.
   */
  private static void requireClose(
      HostTensor expected, HostTensor magnitude, HostTensor actual, long k) {
    assertEquals(expected.shape(), actual.shape());
    for (int i = 0; i < expected.shape().elements(); i++) {
      double bound = ErrorBounds.accumulation(k + 1, magnitude.get(i));
      double error = Math.abs((double) expected.get(i) - actual.get(i));
      assertTrue(error <= bound, "element " + i + " is off by " + error);
    }
  }

  /** The bits of a product don't depend on what else the device does. */
  @Test
  void sharesOfTheDepthAreAddedInAFixedOrder() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_80");
        ReferenceBackend reference = new ReferenceBackend();
        Scope scope = simulated.backend().scope()) {
      Operand x = Operand.of(DType.BF16, NONE, 1, 2100);
      Operand w = Operand.turned(DType.BF16, NONE, 2100, 33);
      Tensor a = x.on(scope, x.host(reference, 1));
      Tensor b = w.on(scope, w.host(reference, 2));
      HostTensor first = scope.download(scope.gemm(Gemm.of(a, b)));
      for (int i = 0; i < 3; i++) {
        HostTensor again = scope.download(scope.gemm(Gemm.of(a, b)));
        assertEquals(-1, first.data().mismatch(again.data()));
      }
    }
  }
}
