package dev.minifloat.cli.convert;

import dev.minifloat.DType;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import java.util.Locale;
import java.util.Optional;

/** What a tensor would be like in one format. */
public final class FormatStats {
  private final QuantSpec spec;
  private final ErrorStats errors = new ErrorStats();
  private long zeros;
  private long subnormals;
  private Block worst;

  /**
   * The block whose values suffer most.
   *
   * @param firstRow its first row, counted through all matrices
   * @param firstColumn its first column
   * @param rows its rows
   * @param columns its columns
   * @param sqnr signal to quantization noise in dB
   */
  public record Block(long firstRow, long firstColumn, long rows, long columns, double sqnr) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%s, %s: %.2f dB",
          range("row", firstRow, rows),
          range("column", firstColumn, columns),
          sqnr);
    }

    private static String range(String what, long first, long count) {
      return count == 1
          ? what + " " + first
          : "%ss %d-%d".formatted(what, first, first + count - 1);
    }
  }

  FormatStats(QuantSpec spec) {
    this.spec = spec;
  }

  void add(ChunkQuantizer.Result result, long firstRow, long columns, boolean blocks) {
    errors.add(result.before(), result.after());
    Saturation.count(errors, spec, columns, result);
    countCodes(result, columns);
    if (blocks && hasBlocks()) {
      findWorst(result, firstRow, columns);
    }
  }

  private boolean hasBlocks() {
    return switch (spec.scaling()) {
      case Scaling.Rows _, Scaling.Block _, Scaling.Mx _, Scaling.NvFp4 _ -> true;
      case Scaling.None _, Scaling.PerTensor _, Scaling.Columns _ -> false;
    };
  }

  private void countCodes(ChunkQuantizer.Result result, long columns) {
    DType dtype = spec.dtype();
    int magnitudeMask = dtype.codeMask() >>> 1;
    // Below the first code with an exponent lie the subnormals; integers have none.
    int firstNormal = dtype.isInteger() ? 1 : 1 << dtype.mantissaBits();
    for (long i = 0; i < result.rows() * columns; i++) {
      int code = PackedElements.get(dtype, result.data(), i);
      int magnitude = dtype.isInteger() ? code : code & magnitudeMask;
      if (magnitude == 0) {
        zeros++;
      } else if (magnitude > 0 && magnitude < firstNormal) {
        subnormals++;
      }
    }
  }

  private void findWorst(ChunkQuantizer.Result result, long firstRow, long columns) {
    ScaleGrid grid = spec.scaling().grid(Shape.of(result.rows(), columns));
    double[] signal = new double[Math.toIntExact(grid.scales())];
    double[] noise = new double[signal.length];
    for (long row = 0; row < result.rows(); row++) {
      for (long column = 0; column < columns; column++) {
        long at = 4 * (row * columns + column);
        double x = result.before().get(PackedElements.FLOAT, at);
        double d = x - result.after().get(PackedElements.FLOAT, at);
        int block = (int) grid.index(0, row, column);
        signal[block] += x * x;
        noise[block] += d * d;
      }
    }
    for (int block = 0; block < signal.length; block++) {
      double sqnr = 10 * Math.log10(signal[block] / noise[block]);
      if (signal[block] > 0 && (worst == null || sqnr < worst.sqnr)) {
        worst = block(grid, block, firstRow, sqnr);
      }
    }
  }

  private static Block block(ScaleGrid grid, int index, long firstRow, double sqnr) {
    long row = index / grid.gridColumns() * grid.blockRows();
    long column = index % grid.gridColumns() * grid.blockColumns();
    return new Block(
        firstRow + row,
        column,
        Math.min(grid.blockRows(), grid.rows() - row),
        Math.min(grid.blockColumns(), grid.columns() - column),
        sqnr);
  }

  void add(FormatStats other) {
    errors.add(other.errors);
    zeros += other.zeros;
    subnormals += other.subnormals;
    if (other.worst != null && (worst == null || other.worst.sqnr < worst.sqnr)) {
      worst = other.worst;
    }
  }

  /** The format. */
  public QuantSpec spec() {
    return spec;
  }

  /** Errors, values flushed to zero, values that saturate. */
  public ErrorStats errors() {
    return errors;
  }

  /** Elements that are zero in this format, in percent. */
  public double zeroPercent() {
    return percent(zeros);
  }

  /** Elements that are subnormal in this format, in percent. */
  public double subnormalPercent() {
    return percent(subnormals);
  }

  private double percent(long count) {
    return errors.elements() == 0 ? 0 : 100.0 * count / errors.elements();
  }

  /** The block with the lowest SQNR; empty without blocks, or if it was not looked for. */
  public Optional<Block> worst() {
    return Optional.ofNullable(worst);
  }
}
