package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;

/** A format of numbers, with the scales that go with it in weights and vectors. */
public enum Format {
  /** IEEE binary32. */
  F32(DType.F32, Scaling.none()),
  /** IEEE binary16. */
  F16(DType.F16, Scaling.none()),
  /** bfloat16. */
  BF16(DType.BF16, Scaling.none()),
  /** OCP E4M3, a scale for each row. */
  E4M3(DType.F8_E4M3, Scaling.rows()),
  /** OCP E5M2, a scale for each row. */
  E5M2(DType.F8_E5M2, Scaling.rows()),
  /** Eight-bit integers, a scale for each row. */
  I8(DType.I8, Scaling.rows()),
  /** E2M1, a power of two for each 32 elements. */
  MXFP4(DType.F4_E2M1, Scaling.mx()),
  /** E2M1, an E4M3 scale for each 16 elements and one F32 scale. */
  NVFP4(DType.F4_E2M1, Scaling.nvfp4());

  private final DType dtype;
  private final Scaling scaling;

  Format(DType dtype, Scaling scaling) {
    this.dtype = dtype;
    this.scaling = scaling;
  }

  /** The element type. */
  public DType dtype() {
    return dtype;
  }

  /** The scales of a matrix of weights; a vector is one row. */
  public Scaling scaling() {
    return scaling;
  }

  /** How F32 values become this format: nearest-even, saturating below 16 bits. */
  public QuantSpec spec() {
    return QuantSpec.of(dtype).scaling(scaling);
  }

  /** As {@link #spec}, for the operands of a dot product: only I8 and blocks have scales there. */
  public QuantSpec vectorSpec() {
    return switch (this) {
      case E4M3, E5M2 -> QuantSpec.of(dtype).scaling(Scaling.none());
      case I8 -> QuantSpec.of(dtype).scaling(Scaling.tensor());
      case F32, F16, BF16, MXFP4, NVFP4 -> spec();
    };
  }

  /** Bytes of {@code rows} × {@code columns} elements with their scales. */
  public long bytes(long rows, long columns) {
    long scales = scaling.grid(Shape.of(rows, columns)).scales();
    return dtype.byteSize(rows * columns) + scaling.scaleDType().byteSize(scales);
  }
}
