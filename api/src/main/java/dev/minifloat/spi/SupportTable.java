package dev.minifloat.spi;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import java.util.List;
import java.util.stream.Collectors;

/** Which operations take which formats and scalings. */
public final class SupportTable {
  /** One scaling of each kind, as the published table lists them. */
  public static final List<Scaling> SCALINGS =
      List.of(
          Scaling.none(),
          Scaling.tensor(),
          Scaling.rows(),
          Scaling.columns(),
          Scaling.block(128, 128),
          Scaling.mx(),
          Scaling.nvfp4());

  private SupportTable() {}

  /**
   * What a complete backend supports: conversions of everything; quantization to every scaling that
   * a format has; products of every format but E8M0 and I32; attention to keys in floats and FP8;
   * the rest on floats.
   */
  public static boolean standard(Op op, DType dtype, Scaling scaling) {
    if (!scaling.isValidFor(dtype)) {
      return false;
    }
    return switch (op) {
      case UPLOAD, DOWNLOAD, COPY, DEQUANTIZE, AMAX -> true;
      case CONVERT -> scaling instanceof Scaling.None;
      case QUANTIZE -> !(scaling instanceof Scaling.None) || dtype != DType.I32;
      case DOT, GEMV, GEMM, EMBEDDING -> dtype != DType.F8_E8M0 && dtype != DType.I32;
      case ATTENTION -> isCacheFormat(dtype, scaling);
      case ADD, ACTIVATION, SOFTMAX, LAYER_NORM, RMS_NORM, ROPE, POOL, L2_NORMALIZE ->
          Checks.isFloatType(dtype) && scaling instanceof Scaling.None;
    };
  }

  /** What keys and values are kept in: floats, or FP8 with at most a scale for each row. */
  private static boolean isCacheFormat(DType dtype, Scaling scaling) {
    return switch (scaling) {
      case Scaling.None _ ->
          Checks.isFloatType(dtype) || dtype == DType.F8_E4M3 || dtype == DType.F8_E5M2;
      case Scaling.PerTensor _, Scaling.Rows _ -> dtype == DType.F8_E4M3 || dtype == DType.F8_E5M2;
      case Scaling.Columns _, Scaling.Block _, Scaling.Mx _, Scaling.NvFp4 _ -> false;
    };
  }

  /**
   * The table of a backend in Markdown: a row for each format and scaling it has, a column for each
   * operation.
   */
  public static String markdown(Backend backend) {
    StringBuilder table = new StringBuilder("| format | scaling |");
    for (Op op : Op.values()) {
      table.append(' ').append(op).append(" |");
    }
    table.append("\n|---|---|").append("---|".repeat(Op.values().length)).append('\n');
    for (DType dtype : DType.values()) {
      for (Scaling scaling : SCALINGS) {
        if (scaling.isValidFor(dtype)) {
          table.append(row(backend, dtype, scaling)).append('\n');
        }
      }
    }
    return table.toString();
  }

  private static String row(Backend backend, DType dtype, Scaling scaling) {
    return List.of(Op.values()).stream()
        .map(op -> backend.supports(op, dtype, scaling) ? "yes" : "–")
        .collect(Collectors.joining(" | ", "| " + dtype + " | " + scaling + " | ", " |"));
  }
}
