package dev.minifloat.cli.kernels;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.sim.LaunchStatistics;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import dev.minifloat.reference.ReferenceBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts what a product's kernel does: one tile is multiplied twice on a simulated device, and what
 * the longer product does more is the loop's.
 */
public final class KernelMeter implements AutoCloseable {
  private static final int SHORT = 512;

  /** Tiles of K that the longer product has more: a whole turn of every kernel's stages. */
  private static final int TILES_MORE = 4;

  private static final int BLOCK = 128;
  private static final String PRODUCTS = "MATRIX_MULTIPLY";
  private static final Pattern MMA =
      Pattern.compile(
          "\\bmma\\.sync\\.aligned\\.m\\d+n\\d+k\\d+\\.row\\.col(?:\\.\\w+)*?\\.\\w+\\.(\\w+)\\.\\w+\\.\\w+"
              + " |\\bwgmma\\.mma_async\\.sync\\.aligned\\.m\\d+n\\d+k\\d+\\.f32\\.(\\w+)\\.\\w+ "
              + "|\\btcgen05\\.mma\\.cta_group::\\d\\.kind::(\\w+)");

  private final KernelCatalog catalog;
  private final SimulatedDriver driver;
  private final Backend backend;

  /** How operands are scaled. */
  public enum Scales {
    /** Not at all. */
    NONE("none"),
    /** 1 × 128 of A, 128 × 128 of B, where elements can be scaled so. */
    BLOCKS("128"),
    /** Blocks of MX in both, by tensor cores that multiply them in. */
    MX("mx"),
    /** The same of NVFP4. */
    NVFP4("nvfp4");

    private final String title;

    Scales(String title) {
      this.title = title;
    }

    /** Of an operand whose blocks have so many rows. */
    private Scaling of(int rows) {
      return switch (this) {
        case NONE -> Scaling.none();
        case BLOCKS -> Scaling.block(rows, BLOCK);
        case MX -> Scaling.mx();
        case NVFP4 -> Scaling.nvfp4();
      };
    }

    @Override
    public String toString() {
      return title;
    }
  }

  /**
   * A meter on a simulated device.
   *
   * @param kind such as {@code sm_89}
   */
  public KernelMeter(KernelCatalog catalog, String kind) {
    this.catalog = catalog;
    driver = SimulatedDriver.of(kind);
    backend = CudaBackend.on("meter", driver.lookup(), 0);
  }

  /**
   * The kernels that it can count, in the catalog's order: products whose warps multiply matrices
   * of their registers, or whose warpgroups or tensor cores those of shared memory, compiled for
   * exactly this target.
   */
  public List<KernelEntry> kernels(int capability) {
    return catalog.kernels().stream()
        .filter(kernel -> kernel.operation() == Operation.GEMM && kernel.dynamicShared() > 0)
        .filter(kernel -> kernel.file().target().capability() == capability)
        .filter(kernel -> rate(kernel).isPresent())
        .toList();
  }

  /** Whether a kernel takes such scales. */
  public static boolean takes(KernelEntry kernel, Scales scales) {
    List<String> taken = kernel.scalings();
    // Older kernels decode such blocks, as they do others.
    boolean multipliesBlocks =
        kernel.file().target().capability() >= 100
            && (taken.contains("mx") || taken.contains("nvfp4"));
    return switch (scales) {
      case NONE -> !multipliesBlocks;
      case BLOCKS -> taken.contains("block");
      case MX -> multipliesBlocks && taken.contains("mx");
      case NVFP4 -> multipliesBlocks && taken.contains("nvfp4");
    };
  }

  /**
   * Counts.
   *
   * @throws IllegalStateException if the device gives the product another kernel
   */
  public LoopFigures measure(KernelEntry kernel, Scales scales) {
    LaunchStatistics shorter = multiply(kernel, scales, SHORT);
    int depth = TILES_MORE * kernel.tile().get(2);
    LaunchStatistics longer = multiply(kernel, scales, SHORT + depth);
    Map<String, Long> others = new LinkedHashMap<>();
    longer
        .byClass()
        .forEach((name, count) -> others.put(name, count - shorter.byClass().get(name)));
    long products = others.remove(PRODUCTS);
    others.values().removeIf(count -> count == 0);
    long all = longer.instructions() - shorter.instructions();
    long conflicts = longer.bankConflicts() - shorter.bankConflicts();
    return new LoopFigures(
        kernel,
        scales.toString(),
        rate(kernel).orElseThrow(),
        depth,
        products,
        others,
        conflicts,
        longer.globalBytesRead() - shorter.globalBytesRead(),
        leastBytes(kernel, scales, depth),
        shared(longer) - shared(shorter),
        shorter.instructions() - all * SHORT / depth,
        shorter.bankConflicts() - conflicts * SHORT / depth);
  }

