package dev.minifloat.cuda.internal.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.UnsupportedOpException;
import dev.minifloat.kernels.ParameterType;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeviceViewTest {
  private final Views views = new Views();

  @AfterAll
  void close() {
    views.close();
  }

  /** Extents and strides, "extent/stride". */
  private static List<String> dims(DeviceView view) {
    List<String> dims = new ArrayList<>();
    for (int i = 0; i < view.rank(); i++) {
      dims.add(view.extent(i) + "/" + view.stride(i));
    }
    return dims;
  }

  @Test
  void dimensionsThatLieAsOneAreMerged() {
    TensorView x = views.floats(2, 3, 4, 5);
    assertEquals(List.of("120/1"), dims(DeviceView.of(x, 0)));
    assertEquals(List.of("6/20", "4/5", "5/1"), dims(DeviceView.of(x, 2)));
    TensorView swapped = x.transposed(1, 2);
    assertEquals(List.of("2/60", "4/5", "3/20", "5/1"), dims(DeviceView.of(swapped, 0)));
    assertEquals(List.of("6/20", "10/1"), dims(DeviceView.of(x.slice(2, 1, 3), 0)));
  }

  @Test
  void extentsOfOneAreLeftOut() {
    TensorView x = views.floats(3, 1, 4).slice(2, 0, 2);
    assertEquals(List.of("3/4", "2/1"), dims(DeviceView.of(x, 0)));
    assertEquals(List.of("3/4", "1/4", "2/1"), dims(DeviceView.of(x, 2)));
    assertEquals(List.of(), dims(DeviceView.of(views.floats(1, 1), 0)));
    assertEquals(0, DeviceView.of(views.floats(), 0).rank());
  }

  @Test
  void aVectorIsAMatrixOfOneRow() {
    assertEquals(List.of("1/0", "7/1"), dims(DeviceView.of(views.floats(7), 2)));
    assertEquals(List.of("5/0", "7/1"), dims(DeviceView.of(views.floats(7), 1).repeated(5)));
  }

  @Test
  void moreDimensionsThanKernelsTakeAreRefused() {
    long[] dims = new long[9];
    Arrays.fill(dims, 3);
    TensorView x = views.floats(dims);
    for (int i = 0; i < 9; i++) {
      x = x.slice(i, 0, 2);
    }
    TensorView cut = x;
    UnsupportedOpException refusal =
        assertThrows(UnsupportedOpException.class, () -> DeviceView.of(cut, 0));
    assertTrue(refusal.getMessage().contains("9 dimensions"), refusal.getMessage());
    assertEquals(8, DeviceView.of(x.slice(4, 0, 1), 0).rank());
  }

  @Test
  void theStructIsTheCatalogs() {
    TensorView x = views.tensor(DType.F4_E2M1, Scaling.nvfp4(), 4, 48).slice(0, 1, 3);
    MemorySegment struct = MemorySegment.ofArray(new long[28]);
    DeviceView.of(x, 2).write(struct, 0);
    DeviceStorage storage = (DeviceStorage) x.storage();
    assertEquals(storage.data(), longAt(struct, "data"));
    assertEquals(storage.data() + 256, longAt(struct, "scales"));
    assertEquals(storage.data() + 512, longAt(struct, "global"));
    assertEquals(48, longAt(struct, "offset"));
    assertEquals(Codes.of(DType.F4_E2M1), intAt(struct, "dtype"));
    assertEquals(3, intAt(struct, "scaleKind"));
    assertEquals(2, intAt(struct, "rank"));
    long grid = ParameterType.VIEW.layout().byteOffset(PathElement.groupElement("grid"));
    long[] extents = new long[6];
    for (int i = 0; i < 6; i++) {
      extents[i] = struct.get(ValueLayout.JAVA_LONG, grid + 8L * i);
    }
    assertEquals("[4, 48, 1, 16, 4, 3]", Arrays.toString(extents));
  }

  private static long longAt(MemorySegment struct, String member) {
    return struct.get(
        ValueLayout.JAVA_LONG,
        ParameterType.VIEW.layout().byteOffset(PathElement.groupElement(member)));
  }

  private static int intAt(MemorySegment struct, String member) {
    return struct.get(
        ValueLayout.JAVA_INT,
        ParameterType.VIEW.layout().byteOffset(PathElement.groupElement(member)));
  }

  private boolean granules(TensorView x, int granule) {
    return DeviceView.of(x, 2).hasGranules(granule);
  }

  @Test
  void scalesOfWholeRowsAreConstantOverAnyGranule() {
    for (Scaling scaling : List.of(Scaling.none(), Scaling.tensor(), Scaling.rows())) {
      TensorView x = views.tensor(DType.I8, scaling, 5, 70);
      assertTrue(granules(x, 128) && granules(x.slice(1, 3, 60), 128), scaling.toString());
      assertFalse(granules(x.transposed(), 16), scaling.toString());
    }
    assertFalse(granules(views.tensor(DType.I8, Scaling.columns(), 5, 70), 16));
  }

  @Test
  void blocksAreGranulesWhereTheirEdgesFit() {
    TensorView wide = views.tensor(DType.F8_E4M3, Scaling.block(1, 128), 4, 300);
    assertTrue(granules(wide, 128));
    assertTrue(granules(wide.slice(1, 128, 300), 128));
    assertFalse(granules(wide.slice(1, 32, 300), 32));
    assertTrue(granules(wide.slice(1, 130, 250), 128), "within one block");
    TensorView odd = views.tensor(DType.F8_E4M3, Scaling.block(3, 48), 4, 300);
    assertTrue(granules(odd, 16) && !granules(odd, 32));
    TensorView mx = views.tensor(DType.F6_E2M3, Scaling.mx(), 4, 300);
    assertTrue(granules(mx, 32) && granules(mx.slice(0, 1, 3), 16) && !granules(mx, 128));
    assertFalse(granules(mx.slice(1, 16, 300), 16));
    TensorView nvfp4 = views.tensor(DType.F4_E2M1, Scaling.nvfp4(), 4, 300);
    assertTrue(granules(nvfp4.slice(1, 16, 300), 32));
    assertFalse(granules(nvfp4.slice(1, 8, 300), 32));
  }

  /** A reshaped view's rows may begin in the middle of the storage's, or pass its ends. */
  @Test
  void rowsThatAreNotTheStoragesAreNotTrusted() {
    TensorView x = views.tensor(DType.F8_E4M3, Scaling.block(1, 32), 4, 64);
    assertTrue(granules(x, 32));
    assertFalse(granules(x.reshape(8, 32), 32));
    assertFalse(granules(x.reshape(2, 128), 32));
  }
}
