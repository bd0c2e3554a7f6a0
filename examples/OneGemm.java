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
import dev.minifloat.reference.ReferenceBackend;
import java.util.Random;
import java.util.TreeMap;

/** One product of E4M3 matrices on a simulated GPU, and what its kernel did there. */
public class OneGemm {
  private static final int M = 100;
  private static final int N = 72;
  private static final int K = 256;

  private static final float[] A = random(M * K, 1);
  private static final float[] B = random(N * K, 2);

  public static void main(String[] args) {
    try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_89");
        Backend gpu = CudaBackend.on("cuda-sim", driver.lookup(), 0);
        Backend oracle = new ReferenceBackend()) {
      float[] actual = product(gpu);
      LaunchStatistics did = driver.lastLaunch().orElseThrow();
      float[] expected = product(oracle);
      double largest = 0;
      for (int i = 0; i < expected.length; i++) {
        largest = Math.max(largest, Math.abs((double) actual[i] - expected[i]));
      }
      System.out.println("largest difference from the reference: " + largest);
      System.out.println("kernel: " + did.kernel());
      System.out.println("instructions of warps: " + new TreeMap<>(did.byClass()));
      System.out.println("mma.sync: " + did.matrixMultiplies());
      System.out.println("bank conflicts: " + did.bankConflicts());
    }
  }

  /** A · Bᵀ in FP8, a scale for each row of both. */
  private static float[] product(Backend backend) {
    QuantSpec fp8 = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
    try (Scope scope = backend.scope()) {
      Tensor a = scope.quantize(scope.upload(HostTensor.of(A, M, K)), fp8);
      Tensor b = scope.quantize(scope.upload(HostTensor.of(B, N, K)), fp8);
      return scope.download(scope.gemm(Gemm.of(a, b.transposed()))).toFloats();
    }
  }

  private static float[] random(int count, long seed) {
    Random random = new Random(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
