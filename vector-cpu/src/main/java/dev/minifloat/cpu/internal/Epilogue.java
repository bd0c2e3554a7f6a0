package dev.minifloat.cpu.internal;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
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
final class Epilogue implements AutoCloseable {
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final int MAGNITUDE = 0x7FFFFFFF;

  /** The longest run of a row that {@link #store} takes. */
  static final int LONGEST_RUN = PackingBuffers.ROW_FLOATS / 2;

  private final GemmOperand c;
  private final float[] bias;
  private final float alpha;
  private final float beta;
  private final Activation activation;
  private final HostStorage out;
  private final boolean direct;
  private final long rows;
  private final long columns;
  private final TensorView amax;
  private final AtomicInteger largest;
  private final PackingBuffers buffers;

  private Epilogue(
      GemmOperand c,
      TensorView bias,
      float alpha,
      float beta,
      Activation activation,
      TensorView out,
      long rows,
      long columns,
      TensorView amax,
      PackingBuffers buffers) {
    this.c = beta == 0 ? null : c;
    this.bias = bias == null ? null : decode(bias, buffers);
    this.alpha = alpha;
    this.beta = beta;
    this.activation = activation;
    this.out = (HostStorage) out.storage();
    this.direct = out.dtype() == DType.F32;
    this.rows = rows;
    this.columns = columns;
    this.amax = amax;
    this.largest = amax == null ? null : new AtomicInteger();
    this.buffers = buffers;
  }

  /**
   * The epilogue of a call.
   *
   * @param c addend with as many matrices and rows as the product, or null
   * @param rows rows of each matrix of the product
   */
  static Epilogue of(GemmCall call, GemmOperand c, long rows, PackingBuffers buffers) {
    return new Epilogue(
        c,
        call.bias(),
        call.alpha(),
        call.beta(),
        call.activation(),
        call.out(),
        rows,
        call.out().shape().columns(),
        call.amax(),
        buffers);
  }

  /** Stores a row of sums as they are. */
  static Epilogue plain(TensorView out, PackingBuffers buffers) {
    return new Epilogue(
        null, null, 1, 0, Activation.NONE, out, 1, out.shape().elements(), null, buffers);
  }

  private static float[] decode(TensorView bias, PackingBuffers buffers) {
    GemmOperand row = GemmOperand.rowOf(bias);
    int count = Work.toInt("bias", row.columns(), "columns");
    float[] values = buffers.take(count);
    row.decodeRow(0, 0, count, values, 0, buffers);
    return values;
  }

  /**
   * Stores a run of a row.
   *
   * @param sums the products' sums at {@code from}; ignored if alpha is 0
   * @param count length of the run, at most {@link #LONGEST_RUN}
   * @param scratch a row buffer
   */
  void store(
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
    scale(sums, from, count, target, at);
    if (c != null) {
      long addend = (long) LONGEST_RUN * Float.BYTES;
      c.decodeRow(matrix, row, column, count, scratch, addend);
      addProduct(scratch, addend, count, target, at);
    }
    if (bias != null) {
      addBias((int) column, count, target, at);
    }
    if (activation != Activation.NONE) {
      Activations.apply(activation, target, at, count);
    }
    Nans.canonical(target, at, count);
    if (largest != null) {
      int bits = largest(target, at, count);
      largest.accumulateAndGet(bits, Math::max);
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

  private void scale(float[] sums, int from, int count, MemorySegment target, long at) {
    int lanes = F32.length();
    int i = 0;
    if (alpha == 0) {
      target.asSlice(at, (long) count * Float.BYTES).fill((byte) 0);
      return;
    }
    for (; i <= count - lanes; i += lanes) {
      FloatVector.fromArray(F32, sums, from + i)
          .mul(alpha)
          .intoMemorySegment(target, at + (long) i * Float.BYTES, Species.LE);
    }
    for (; i < count; i++) {
      target.set(FLOAT, at + (long) i * Float.BYTES, alpha * sums[from + i]);
    }
  }

  private void addProduct(
      MemorySegment addend, long addendAt, int count, MemorySegment target, long at) {
    int lanes = F32.length();
    int i = 0;
    for (; i <= count - lanes; i += lanes) {
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

  private void addBias(int column, int count, MemorySegment target, long at) {
    int lanes = F32.length();
    int i = 0;
    for (; i <= count - lanes; i += lanes) {
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
  private static int largest(MemorySegment values, long at, int count) {
    int lanes = F32.length();
    var most = F32.zero().reinterpretAsInts();
    int i = 0;
    for (; i <= count - lanes; i += lanes) {
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
          .set(FLOAT, amax.offset() * Float.BYTES, Float.isNaN(value) ? Float.NaN : value);
    }
  }
}
