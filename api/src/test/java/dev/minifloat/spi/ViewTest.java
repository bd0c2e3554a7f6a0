package dev.minifloat.spi;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.reference.ReferenceBackend;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views see the elements, and the scales, of their source. */
class ViewTest {
  private static final int BATCH = 2;
  private static final int ROWS = 5;
  private static final int COLUMNS = 37;

  private final ReferenceBackend backend = new ReferenceBackend();

  @AfterEach
  void close() {
    backend.close();
  }

  private Tensor source(String scaling) {
    float[] values = new float[BATCH * ROWS * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) (Math.cos(i) * Math.exp(i % 7));
    }
    Tensor x = backend.upload(HostTensor.of(values, BATCH, ROWS, COLUMNS));
    return scaling.equals("none")
        ? backend.convert(x, DType.F4_E2M1)
        : backend.quantize(x, QuantSpec.of(DType.F4_E2M1).scaling(Scaling.parse(scaling)));
  }

  private float[] values(Tensor x) {
    return backend.download(backend.dequantize(x)).toFloats();
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "tensor", "rows", "columns", "2x5", "mx", "nvfp4"})
  void transposedElementsKeepTheirScales(String scaling) {
    Tensor x = source(scaling);
    float[] all = values(x);
    Tensor view = x.transposed();
    assertEquals(Shape.of(BATCH, COLUMNS, ROWS), view.shape());
    float[] turned = values(view);
    for (int i = 0; i < turned.length; i++) {
      int row = i % ROWS;
      int column = i / ROWS % COLUMNS;
      int batch = i / ROWS / COLUMNS;
      assertEquals(all[(batch * ROWS + row) * COLUMNS + column], turned[i]);
    }
    assertArrayEquals(all, values(view.transposed(-1, 1)));
    assertFalse(view.isContiguous());
    assertTrue(view.transposed().isContiguous());
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "tensor", "rows", "columns", "2x5", "mx", "nvfp4"})
  void slicesCutBlocksAnywhere(String scaling) {
    Tensor x = source(scaling);
    float[] all = values(x);
    Tensor view = x.slice(-1, 3, 36).slice(1, 1, 4).slice(0, 1, 2);
    assertEquals(Shape.of(1, 3, 33), view.shape());
    float[] cut = values(view);
    for (int i = 0; i < cut.length; i++) {
      assertEquals(all[(ROWS + 1 + i / 33) * COLUMNS + 3 + i % 33], cut[i]);
    }
    float[] turned = values(view.transposed());
    for (int i = 0; i < turned.length; i++) {
      assertEquals(cut[i % 3 * 33 + i / 3], turned[i]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "tensor", "rows", "columns", "2x5", "mx", "nvfp4"})
  void reshapeKeepsElementsInOrderWithTheirScales(String scaling) {
    Tensor x = source(scaling);
    float[] all = values(x);
    assertArrayEquals(all, values(x.reshape(BATCH * COLUMNS, ROWS)));
    assertArrayEquals(all, values(x.reshape(BATCH * ROWS * COLUMNS)));
    assertArrayEquals(all, values(x.reshape(ROWS, 1, COLUMNS, BATCH, 1)));
    Tensor second = x.slice(0, 1, 2);
    assertTrue(second.isContiguous());
    float[] tail = Arrays.copyOfRange(all, ROWS * COLUMNS, 2 * ROWS * COLUMNS);
    assertArrayEquals(tail, values(second.reshape(COLUMNS, ROWS)));
  }

  @Test
  void downloadOfAnUnscaledViewHasTheViewsShape() {
    Tensor x = backend.upload(HostTensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
    HostTensor turned = backend.download(x.transposed());
    assertEquals(Shape.of(3, 2), turned.shape());
    assertArrayEquals(new float[] {1, 4, 2, 5, 3, 6}, turned.toFloats());
    assertEquals(Shape.of(6), backend.download(x.reshape(6)).shape());
    assertArrayEquals(new float[] {2, 3, 5, 6}, backend.download(x.slice(1, 1, 3)).toFloats());
    assertEquals(1, backend.liveTensors());
  }

  @ParameterizedTest
  @ValueSource(strings = {"tensor", "rows", "columns", "2x5", "mx", "nvfp4"})
  void scaledTensorsAreCopiedAndDownloadedWholeOnly(String scaling) {
    Tensor x = source(scaling);
    HostTensor all = backend.download(x);
    HostTensor copied = backend.download(backend.copy(x.transposed().transposed()));
    assertEquals(-1, all.data().mismatch(copied.data()));
    assertEquals(-1, all.scales().mismatch(copied.scales()));
    assertEquals(all.globalScale(), copied.globalScale());
    for (Tensor view :
        List.of(x.transposed(), x.slice(0, 0, 1), x.reshape(BATCH * ROWS, COLUMNS))) {
      assertRefused("x", () -> backend.copy(view));
      assertRefused("x", () -> backend.download(view));
    }
  }

  @Test
  void copyOfAViewIsContiguousAndOwnsItsMemory() {
    Tensor x = backend.upload(HostTensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
    Tensor copied = backend.copy(x.transposed());
    x.close();
    assertTrue(copied.isContiguous() && !copied.isView());
    assertArrayEquals(new float[] {1, 4, 2, 5, 3, 6}, values(copied));
  }

  @Test
  void emptyAndSingleExtentsAreContiguous() {
    Tensor x = backend.upload(HostTensor.of(new float[6], 2, 3));
    assertTrue(x.slice(1, 1, 1).isContiguous());
    assertTrue(x.slice(0, 1, 2).isContiguous());
    assertFalse(x.slice(1, 0, 2).isContiguous());
    assertTrue(x.slice(0, 0, 1).transposed().isContiguous());
    assertEquals(0, values(x.slice(0, 2, 2).reshape(3, 0)).length);
  }

  @Test
  void refusesWhatIsNotThere() {
    Tensor x = backend.upload(HostTensor.of(new float[6], 2, 3));
    assertRefused("a", () -> x.transposed(2, 0));
    assertRefused("b", () -> x.transposed(0, -3));
    assertRefused("dim", () -> x.slice(2, 0, 1));
    assertRefused("from, to", () -> x.slice(0, -1, 1));
    assertRefused("from, to", () -> x.slice(0, 2, 1));
    assertRefused("from, to", () -> x.slice(1, 0, 4));
    assertRefused("dims", () -> x.reshape(7));
    assertRefused("dims[0]", () -> x.reshape(-1, 6));
    String gaps =
        assertThrows(IllegalArgumentException.class, () -> x.transposed().reshape(6)).getMessage();
    assertTrue(gaps.contains("[3, 2]") && gaps.contains("copy it first"), gaps);
  }

  @Test
  void byteSizeIsThatOfTheStorage() {
    Tensor x = source("nvfp4");
    HostTensor host = backend.download(x);
    assertEquals(host.byteSize(), x.byteSize());
    assertEquals(host.byteSize(), x.slice(0, 0, 1).byteSize());
    assertEquals(24, backend.upload(HostTensor.of(new float[6])).byteSize());
  }
}
