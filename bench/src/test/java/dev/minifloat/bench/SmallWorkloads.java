package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import java.util.ArrayList;
import java.util.List;

/** Every kind of workload, small. */
public final class SmallWorkloads {
  private SmallWorkloads() {}

  /** All that kernels do, on one thread and on two. */
  public static List<Workload> all() {
    List<Workload> all = new ArrayList<>();
    for (Format format : Format.values()) {
      all.add(new Workload.Dot(format, 256));
      all.add(new Workload.Dot(format, 1056));
      for (int threads = 1; threads <= 2; threads++) {
        all.add(new Workload.Gemv(format, 300, 160, threads));
        all.add(new Workload.Gemm(format, 1, 33, 96, threads));
        all.add(new Workload.Gemm(format, 40, 70, 96, threads));
      }
    }
    for (int threads = 1; threads <= 2; threads++) {
      for (Format format :
          List.of(Format.E4M3, Format.E5M2, Format.I8, Format.MXFP4, Format.NVFP4)) {
        all.add(new Workload.Quantize(format, 70, 96, threads));
        all.add(new Workload.Dequantize(format, 70, 96, threads));
      }
      for (DType type : List.of(DType.BF16, DType.F16, DType.F8_E4M3)) {
        all.add(new Workload.Convert(DType.F32, type, Rounding.NEAREST_EVEN, 8192, threads));
        all.add(new Workload.Convert(DType.F32, type, Rounding.stochastic(1), 8192, threads));
        all.add(new Workload.Convert(type, DType.F32, Rounding.NEAREST_EVEN, 8192, threads));
      }
      for (Workload.Function function : Workload.Function.values()) {
        all.add(new Workload.Norm(function, 9, 100, threads));
      }
    }
    for (Workload.Call call : Workload.Call.values()) {
      all.add(new Workload.FfmCall(call));
    }
    return all;
  }
}
