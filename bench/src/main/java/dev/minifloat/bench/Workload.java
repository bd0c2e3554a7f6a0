package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Work that contestants do, and do again: its size, its inputs and how much there is of it.
 *
 * <p>Inputs are F32 values; a contestant converts them before it is timed.
 */
public sealed interface Workload {
  /** What kind of work: {@code dot}, {@code gemv} and so on. */
  String subject();

  /** The format or formats, as the table prints them. */
  String format();

  /** The size, as the table prints it. */
  String size();

  /** Threads it may use. */
  default int threads() {
    return 1;
  }

  /** What its figure counts. */
  Unit unit();

  /** Operations, bytes, tokens or calls of one run. */
  double work();

  /** Bytes of the operands that one run reads and writes, each counted once. */
  default double bytes() {
    return work();
  }

  /** The figure of a run that took {@code seconds}. */
  default double figure(double seconds) {
    return unit().figure(work(), seconds);
  }

  /**
   * a · b, both of one format, scaled as {@link Format#vectorSpec} says.
   *
   * @param type format of both
   * @param n elements
   */
  record Dot(Format type, int n) implements Workload {
    /** Left operand. */
    public Values a() {
      return Values.vector(n, 1);
    }

    /** Right operand. */
    public Values b() {
      return Values.vector(n, 2);
    }

    @Override
    public double bytes() {
      return 2.0 * type.bytes(1, n);
    }

    @Override
    public String subject() {
      return "dot";
    }

    @Override
    public String format() {
      return type.name();
    }

    @Override
    public String size() {
      return Integer.toString(n);
    }

    @Override
    public Unit unit() {
      return Unit.GFLOPS;
    }

    @Override
    public double work() {
      return 2.0 * n;
    }
  }

  /**
   * y = W · x for one F32 vector x.
   *
   * @param weights format of W
   * @param rows rows of W
   * @param k columns of W
   * @param threads threads
   */
  record Gemv(Format weights, int rows, int k, int threads) implements Workload {
    /** W, row-major; its rows repeat after 256. */
    public Values w() {
      return new Values(rows, k, Math.min(rows, 256), 3);
    }

    /** x. */
    public Values x() {
      return Values.vector(k, 4);
    }

    /** Bytes of W with its scales, in our own format. */
    @Override
    public double bytes() {
      return weights.bytes(rows, k);
    }

    /** Whether W is larger than any cache, so that its bytes count and not its operations. */
    public boolean fromMemory() {
      return bytes() > 64 << 20;
    }

    @Override
    public String subject() {
      return "gemv";
    }

    @Override
    public String format() {
      return weights.name();
    }

    @Override
    public String size() {
      return rows + "x" + k;
    }

    @Override
    public Unit unit() {
      return fromMemory() ? Unit.GBPS : Unit.GFLOPS;
    }

    /** Bytes of our own format, so that equal times are equal figures whatever a peer's format. */
    @Override
    public double work() {
      return fromMemory() ? bytes() : 2.0 * rows * k;
    }
  }

  /**
   * D = A · Bᵀ in F32, A [m, k] and B [n, k] of one format: activations times weights.
   *
   * @param type format of A and B
   * @param m rows of A
   * @param n rows of B
   * @param k columns of both
   * @param threads threads
   */
  record Gemm(Format type, int m, int n, int k, int threads) implements Workload {
    /** The same product of another format. */
    public Gemm of(Format other) {
      return new Gemm(other, m, n, k, threads);
    }

    /** A, row-major. */
    public Values a() {
      return Values.of(m, k, 5);
    }

    /** B, row-major [n, k]. */
    public Values b() {
      return Values.of(n, k, 6);
    }

    @Override
    public double bytes() {
      return type.bytes(m, k) + type.bytes(n, k) + 4.0 * m * n;
    }

    @Override
    public String subject() {
      return "gemm";
    }

    @Override
    public String format() {
      return type.name();
    }

    @Override
    public String size() {
      return m + "x" + n + "x" + k;
    }

    @Override
    public Unit unit() {
      return Unit.GFLOPS;
    }

    @Override
    public double work() {
      return 2.0 * m * n * k;
    }
  }

  /**
   * F32 to a scaled format. Its figure counts F32 bytes read and bytes written, as a copy's does.
   *
   * @param to the format
   * @param rows rows
   * @param columns elements of a row
   * @param threads threads
   */
  record Quantize(Format to, int rows, int columns, int threads) implements Workload {
    /** What is quantized. */
    public Values x() {
      return new Values(rows, columns, Math.min(rows, 64), 7);
    }

    @Override
    public String subject() {
      return "quantize";
    }

    @Override
    public String format() {
      return "F32 to " + to;
    }

    @Override
    public String size() {
      return rows + "x" + columns;
    }

    @Override
    public Unit unit() {
      return Unit.GBPS;
    }

    @Override
    public double work() {
      return 4.0 * rows * columns + to.bytes(rows, columns);
    }
  }

