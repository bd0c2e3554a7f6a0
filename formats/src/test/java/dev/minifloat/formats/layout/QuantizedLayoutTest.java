package dev.minifloat.formats.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.SafetensorsFile;
import dev.minifloat.formats.SafetensorsWriter;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantizedLayoutTest {
  private static final String NAME = "layers.0.q_proj.weight";

  @TempDir Path directory;

  private static HostTensor quantized(String dtype, String scaling, long... dims) {
    Shape shape = Shape.of(dims);
    HostTensor source = HostTensor.allocate(Arena.ofAuto(), DType.F32, shape, Scaling.none());
    Random random = new Random(shape.hashCode());
    for (long i = 0; i < shape.elements(); i++) {
      source.data().set(PackedElements.FLOAT, 4 * i, (float) random.nextGaussian() * 0.03f);
    }
    QuantSpec spec = QuantSpec.of(DType.parse(dtype)).scaling(Scaling.parse(scaling));
    return BlockQuantizer.quantize(Arena.ofAuto(), source, spec);
  }

  private Path write(QuantizedLayout layout, HostTensor tensor, boolean withMetadata) {
    return write(layout, QuantizedTensor.of(tensor, layout), withMetadata);
  }

  private Path write(QuantizedLayout layout, QuantizedTensor quantized, boolean withMetadata) {
    HostTensor tensor = quantized.tensor();
    StoredTensor stored =
        layout.plan(NAME, tensor.dtype(), tensor.shape(), tensor.scaling(), tensor.globalScale());
    Path path = directory.resolve("model.safetensors");
    SafetensorsWriter.Plan plan = SafetensorsWriter.to(path);
    stored.parts().forEach(part -> plan.tensor(part.name(), part.type(), part.shape()));
    if (withMetadata) {
      plan.metadata(stored.metadata());
    }
    try (SafetensorsWriter writer = plan.create()) {
      quantized.bytes(stored).forEach(writer::append);
      writer.commit();
    }
    return path;
  }

  private static void assertSame(HostTensor expected, HostTensor actual) {
    assertEquals(expected.toString(), actual.toString());
    assertEquals(-1, expected.data().mismatch(actual.data()));
    assertEquals(-1, expected.scales().mismatch(actual.scales()));
    assertEquals(expected.globalScale(), actual.globalScale());
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, none",
    "f16, none",
    "f8_e4m3, tensor",
    "f8_e5m2, rows",
    "f8_e4m3, columns",
    "f8_e4m3, 3x5",
    "f8_e4m3, mx",
    "f6_e3m2, mx",
    "f4_e2m1, mx",
    "f4_e2m1, nvfp4",
    "i8, rows",
    "i4, rows",
    "i4, none",
  })
  void plainHoldsEverythingInAnyNumberOfDimensions(String dtype, String scaling) {
    // 36 columns: no block divides them.
    for (long[] dims : List.of(new long[] {6, 36}, new long[] {8}, new long[] {2, 4, 36})) {
      HostTensor tensor = quantized(dtype, scaling, dims);
      try (TensorFile file = SafetensorsFile.open(write(QuantizedLayout.PLAIN, tensor, true))) {
        assertSame(tensor, QuantizedLayout.PLAIN.read(file, NAME).tensor());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, tensor, true",
    "f8_e4m3, tensor, false",
    "f8_e4m3, rows, false",
    "f8_e4m3, 128x128, false",
    "f8_e4m3, 64x32, true",
    "f8_e4m3, mx, false",
    "f4_e2m1, mx, false",
    "f4_e2m1, nvfp4, true",
    "i8, rows, false",
    "i8, tensor, false",
  })
  void compressedTensorsComeBack(String dtype, String scaling, boolean withMetadata) {
    HostTensor tensor = quantized(dtype, scaling, 300, 160);
    QuantizedLayout layout = QuantizedLayout.COMPRESSED_TENSORS;
    try (TensorFile file = SafetensorsFile.open(write(layout, tensor, withMetadata))) {
      assertSame(tensor, layout.read(file, NAME).tensor());
    }
  }

  @Test
  void whatIsStoredForNvfp4IsKeptWithoutMetadata() {
    QuantizedLayout layout = QuantizedLayout.COMPRESSED_TENSORS;
    HostTensor tensor = quantized("f4_e2m1", "nvfp4", 16, 64);
    // Each of these is changed by inverting it twice, or by inverting it three times.
    for (float global : new float[] {tensor.globalScale(), 1.7f, 3e-5f, 1.9999999f}) {
      HostTensor other =
          HostTensor.wrapNvfp4(tensor.shape(), tensor.data(), tensor.scales(), global);
      QuantizedTensor first;
      try (TensorFile file = SafetensorsFile.open(write(layout, other, false))) {
        QuantizedTensor read = layout.read(file, NAME);
        assertEquals(1 / global, read.storedGlobalScale());
        assertEquals(global, read.tensor().globalScale(), Math.ulp(global));
        first = copy(read);
      }
      try (TensorFile file = SafetensorsFile.open(write(layout, first, false))) {
        assertEquals(1 / global, layout.read(file, NAME).storedGlobalScale());
      }
    }
  }

  /** A copy that outlives its file. */
  private static QuantizedTensor copy(QuantizedTensor read) {
    HostTensor tensor = read.tensor();
    Arena arena = Arena.ofAuto();
    MemorySegment data = arena.allocate(tensor.data().byteSize()).copyFrom(tensor.data());
    MemorySegment scales = arena.allocate(tensor.scales().byteSize()).copyFrom(tensor.scales());
    return new QuantizedTensor(
        HostTensor.wrapNvfp4(tensor.shape(), data, scales, tensor.globalScale()),
        read.storedGlobalScale());
  }

  @Test
  void fp4IsPackedWithTheEvenColumnInTheLowNibble() {
    HostTensor tensor = quantized("f4_e2m1", "nvfp4", 2, 32);
    Path path = write(QuantizedLayout.COMPRESSED_TENSORS, tensor, true);
    try (TensorFile file = SafetensorsFile.open(path)) {
      assertEquals(StorageType.U8, file.info(NAME + "_packed").type());
      assertEquals(Shape.of(2, 16), file.info(NAME + "_packed").shape());
      assertEquals(StorageType.F8_E4M3, file.info(NAME + "_scale").type());
      assertEquals(Shape.of(2, 2), file.info(NAME + "_scale").shape());
      assertEquals(Shape.of(1), file.info(NAME + "_global_scale").shape());
      for (int i = 0; i < 32; i++) {
        long packed = StorageType.U8.code(file.data(NAME + "_packed"), i);
        assertEquals(tensor.code(2L * i), packed & 0xF);
        assertEquals(tensor.code(2L * i + 1), packed >>> 4);
      }
    }
  }

  @Test
  void scalesInBf16AreWidened() {
    HostTensor tensor = quantized("f8_e4m3", "rows", 3, 64);
    Path path = directory.resolve("bf16.safetensors");
    MemorySegment scales = MemorySegment.ofArray(new byte[6]);
    for (int row = 0; row < 3; row++) {
      scales.set(PackedElements.SHORT, 2L * row, (short) (0x3F80 + row));
    }
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(path)
            .tensor(NAME, StorageType.F8_E4M3, tensor.shape())
            .tensor(NAME + "_scale", StorageType.BF16, Shape.of(3, 1))
            .create()) {
      writer.append(NAME, tensor.data());
      writer.append(NAME + "_scale", scales);
      writer.commit();
    }
    try (TensorFile file = SafetensorsFile.open(path)) {
      HostTensor read = QuantizedLayout.COMPRESSED_TENSORS.read(file, NAME).tensor();
      assertEquals(Scaling.rows(), read.scaling());
      assertEquals(Float.intBitsToFloat(0x3F820000), read.scale(2 * 64));
    }
  }

  @Test
  void deepSeekComesBackWithRaggedBlocks() {
    HostTensor tensor = quantized("f8_e4m3", "128x128", 300, 130);
    QuantizedLayout layout = QuantizedLayout.DEEPSEEK_FP8;
    try (TensorFile file = SafetensorsFile.open(write(layout, tensor, true))) {
      assertSame(tensor, layout.read(file, NAME).tensor());
      assertEquals(Shape.of(3, 2), file.info(NAME + "_scale_inv").shape());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "compressed-tensors, f8_e5m2, rows, 64, F8_E5M2",
    "compressed-tensors, f8_e4m3, columns, 64, columns",
    "compressed-tensors, f4_e2m1, nvfp4, 40, multiple of 16",
    "compressed-tensors, f8_e4m3, mx, 40, multiple of 32",
    "deepseek-fp8, f8_e4m3, 64x64, 64, 'block(64,64)'",
    "plain, f4_e2m1, mx, 33, whole bytes",
    "plain, i4, rows, 33, odd number of columns",
  })
  void whatALayoutCantHoldIsRefusedWithTheReason(
      String layout, String dtype, String scaling, long columns, String reason) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                QuantizedLayout.parse(layout)
                    .plan(
                        NAME, DType.parse(dtype), Shape.of(3, columns), Scaling.parse(scaling), 1));
    assertTrue(e.getMessage().contains(reason), e.getMessage());
  }

  @Test
  void aMissingPartNamesFileAndTensor() {
    Path path = directory.resolve("half.safetensors");
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(path)
            .metadata(Map.of("minifloat:" + NAME, "F8_E4M3 rows"))
            .tensor(NAME, StorageType.F8_E4M3, Shape.of(2, 2))
            .create()) {
      writer.append(NAME, MemorySegment.ofArray(new byte[4]));
      writer.commit();
    }
    try (TensorFile file = SafetensorsFile.open(path)) {
      MinifloatException e =
          assertThrows(MinifloatException.class, () -> QuantizedLayout.PLAIN.read(file, NAME));
      assertTrue(e.getMessage().contains("half.safetensors"), e.getMessage());
      assertTrue(e.getMessage().contains(NAME + ".scales"), e.getMessage());
      assertFalse(QuantizedLayout.DEEPSEEK_FP8.holds(file, NAME));
      assertThrows(
          IllegalArgumentException.class, () -> QuantizedLayout.DEEPSEEK_FP8.read(file, NAME));
    }
  }

  @ParameterizedTest
  @CsvSource({"F8_E4M3", "F8_E4M3 diagonal", "F9 rows", "'F4_E2M1 nvfp4 x'", "F16 rows"})
  void damagedMetadataNamesTheTensor(String entry) {
    Path path = directory.resolve("odd.safetensors");
    StorageType type = entry.startsWith("F16") ? StorageType.F16 : StorageType.F8_E4M3;
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(path)
            .metadata("minifloat:" + NAME, entry)
            .tensor(NAME, type, Shape.of(2, 2))
            .create()) {
      writer.append(NAME, MemorySegment.ofArray(new byte[type.bits() / 2]));
      writer.commit();
    }
    try (TensorFile file = SafetensorsFile.open(path)) {
      MinifloatException e =
          assertThrows(MinifloatException.class, () -> QuantizedLayout.PLAIN.read(file, NAME));
      assertTrue(e.getMessage().contains(NAME), e.getMessage());
    }
  }
}
