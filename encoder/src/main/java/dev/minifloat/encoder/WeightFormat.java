package dev.minifloat.encoder;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import java.util.List;
import java.util.Objects;

/**
 * In which format an encoder keeps its weights. Biases and the vectors of the normalizations stay
 * in F32 whatever the format.
 *
 * @param name what tables and charts call it
 * @param linear format, scaling and rounding of the linear layers' matrices, which lie as [out, in]
 *     so that blocks of a row run along the sum of a product
 * @param tables format, scaling and rounding of the word, position and token-type tables
 */
public record WeightFormat(String name, QuantSpec linear, QuantSpec tables) {
  /** Everything as IEEE binary32. */
  public static final WeightFormat F32 = everywhere("F32", DType.F32);

  /** Matrices and tables as IEEE binary16. */
  public static final WeightFormat F16 = everywhere("F16", DType.F16);

  /** Matrices and tables as bfloat16. */
  public static final WeightFormat BF16 = everywhere("BF16", DType.BF16);

  /** Matrices as E4M3 with one scale each. */
  public static final WeightFormat F8_TENSOR =
      linear("F8_E4M3 tensor", DType.F8_E4M3, Scaling.tensor());

  /** Matrices as E4M3 with a scale for each output. */
  public static final WeightFormat F8_ROWS = linear("F8_E4M3 rows", DType.F8_E4M3, Scaling.rows());

  /** Matrices as E4M3 with a scale for each 128 × 128 block. */
  public static final WeightFormat F8_BLOCKS =
      linear("F8_E4M3 128×128", DType.F8_E4M3, Scaling.block(128, 128));

  /** Matrices as E4M3 with a power of two for each 32 elements. */
  public static final WeightFormat MXFP8 = linear("MXFP8 E4M3", DType.F8_E4M3, Scaling.mx());

  /** Matrices as E2M1 with a power of two for each 32 elements. */
  public static final WeightFormat MXFP4 = linear("MXFP4", DType.F4_E2M1, Scaling.mx());

  /** Matrices as E2M1 with an E4M3 scale for each 16 elements and one F32 scale. */
  public static final WeightFormat NVFP4 = linear("NVFP4", DType.F4_E2M1, Scaling.nvfp4());

  /** Checks that nothing is null. */
  public WeightFormat {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(linear, "linear");
    Objects.requireNonNull(tables, "tables");
  }

  /** Matrices and tables in one unscaled type. */
  public static WeightFormat everywhere(String name, DType dtype) {
    QuantSpec spec = QuantSpec.of(dtype).scaling(Scaling.none());
    return new WeightFormat(name, spec, spec);
  }

  /** Matrices in a format, tables in F32. */
  public static WeightFormat linear(String name, DType dtype, Scaling scaling) {
    return new WeightFormat(name, QuantSpec.of(dtype).scaling(scaling), QuantSpec.of(DType.F32));
  }

  /** The formats above, from the widest to the narrowest. */
  public static List<WeightFormat> all() {
    return List.of(F32, F16, BF16, F8_TENSOR, F8_ROWS, F8_BLOCKS, MXFP8, MXFP4, NVFP4);
  }

  /** The same with other tables. */
  public WeightFormat tables(QuantSpec tables) {
    return new WeightFormat(name, linear, tables);
  }
}
