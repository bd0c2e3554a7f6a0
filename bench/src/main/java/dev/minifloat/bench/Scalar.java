package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.cpu.VectorBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Plain Java on arrays, the peer that is always there: one thread, no Vector API. */
public final class Scalar implements Peer {
  /** What tables call it. */
  public static final String NAME = "scalar Java";

  /** What would take longer than this many operations is left out. */
  private static final double MOST_OPERATIONS = 3e7;

  private final VectorBackend quantizer = VectorBackend.threads(1);

  /** Makes the peer. */
  public Scalar() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String variant() {
    return "Java " + Runtime.version().feature() + ", arrays and tables";
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    if (workload.threads() != 1) {
      return Optional.empty();
    }
    return switch (workload) {
      case Workload.Dot dot when dot.n() % 32 == 0 -> Optional.of(dot(dot));
      case Workload.Gemv gemv
          when gemv.k() % 32 == 0 && 2.0 * gemv.rows() * gemv.k() <= MOST_OPERATIONS ->
          Optional.of(gemv(gemv));
      case Workload.Gemm gemm
          when gemm.type() == Format.F32 && gemm.k() % 32 == 0 && gemm.work() <= MOST_OPERATIONS ->
          Optional.of(gemm(gemm));
      case Workload.Convert convert
          when convert.rounding().equals(Rounding.NEAREST_EVEN) && isHalf(convert) ->
          Optional.of(new ScalarConversion(convert));
      case Workload.Dequantize dequantize when dequantize.from().dtype().bits() == 8 ->
          Optional.of(dequantize(dequantize));
      case Workload.Norm norm -> ScalarRows.of(norm);
      case Workload.Dot _,
          Workload.Gemv _,
          Workload.Gemm _,
          Workload.Convert _,
          Workload.Quantize _,
          Workload.Dequantize _,
          Workload.Encode _,
          Workload.FfmCall _ ->
          Optional.empty();
    };
  }

  private static boolean isHalf(Workload.Convert work) {
    return (isHalf(work.from()) && work.to() == DType.F32)
        || (work.from() == DType.F32 && isHalf(work.to()));
  }

  private static boolean isHalf(DType dtype) {
    return dtype == DType.F16 || dtype == DType.BF16;
  }

  @Override
  public void close() {
    quantizer.close();
  }

  /** A quantized matrix in arrays: only that of its type's width is there. */
  private static final class Matrix {
    private float[] floats;
    private short[] halves;
    private byte[] bytes;
    private float[] table;
    private float[] scales;
    private int block;
  }

  private Matrix matrix(Values values, QuantSpec spec) {
    try (Arena arena = Arena.ofShared()) {
      HostTensor host = Inputs.host(quantizer, values, spec, arena);
      DType dtype = spec.dtype();
      Matrix matrix = new Matrix();
      switch (dtype.bits()) {
        case 32 -> matrix.floats = host.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
        case 16 -> matrix.halves = host.data().toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
        default -> {
          matrix.bytes = host.data().toArray(ValueLayout.JAVA_BYTE);
          matrix.table = Inputs.decodeTable(dtype);
        }
      }
      matrix.block = block(spec.scaling(), values);
      matrix.scales = new float[values.rows() * values.columns() / matrix.block];
      for (int i = 0; i < matrix.scales.length; i++) {
        matrix.scales[i] = host.scale((long) i * matrix.block);
      }
      return matrix;
    }
  }

  private static int block(Scaling scaling, Values values) {
    return switch (scaling) {
      case Scaling.Mx _ -> Scaling.Mx.BLOCK;
      case Scaling.NvFp4 _ -> Scaling.NvFp4.BLOCK;
      case Scaling.Block block -> block.columns();
      case Scaling.None _, Scaling.Rows _, Scaling.PerTensor _, Scaling.Columns _ ->
          values.columns();
    };
  }

  /** A scalar function that fills its output. */
  private static final class Loop implements Contestant {
    private final Runnable body;
    private final float[] out;

    Loop(float[] out, Runnable body) {
      this.out = out;
      this.body = body;
    }

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public void run() {
      body.run();
    }

    @Override
    public float[] result() {
      return out.clone();
    }

    @Override
    public void close() {}
  }

  private Contestant dot(Workload.Dot work) {
    Matrix a = matrix(work.a(), work.type().vectorSpec());
    Matrix b = matrix(work.b(), work.type().vectorSpec());
    int n = work.n();
    float[] out = new float[1];
    float[] table = a.table;
    return new Loop(
        out,
        switch (work.type()) {
          case F32 -> () -> out[0] = ScalarLoops.f32(a.floats, 0, b.floats, 0, n);
          case F16 -> () -> out[0] = ScalarLoops.f16(a.halves, b.halves, n);
          case BF16 -> () -> out[0] = ScalarLoops.bf16(a.halves, b.halves, n);
          case E4M3, E5M2 -> () -> out[0] = ScalarLoops.table8(a.bytes, b.bytes, table, n);
          case I8 -> {
            float scale = a.scales[0] * b.scales[0];
            yield () -> out[0] = scale * ScalarLoops.table8(a.bytes, b.bytes, table, n);
          }
          case MXFP4, NVFP4 ->
              () ->
                  out[0] =
                      ScalarLoops.table4(a.bytes, a.scales, b.bytes, b.scales, a.block, table, n);
        });
  }

  private interface RowProduct {
    float of(int row);
  }

  private Contestant gemv(Workload.Gemv work) {
    Matrix w = matrix(work.w(), work.weights().spec());
    float[] x = work.x().distinct();
    float[] out = new float[work.rows()];
    int k = work.k();
    RowProduct product =
        switch (work.weights()) {
          case F32 -> row -> ScalarLoops.f32(x, 0, w.floats, row * k, k);
          case F16 -> row -> ScalarLoops.f32F16(x, w.halves, row * k, k);
          case BF16 -> row -> ScalarLoops.f32Bf16(x, w.halves, row * k, k);
          case E4M3, E5M2, I8 ->
              row -> w.scales[row] * ScalarLoops.f32Table8(x, w.bytes, row * k, w.table, k);
          case MXFP4, NVFP4 ->
              row -> ScalarLoops.f32Table4(x, w.bytes, w.scales, row * k, w.block, w.table, k);
        };
    return new Loop(
        out,
        () -> {
          for (int row = 0; row < out.length; row++) {
            out[row] = product.of(row);
          }
        });
  }

  private static Contestant gemm(Workload.Gemm work) {
    float[] a = work.a().distinct();
    float[] b = work.b().distinct();
    float[] out = new float[work.m() * work.n()];
    int k = work.k();
    return new Loop(
        out,
        () -> {
          for (int i = 0; i < out.length; i++) {
            out[i] = ScalarLoops.f32(a, i / work.n() * k, b, i % work.n() * k, k);
          }
        });
  }

  private Contestant dequantize(Workload.Dequantize work) {
    Matrix x = matrix(work.x(), work.from().spec());
    float[] out = new float[work.rows() * work.columns()];
    return new Loop(
        out,
        () -> {
          for (int row = 0; row < work.rows(); row++) {
            float scale = x.scales[row];
            for (int i = row * work.columns(); i < (row + 1) * work.columns(); i++) {
              out[i] = scale * x.table[x.bytes[i] & 0xff];
            }
          }
        });
  }
}
