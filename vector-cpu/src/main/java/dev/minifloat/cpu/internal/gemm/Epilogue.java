package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.cpu.internal.convert.Encoders;
import dev.minifloat.cpu.internal.math.Activations;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The last step of a product: activation(alpha · sum + beta · C + bias), rounded to the output's
 * type as it is stored.
 *
 * <p>It works on runs of one row that have just been summed and are still in a near cache.
 * Multiplication and addition are rounded one by one, so that every vector width and the scalar
 * tail give the same bits.
 */
public final class Epilogue implements AutoCloseable {
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final int LANES = Species.LANES;
  private static final int MAGNITUDE = 0x7FFFFFFF;

  /** The longest run of a row that {@link #store} takes. */
  public static final int LONGEST_RUN = PackingBuffers.ROW_FLOATS / 2;

  /**
   * {@link #LANES}, unknown to the compiler. Runs are short: a loop whose steps it knows would have
   * its bounds checks taken out, and two slow turns before and after it, that cost more.
   */
  private final int lanes;

  private final PackingBuffers buffers;
  private final GemmOperand operand = new GemmOperand();
  private final AtomicInteger largest = new AtomicInteger();
  private GemmOperand c;
  private float[] bias;
  private float alpha;
  private float beta;
  private Activation activation;
  private HostStorage out;
  private boolean direct;
  private long rows;
  private long columns;
  private TensorView amax;

  /** An epilogue to be used again and again. */
  public Epilogue(PackingBuffers buffers) {
    this.buffers = buffers;
    lanes = LANES;
  }

  /**
   * Begins the epilogue of a call.
   *
   * @param c addend with as many matrices and rows as the product, or null
   * @param rows rows of each matrix of the product
   */
  public Epilogue begin(GemmCall call, GemmOperand c, long rows) {
    begin(call.out(), rows, call.out().shape().columns());
    this.c = call.beta() == 0 ? null : c;
    bias = call.bias() == null ? null : decode(call.bias());
    alpha = call.alpha();
    beta = call.beta();
    activation = call.activation();
    amax = call.amax();
    return this;
  }

  /** Begins to store one row of sums as they are. */
  public Epilogue begin(TensorView target) {
    begin(target, 1, target.shape().elements());
    return this;
  }

  private void begin(TensorView target, long rows, long columns) {
    out = (HostStorage) target.storage();
    direct = target.dtype() == DType.F32;
    this.rows = rows;
    this.columns = columns;
    c = null;
    bias = null;
    alpha = 1;
    beta = 0;
    activation = Activation.NONE;
    amax = null;
    largest.set(0);
  }

  private float[] decode(TensorView x) {
    GemmOperand row = operand.showRow(x);
    int count = Work.toInt("bias", row.columns(), "columns");
    float[] values = buffers.take(count);
    row.decodeRow(0, 0, count, values, 0, buffers);
    row.clear();
    return values;
  }

  /**
   * Stores a run of a row.
   *
   * @param sums the products' sums at {@code from}; ignored if alpha is 0
   * @param count length of the run, at most {@link #LONGEST_RUN}
   * @param scratch a row buffer
   */
  public void store(
      float[] sums,
      int from,
      long matrix,
      long row,
      long column,
      int count,
      MemorySegment scratch) {
    long element = (matrix * rows + row) * columns + column;
    MemorySegment target = direct ? out.data() : scratch;
    long at = direct ? element * Float.BYTES : 0;
    boolean finished = alpha != 0 && (c == null || (bias != null && c.isPlainF32()));
    if (!finished) {
      sumUp(sums, from, matrix, row, column, count, scratch, target, at);
    } else if (c != null) {
      MemorySegment addend = c.storage().data();
      long addendAt = Float.BYTES * c.index(matrix, row, column);
      finish(sums, from, alpha, addend, addendAt, beta, bias, (int) column, count, target, at);
    } else if (bias != null) {
      finish(sums, from, alpha, bias, (int) column, count, target, at);
    } else {
      finish(sums, from, alpha, count, target, at);
    }
    if (activation != Activation.NONE) {
      Activations.apply(activation, target, at, count);
    }
    if (!finished || activation != Activation.NONE) {
      Nans.canonical(target, at, count);
    }
    if (amax != null) {
      int bits = largest(target, at, count);
      for (int seen = largest.get(); bits > seen; seen = largest.get()) {
        if (largest.compareAndSet(seen, bits)) {
          break;
        }
      }
    }
    if (!direct) {
      Encoders.encode(
          scratch,
          0,
          count,
          out.dtype(),
          out.data(),
          element,
          Rounding.NEAREST_EVEN,
          Overflow.defaultFor(out.dtype()));
    }
  }

