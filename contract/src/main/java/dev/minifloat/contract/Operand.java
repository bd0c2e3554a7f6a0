package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import java.util.function.UnaryOperator;

/** An operand of a product: a host tensor, a view of it, and the exact values of that view. */
final class Operand {
  private final HostTensor host;
  private final Shape shape;
  private final double[] values;
  private final UnaryOperator<Tensor> view;

  private Operand(HostTensor host, Shape shape, double[] values, UnaryOperator<Tensor> view) {
    this.host = host;
    this.shape = shape;
    this.values = values;
    this.view = view;
  }

  static Operand of(HostTensor host) {
    double[] values = new double[Math.toIntExact(host.shape().elements())];
    boolean scaled = !(host.scaling() instanceof Scaling.None);
    for (int i = 0; i < values.length; i++) {
      double element = Codec.decodeDouble(host.dtype(), host.code(i));
      values[i] = scaled ? host.scale(i) * element : element;
    }
    return new Operand(host, host.shape(), values, UnaryOperator.identity());
  }

  /** Finite numbers of a seed. */
  static Operand random(long seed, DType dtype, Scaling scaling, long... dims) {
    return of(Data.tensor(seed, dtype, scaling, dims));
  }

  /** Element type. */
  DType dtype() {
    return host.dtype();
  }

  /** The view's extents. */
  Shape shape() {
    return shape;
  }

  /**
   * Scale × element in row-major order of the view: exact, since a scale has 24 bits and a scaled
   * element no more than 8.
   */
  double[] values() {
    return values;
  }

  /** The same values counted as a matrix, for the oracle alone. */
  Operand as(long rows, long columns) {
    return new Operand(host, Shape.of(rows, columns), values, view);
  }

  /** On a backend. */
  Tensor on(Operations scope) {
    return view.apply(scope.upload(host));
  }

  /** With the last two dimensions swapped. */
  Operand transposed() {
    int rows = (int) shape.rows();
    int columns = (int) shape.columns();
    double[] turned = new double[values.length];
    for (int i = 0; i < turned.length; i++) {
      int matrix = i / (rows * columns);
      int row = i / columns % rows;
      turned[matrix * rows * columns + i % columns * rows + row] = values[i];
    }
    Shape swapped = shape.with(-1, rows).with(-2, columns);
    return new Operand(host, swapped, turned, x -> view.apply(x).transposed());
  }

  /** [batch, rows, heads, width] with rows and heads swapped. */
  Operand swapped() {
    int rows = (int) shape.dim(1);
    int heads = (int) shape.dim(2);
    int width = (int) shape.columns();
    double[] turned = new double[values.length];
    for (int i = 0; i < turned.length; i++) {
      int row = i / width / heads % rows;
      int head = i / width % heads;
      int batch = i / width / heads / rows;
      turned[((batch * heads + head) * rows + row) * width + i % width] = values[i];
    }
    Shape swapped = shape.with(1, heads).with(2, rows);
    return new Operand(host, swapped, turned, x -> view.apply(x).transposed(1, 2));
  }

  /** Indices {@code from} to {@code to} of a dimension. */
  Operand slice(int dim, int from, int to) {
    Shape cut = shape.with(dim, to - from);
    int inner = 1;
    for (int i = shape.axis(dim) + 1; i < shape.rank(); i++) {
      inner *= (int) shape.dim(i);
    }
    int extent = (int) shape.dim(dim);
    double[] kept = new double[Math.toIntExact(cut.elements())];
    for (int i = 0; i < kept.length; i++) {
      int block = i / inner;
      int outer = block / (to - from);
      int index = block % (to - from) + from;
      kept[i] = values[(outer * extent + index) * inner + i % inner];
    }
    return new Operand(host, cut, kept, x -> view.apply(x).slice(dim, from, to));
  }

  /** For messages. */
  String label() {
    return host.dtype()
        + (host.scaling() instanceof Scaling.None ? "" : " " + host.scaling())
        + " "
        + shape
        + (shape.equals(host.shape()) ? "" : " of " + host.shape());
  }
}
