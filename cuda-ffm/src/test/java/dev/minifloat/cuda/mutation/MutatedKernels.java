package dev.minifloat.cuda.mutation;

import java.util.List;
import java.util.stream.Stream;

/** Of each kind of kernel one or more, and how many mutants of each operator. */
final class MutatedKernels {
  private static final long SEED = 20_261_130;

  /** The kernels of {@link Probes#sample}. */
  private static final List<String> SAMPLE =
      List.of(
          "transpose_b16",
          "quantize_f4_e2m1",
          "softmax_short_f32",
          "gemm_bf16_f4_e2m1",
          "gemm_f8_native_e4m3_e4m3",
          "gemm_block_mxf4",
          "skinny_1_i4");

  private MutatedKernels() {}

  /** A kernel and how many mutants of each operator it gets. */
  private record Entry(String kernel, int each) {}

  private static List<Entry> kernels() {
    Stream<Entry> large =
        Stream.of(
                "gemm_any",
                "gemm_f32",
                "gemm_f16",
                "gemm_bf16",
                "gemm_f8_e4m3_f8_e4m3",
                "gemm_f8_native_e4m3_e4m3",
                "gemm_f4_e2m1_f4_e2m1",
                "gemm_bf16_f4_e2m1",
                "gemm_f16_f6_e3m2",
                "gemm_f16_i4",
                "gemm_i8",
                "gemm_block_e4m3_e4m3",
                "gemm_block_e4m3_e2m1",
                "gemm_block_e2m3_e2m3",
                "gemm_block_mxf4",
                "gemm_block_nvf4",
                "gemm_hopper_e4m3_e4m3",
                "gemm_hopper_e5m2_e4m3",
                "gemm_hopper_bf16",
                "gemm_blackwell_e4m3_e4m3",
                "gemm_blackwell_bf16",
                "gemm_blackwell_mx_e4m3_e5m2",
                "gemm_blackwell_nvf4",
                "skinny_1_f16",
                "skinny_8_f4_e2m1",
                "skinny_1_i4")
            .map(kernel -> new Entry(kernel, 2));
    Stream<Entry> small =
        Stream.of(
                "skinny_sum",
                "copy_b4",
                "copy_b16",
                "transpose_b16",
                "convert_f8_e4m3",
                "convert_f16",
                "dequantize_f16",
                "embedding_bf16",
                "amax_blocks",
                "scales_f32",
                "scales_mx",
                "scales_nvfp4_global",
                "scales_nvfp4",
                "quantize_f8_e4m3",
                "quantize_f4_e2m1",
                "quantize_i4",
                "add_f32",
                "activation_f32",
                "rope_f32",
                "softmax_short_f32",
                "softmax_long_f16",
                "layer_norm_short_bf16",
                "layer_norm_long_f32",
                "rms_norm_long_f32",
                "l2_normalize_short_f32",
                "mean_pool_f32",
                "attention_any",
                "dot_partial",
                "dot_sum",
                "gemv_any",
                "gemv_any_transposed")
            .map(kernel -> new Entry(kernel, 1));
    return Stream.concat(large, small).toList();
  }

  /** All mutants; always the same ones for the same PTX. */
  static List<Mutant> all(KernelTexts texts) {
    Mutants mutants = new Mutants(texts, SEED);
    return kernels().stream()
        .flatMap(entry -> mutants.of(entry.kernel(), entry.each()).stream())
        .toList();
  }

  /** One of each operator for each of {@link #SAMPLE}, which are among {@link #all}. */
  static List<Mutant> sample(KernelTexts texts) {
    Mutants mutants = new Mutants(texts, SEED);
    return SAMPLE.stream().flatMap(kernel -> mutants.of(kernel, 1).stream()).toList();
  }
}