  /** alpha · sum with canonical NaNs: all there is to do, as a rule. */
  private void finish(
      float[] sums, int from, float alpha, int count, MemorySegment target, long at) {
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += lanes) {
      FloatVector x = FloatVector.fromArray(F32, sums, from + i).mul(alpha);
      x.blend(Float.NaN, x.compare(VectorOperators.NE, x))
          .intoMemorySegment(dst, at + 4L * i, Species.LE);
    }
    for (; i < count; i++) {
      dst.set(FLOAT, at + 4L * i, Nans.canonical(alpha * sums[from + i]));
    }
  }

  /** alpha · sum + bias with canonical NaNs. */
  private void finish(
      float[] sums,
      int from,
      float alpha,
      float[] bias,
      int column,
      int count,
      MemorySegment target,
      long at) {
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += lanes) {
      FloatVector x =
          FloatVector.fromArray(F32, sums, from + i)
              .mul(alpha)
              .add(FloatVector.fromArray(F32, bias, column + i));
      x.blend(Float.NaN, x.compare(VectorOperators.NE, x))
          .intoMemorySegment(dst, at + 4L * i, Species.LE);
    }
    for (; i < count; i++) {
      float x = alpha * sums[from + i] + bias[column + i];
      dst.set(FLOAT, at + 4L * i, Nans.canonical(x));
    }
  }

  /** alpha · sum + beta · C + bias with canonical NaNs, where C is F32. */
  private void finish(
      float[] sums,
      int from,
      float alpha,
      MemorySegment c,
      long cFrom,
      float beta,
      float[] bias,
      int column,
      int count,
      MemorySegment target,
      long at) {
    MemorySegment addend = Segments.exact(c);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += lanes) {
      FloatVector x =
          FloatVector.fromMemorySegment(F32, addend, cFrom + 4L * i, Species.LE)
              .mul(beta)
              .add(FloatVector.fromArray(F32, sums, from + i).mul(alpha))
              .add(FloatVector.fromArray(F32, bias, column + i));
      x.blend(Float.NaN, x.compare(VectorOperators.NE, x))
          .intoMemorySegment(dst, at + 4L * i, Species.LE);
    }
    for (; i < count; i++) {
      float product = beta * addend.get(FLOAT, cFrom + 4L * i);
      float x = product + alpha * sums[from + i] + bias[column + i];
      dst.set(FLOAT, at + 4L * i, Nans.canonical(x));
    }
  }

  /** alpha · sum + beta · C + bias, step by step. */
  private void sumUp(
      float[] sums,
      int from,
      long matrix,
      long row,
      long column,
      int count,
      MemorySegment scratch,
      MemorySegment target,
      long at) {
    if (alpha == 0) {
      target.asSlice(at, (long) count * Float.BYTES).fill((byte) 0);
    } else {
      scale(sums, from, count, target, at);
    }
    if (c != null) {
      long addend = (long) LONGEST_RUN * Float.BYTES;
      c.decodeRow(matrix, row, column, count, scratch, addend);
      addProduct(scratch, addend, count, target, at);
    }
    if (bias != null) {
      addBias((int) column, count, target, at);
    }
  }

  private void scale(float[] sums, int from, int count, MemorySegment target, long at) {
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromArray(F32, sums, from + i)
          .mul(alpha)
          .intoMemorySegment(dst, at + (long) i * Float.BYTES, Species.LE);
    }
    for (; i < count; i++) {
      dst.set(FLOAT, at + (long) i * Float.BYTES, alpha * sums[from + i]);
    }
  }

  private void addProduct(
      MemorySegment terms, long addendAt, int count, MemorySegment sums, long at) {
    MemorySegment addend = Segments.exact(terms);
    MemorySegment target = Segments.exact(sums);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      long step = (long) i * Float.BYTES;
      FloatVector.fromMemorySegment(F32, addend, addendAt + step, Species.LE)
          .mul(beta)
          .add(FloatVector.fromMemorySegment(F32, target, at + step, Species.LE))
          .intoMemorySegment(target, at + step, Species.LE);
    }
    for (; i < count; i++) {
      long step = (long) i * Float.BYTES;
      float product = beta * addend.get(FLOAT, addendAt + step);
      target.set(FLOAT, at + step, product + target.get(FLOAT, at + step));
    }
  }

  private void addBias(int column, int count, MemorySegment sums, long at) {
    MemorySegment target = Segments.exact(sums);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      long step = (long) i * Float.BYTES;
      FloatVector.fromArray(F32, bias, column + i)
          .add(FloatVector.fromMemorySegment(F32, target, at + step, Species.LE))
          .intoMemorySegment(target, at + step, Species.LE);
    }
    for (; i < count; i++) {
      long step = (long) i * Float.BYTES;
      target.set(FLOAT, at + step, bias[column + i] + target.get(FLOAT, at + step));
    }
  }

  /** The largest magnitude by bits, so that NaN is above infinity and infinity above numbers. */
  private static int largest(MemorySegment stored, long at, int count) {
    MemorySegment values = Segments.exact(stored);
    var most = F32.zero().reinterpretAsInts();
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      most =
          FloatVector.fromMemorySegment(F32, values, at + (long) i * Float.BYTES, Species.LE)
              .reinterpretAsInts()
              .and(MAGNITUDE)
              .max(most);
    }
    int bits = most.reduceLanes(VectorOperators.MAX);
    for (; i < count; i++) {
      float value = values.get(FLOAT, at + (long) i * Float.BYTES);
      bits = Math.max(bits, Float.floatToRawIntBits(value) & MAGNITUDE);
    }
    return bits;
  }

  /** Writes amax, once every run is stored, and gives the buffers back. */
  @Override
  public void close() {
    if (bias != null) {
      buffers.give(bias);
    }
    if (amax != null) {
      float value = Float.intBitsToFloat(largest.get());
      ((HostStorage) amax.storage())
          .data()
          .set(FLOAT, amax.offset() * Float.BYTES, Nans.canonical(value));
    }
    c = null;
    bias = null;
    out = null;
    amax = null;
  }
}
