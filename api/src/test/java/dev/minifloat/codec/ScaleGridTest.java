package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How scalings tile shapes, against the definition element by element. */
class ScaleGridTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // scaling, shape, number of scales, their shape
        "none|5,70|0|0",
        "tensor|5,70|1|",
        "tensor||1|",
        "tensor|2,3,4|1|",
        "tensor|0|1|",
        "rows||1|1",
        "rows|70|1|1",
        "rows|5,70|5|5,1",
        "rows|2,5,70|10|2,5,1",
        "rows|2,3,5,70|30|2,3,5,1",
        "rows|5,0|5|5,1",
        "rows|0,5|0|0,1",
        "columns|70|70|70",
        "columns|5,70|70|1,70",
        "columns|2,5,70|140|2,1,70",
        "columns|0,5|5|1,5",
        "columns|5,0|0|1,0",
        "2x32||1|1",
        "2x32|70|3|3",
        "2x32|5,70|9|3,3",
        "2x32|4,64|4|2,2",
        "2x32|2,5,70|18|2,3,3",
        "2x32|2,3,5,70|54|2,3,3,3",
        "128x128|5,70|1|1,1",
        "2x32|0,70|0|0,3",
        "2x32|2,0,5|0|2,0,1",
        "mx||1|1",
        "mx|31|1|1",
        "mx|32|1|1",
        "mx|33|2|2",
        "mx|5,70|15|5,3",
        "mx|2,5,70|30|2,5,3",
        "mx|5,0|0|5,0",
        "nvfp4|17|2|2",
        "nvfp4|5,70|25|5,5",
        "nvfp4|1,1,1,16|1|1,1,1,1"
      })
  void countsScales(String scaling, String shape, long scales, String scaleShape) {
    ScaleGrid grid = Scaling.parse(scaling).grid(shape(shape));
    assertEquals(scales, grid.scales());
    assertEquals(shape(scaleShape), grid.shape());
    assertEquals(scales, scaling.equals("none") ? 0 : grid.shape().elements());
  }

  static List<Shape> shapes() {
    return List.of(
        Shape.SCALAR,
        Shape.of(1),
        Shape.of(33),
        Shape.of(5, 33),
        Shape.of(4, 32),
        Shape.of(1, 17),
        Shape.of(17, 1),
        Shape.of(2, 5, 33),
        Shape.of(2, 3, 5, 17));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void elementsOfOneBlockAndNoOthersShareAScale(Shape shape) {
    for (String name : List.of("tensor", "rows", "columns", "2x4", "3x32", "mx", "nvfp4")) {
      Scaling scaling = Scaling.parse(name);
      ScaleGrid grid = scaling.grid(shape);
      Map<List<Long>, Long> scaleOfBlock = new HashMap<>();
      for (long i = 0; i < shape.elements(); i++) {
        List<Long> block = block(scaling, shape, i);
        long scale = grid.indexOf(i);
        assertEquals(scale, scaleOfBlock.computeIfAbsent(block, _ -> scale), name + " " + i);
      }
      // Distinct blocks have distinct scales, and all scales are used.
      assertEquals(grid.scales(), scaleOfBlock.size(), name);
      assertEquals(grid.scales(), scaleOfBlock.values().stream().distinct().count(), name);
      scaleOfBlock.forEach(
          (block, scale) ->
              assertEquals(
                  rank(scaling, grid, block), scale, () -> name + " is not row-major: " + block));
    }
  }

  /** Batch index, block row and block column of an element. */
  private static List<Long> block(Scaling scaling, Shape shape, long i) {
    long column = i % shape.columns();
    long row = i / shape.columns() % shape.rows();
    long batch = i / shape.columns() / shape.rows();
    return switch (scaling) {
      case Scaling.None _, Scaling.PerTensor _ -> List.of(0L, 0L, 0L);
      case Scaling.Rows _ -> List.of(batch, row, 0L);
      case Scaling.Columns _ -> List.of(batch, 0L, column);
      case Scaling.Block(int rows, int columns) -> List.of(batch, row / rows, column / columns);
      case Scaling.Mx _ -> List.of(batch, row, column / 32);
      case Scaling.NvFp4 _ -> List.of(batch, row, column / 16);
    };
  }

  private static long rank(Scaling scaling, ScaleGrid grid, List<Long> block) {
    if (scaling instanceof Scaling.PerTensor) {
      return 0;
    }
    long gridRows = grid.shape().rows();
    long gridColumns = grid.shape().columns();
    return (block.get(0) * gridRows + block.get(1)) * gridColumns + block.get(2);
  }

  private static Shape shape(String text) {
    if (text == null || text.isEmpty()) {
      return Shape.SCALAR;
    }
    return Shape.of(List.of(text.split(",", -1)).stream().mapToLong(Long::parseLong).toArray());
  }
}
