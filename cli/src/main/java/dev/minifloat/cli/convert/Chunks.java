package dev.minifloat.cli.convert;

import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The runs of rows in which a tensor is worked on: whole blocks of one matrix, about as many
 * elements as fit in a cache, and as many rows that packed elements end with a byte.
 */
public final class Chunks implements Iterable<Chunks.Chunk> {
  /** Elements of a chunk: an F32 copy of it has 1 MiB. */
  private static final long ELEMENTS = 1 << 18;

  private static final long WHOLE_BYTES = 8;

  private final long rows;
  private final long matrices;
  private final long step;

  /**
   * A run of rows.
   *
   * @param first the first one, counted through all matrices
   * @param count how many
   * @param startsMatrix whether the first one is the first of its matrix
   */
  public record Chunk(long first, long count, boolean startsMatrix) {}

  /** The chunks of a tensor that is to be scaled so. */
  public Chunks(Shape shape, Scaling scaling) {
    long columns = shape.columns();
    boolean empty = shape.elements() == 0;
    this.rows = empty ? 0 : shape.rows();
    this.matrices = empty ? 0 : shape.batch();
    long blockRows = scaling instanceof Scaling.Block(int r, int _) ? r : 1;
    long whole = columns % WHOLE_BYTES == 0 ? 1 : WHOLE_BYTES;
    long unit = blockRows * whole / gcd(blockRows, whole);
    this.step = Math.max(1, ELEMENTS / Math.max(1, columns) / unit) * unit;
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  @Override
  public Iterator<Chunk> iterator() {
    return new Iterator<>() {
      private long matrix;
      private long row;

      @Override
      public boolean hasNext() {
        return matrix < matrices;
      }

      @Override
      public Chunk next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        Chunk chunk = new Chunk(matrix * rows + row, Math.min(step, rows - row), row == 0);
        row += step;
        if (row >= rows) {
          row = 0;
          matrix++;
        }
        return chunk;
      }
    };
  }
}
