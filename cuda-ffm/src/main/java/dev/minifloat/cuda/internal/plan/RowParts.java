package dev.minifloat.cuda.internal.plan;

import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.util.ArrayList;
import java.util.List;

/**
 * A product cut into some that a grid has CTAs for: its y has 65,535 tiles of rows, fewer than the
 * rows of a large table of embeddings. Each part is rows of one matrix, which lie side by side in
 * the result; the bits are those of one product, since a row's sum doesn't know of other rows.
 */
public final class RowParts {
  /** Rows of the largest part: as many tiles as there may be, each of 32 rows or more. */
  public static final long MOST = LaunchGrid.MAX_YZ * 32L;

  private final long most;
  private final List<GemmCall> parts = new ArrayList<>();

  private RowParts(long most) {
    this.most = most;
  }

  /**
   * The parts of a product.
   *
   * @param call whose result has elements
   * @param most rows of a part
   * @return the call itself if it has no more rows
   */
  public static List<GemmCall> of(GemmCall call, long most) {
    if (call.out().shape().rows() <= most) {
      return List.of(call);
    }
    RowParts cut = new RowParts(most);
    cut.add(call, 0);
    return cut.parts;
  }

  /** Cuts one dimension: each index of a batch, then rows. */
  private void add(GemmCall call, int dim) {
    boolean isRows = dim == call.out().shape().rank() - 2;
    long extent = call.out().shape().dim(dim);
    long step = isRows ? most : 1;
    for (long from = 0; from < extent; from += step) {
      GemmCall part = part(call, dim, from, Math.min(extent, from + step));
      if (isRows) {
        parts.add(part);
      } else {
        add(part, dim + 1);
      }
    }
  }

  private static GemmCall part(GemmCall call, int dim, long from, long to) {
    TensorView b = call.b();
    boolean isRows = dim == b.shape().rank() - 2;
    return new GemmCall(
        call.a().slice(dim, from, to),
        isRows ? b : b.slice(dim, from, to),
        call.c() == null ? null : call.c().slice(dim, from, to),
        call.bias(),
        call.alpha(),
        call.beta(),
        call.activation(),
        call.out().slice(dim, from, to),
        call.amax());
  }
}