  private static long shared(LaunchStatistics statistics) {
    return statistics.sharedBytesRead() + statistics.sharedBytesWritten();
  }

  private LaunchStatistics multiply(KernelEntry kernel, Scales scales, int k) {
    int m = kernel.tile().get(0);
    int n = kernel.tile().get(1);
    DType a = DType.valueOf(kernel.a().getFirst());
    DType b = DType.valueOf(kernel.b().getFirst());
    try (Scope scope = backend.scope()) {
      Tensor left = operand(scope, a, scales.of(1), m, k);
      Tensor right = operand(scope, b, scales.of(BLOCK), n, k);
      scope.gemm(Gemm.of(left, right.transposed()));
      backend.synchronize();
    }
    LaunchStatistics last = driver.lastLaunch().orElseThrow();
    if (!last.kernel().equals(kernel.entry())) {
      throw new IllegalStateException(
          "the product was given %s, not %s".formatted(last.kernel(), kernel.entry()));
    }
    return last;
  }

  /** Ones: what is counted doesn't depend on them. */
  private static Tensor operand(Scope on, DType dtype, Scaling scaling, int rows, int columns) {
    float[] ones = new float[rows * columns];
    Arrays.fill(ones, 1);
    boolean scaled = !(scaling instanceof Scaling.None) && scaling.isValidFor(dtype);
    try (ReferenceBackend reference = new ReferenceBackend();
        Scope scope = reference.scope()) {
      Tensor x = scope.upload(HostTensor.of(ones, rows, columns));
      Tensor made =
          scaled
              ? scope.quantize(x, QuantSpec.of(dtype).scaling(scaling))
              : scope.convert(x, dtype);
      return on.upload(scope.download(made));
    }
  }

  private static long leastBytes(KernelEntry kernel, Scales scales, long depth) {
    int m = kernel.tile().get(0);
    int n = kernel.tile().get(1);
    DType a = DType.valueOf(kernel.a().getFirst());
    DType b = DType.valueOf(kernel.b().getFirst());
    long bytes = a.byteSize(m * depth) + b.byteSize(n * depth);
    if (scales == Scales.BLOCKS) {
      long blocks = depth / BLOCK;
      bytes += a.bits() <= 8 ? m * blocks * Float.BYTES : 0;
      bytes += b.bits() <= 8 ? Math.ceilDiv(n, BLOCK) * blocks * Float.BYTES : 0;
    } else if (scales != Scales.NONE) {
      bytes += (m + n) * depth / (scales == Scales.MX ? Scaling.Mx.BLOCK : Scaling.NvFp4.BLOCK);
    }
    return bytes;
  }

  /** What a kernel's first mma multiplies; empty if it has none, or one of another kind. */
  private Optional<Card.Rate> rate(KernelEntry kernel) {
    String text;
    try {
      text = new String(catalog.open(kernel.file()), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int from = text.indexOf(".entry " + kernel.entry() + "(");
    int to = text.indexOf(".entry ", from + 1);
    Matcher mma = MMA.matcher(text).region(from, to < 0 ? text.length() : to);
    return mma.find()
        ? switch (mma.group(1) != null
            ? mma.group(1)
            : mma.group(2) != null ? mma.group(2) : mma.group(3)) {
          case "f16", "bf16" -> Optional.of(Card.Rate.HALF);
          case "e4m3", "e5m2", "f8f6f4", "mxf8f6f4" -> Optional.of(Card.Rate.EIGHT);
          case "mxf4", "mxf4nvf4" -> Optional.of(Card.Rate.FOUR);
          case "s8" -> Optional.of(Card.Rate.INTEGER);
          default -> Optional.empty();
        }
        : Optional.empty();
  }

  @Override
  public void close() {
    backend.close();
    driver.close();
  }
}