  /**
   * A scaled format to F32, counted as {@link Quantize} is.
   *
   * @param from the format
   * @param rows rows
   * @param columns elements of a row
   * @param threads threads
   */
  record Dequantize(Format from, int rows, int columns, int threads) implements Workload {
    /** What was quantized. */
    public Values x() {
      return new Values(rows, columns, Math.min(rows, 64), 7);
    }

    @Override
    public String subject() {
      return "dequantize";
    }

    @Override
    public String format() {
      return from + " to F32";
    }

    @Override
    public String size() {
      return rows + "x" + columns;
    }

    @Override
    public Unit unit() {
      return Unit.GBPS;
    }

    @Override
    public double work() {
      return 4.0 * rows * columns + from.bytes(rows, columns);
    }
  }

  /**
   * One unscaled type to another. Its figure counts bytes read and written.
   *
   * @param from type of the input
   * @param to type of the output
   * @param rounding how it rounds
   * @param elements number of elements
   * @param threads threads
   */
  record Convert(DType from, DType to, Rounding rounding, int elements, int threads)
      implements Workload {
    /** What is converted, as F32 values; rows of 4096. */
    public Values x() {
      int rows = Math.max(1, elements / 4096);
      return new Values(rows, elements / rows, Math.min(rows, 64), 8);
    }

    @Override
    public String subject() {
      return "convert";
    }

    @Override
    public String format() {
      String mode = rounding.equals(Rounding.NEAREST_EVEN) ? "" : " stochastic";
      return from + " to " + to + mode;
    }

    @Override
    public String size() {
      return Integer.toString(elements);
    }

    @Override
    public Unit unit() {
      return Unit.GBPS;
    }

    @Override
    public double work() {
      return from.byteSize(elements) + (double) to.byteSize(elements);
    }
  }

  /** Functions of rows or of single elements. */
  enum Function {
    /** Softmax of each row. */
    SOFTMAX,
    /** Layer norm of each row, with gamma and beta. */
    LAYER_NORM,
    /** RMS norm of each row, with gamma. */
    RMS_NORM,
    /** x·Φ(x). */
    GELU_ERF,
    /** GELU's tanh form. */
    GELU_TANH,
    /** x·sigmoid(x). */
    SILU
  }

  /**
   * A function of F32 rows. Its figure counts bytes read and written.
   *
   * @param function which
   * @param rows rows
   * @param columns elements of a row
   * @param threads threads
   */
  record Norm(Function function, int rows, int columns, int threads) implements Workload {
    /** Epsilon of the norms. */
    public static final float EPSILON = 1e-5f;

    /** The argument. */
    public Values x() {
      return Values.of(rows, columns, 9);
    }

    /** Factors of the norms. */
    public Values gamma() {
      return Values.vector(columns, 10);
    }

    /** Offsets of the layer norm. */
    public Values beta() {
      return Values.vector(columns, 11);
    }

    @Override
    public String subject() {
      return "norms";
    }

    @Override
    public String format() {
      return function.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " F32";
    }

    @Override
    public String size() {
      return rows + "x" + columns;
    }

    @Override
    public Unit unit() {
      return Unit.GBPS;
    }

    @Override
    public double work() {
      return 8.0 * rows * columns;
    }
  }

  /**
   * Embeddings of a batch of texts by all-MiniLM-L6-v2, every text as long as the others.
   *
   * @param batch texts
   * @param tokens tokens of each
   * @param weights format of the linear layers' weights
   * @param threads threads
   */
  record Encode(int batch, int tokens, Format weights, int threads) implements Workload {
    /** Token ids [batch][tokens]: [CLS], word pieces, [SEP] of the model's vocabulary. */
    public int[][] ids() {
      SplittableRandom random = new SplittableRandom(12);
      int[][] ids = new int[batch][tokens];
      for (int[] text : ids) {
        for (int i = 0; i < tokens; i++) {
          text[i] = 1000 + random.nextInt(28000);
        }
        text[0] = 101;
        text[tokens - 1] = 102;
      }
      return ids;
    }

    @Override
    public String subject() {
      return "encode";
    }

    @Override
    public String format() {
      return weights.name();
    }

    @Override
    public String size() {
      return batch + "x" + tokens;
    }

    @Override
    public Unit unit() {
      return Unit.TOKENS;
    }

    @Override
    public double work() {
      return (double) batch * tokens;
    }
  }

  /** Ways between Java and C. */
  enum Call {
    /** A downcall. */
    DOWNCALL,
    /** A downcall with {@code Linker.Option.critical}. */
    CRITICAL,
    /** A downcall that calls back once. */
    UPCALL
  }

  /**
   * Calls of a C function that does next to nothing, many in one run.
   *
   * @param kind how
   */
  record FfmCall(Call kind) implements Workload {
    /** Calls of one run. */
    public static final int CALLS = 1000;

    @Override
    public String subject() {
      return "ffm";
    }

    @Override
    public String format() {
      return kind.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String size() {
      return "1";
    }

    @Override
    public Unit unit() {
      return Unit.NANOS;
    }

    @Override
    public double work() {
      return CALLS;
    }
  }
}
