package dev.minifloat.cuda.internal.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Products of more rows than a grid has tiles for. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowPartsTest {
  private final Views views = new Views();

  @AfterAll
  void close() {
    views.close();
  }

  private GemmCall call(TensorView a, TensorView b, TensorView c, TensorView out) {
    return new GemmCall(a, b, c, null, 1, c == null ? 0 : 1, Activation.NONE, out, null);
  }

  @Test
  void aProductOfFewRowsIsItsOnlyPart() {
    GemmCall call = call(views.floats(2, 7, 3), views.floats(2, 3, 4), null, views.floats(2, 7, 4));
    assertSame(call, RowParts.of(call, 7).getFirst());
  }

  /** Each part's rows begin where the last one's end, in the result, in A and in C. */
  @Test
  void partsLieOneBehindTheOther() {
    TensorView out = views.floats(2, 7, 4);
    TensorView c = views.floats(2, 4, 7).transposed(1, 2);
    GemmCall call = call(views.floats(2, 7, 3), views.floats(2, 3, 4), c, out);
    List<GemmCall> parts = RowParts.of(call, 3);
    List<String> found = new ArrayList<>();
    for (GemmCall part : parts) {
      assertTrue(part.out().isContiguous());
      assertEquals(part.out().shape(), part.c().shape());
      found.add(
          "%s at %d: a %d, b %d, c %d"
              .formatted(
                  part.out().shape(),
                  part.out().offset(),
                  part.a().offset(),
                  part.b().offset(),
                  part.c().offset()));
    }
    assertEquals(
        List.of(
            "[1, 3, 4] at 0: a 0, b 0, c 0",
            "[1, 3, 4] at 12: a 9, b 0, c 3",
            "[1, 1, 4] at 24: a 18, b 0, c 6",
            "[1, 3, 4] at 28: a 21, b 12, c 28",
            "[1, 3, 4] at 40: a 30, b 12, c 31",
            "[1, 1, 4] at 52: a 39, b 12, c 34"),
        found);
  }

  /** What a kernel is given is where a part lies, and not where its tensor begins. */
  @Test
  void epiloguesWriteWhereAPartLies() {
    TensorView out = views.tensor(DType.BF16, Scaling.none(), 7, 4);
    GemmCall call = call(views.floats(7, 3), views.floats(3, 4), null, out);
    GemmCall last = RowParts.of(call, 5).getLast();
    assertEquals(Shape.of(2, 4), last.out().shape());
    assertEquals(Epilogue.of(call).out() + 5 * 4 * Short.BYTES, Epilogue.of(last).out());
  }
}
