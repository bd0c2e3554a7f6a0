package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TensorFilesTest {
  @TempDir private Path directory;

  private Path write(String name, byte[] bytes) {
    return Bytes.write(directory.resolve(name), bytes);
  }

  @ParameterizedTest
  @CsvSource({"model.safetensors", "model", "model.bin"})
  void aSafetensorsFileIsKnownByItsContent(String name) {
    try (TensorFile file = TensorFiles.open(write(name, Bytes.safetensors("{}", 0)))) {
      assertInstanceOf(SafetensorsFile.class, file);
    }
  }

  @ParameterizedTest
  @CsvSource({"model.onnx", "model"})
  void anOnnxModelIsKnownByItsContent(String name) {
    try (TensorFile file = TensorFiles.open(write(name, OnnxWriter.model()))) {
      assertInstanceOf(OnnxFile.class, file);
    }
  }

  @Test
  void anOnnxModelThatBeginsWithItsGraphIsKnownByItsName() {
    byte[] bytes = OnnxWriter.message(OnnxWriter.nested(7, OnnxWriter.text(2, "g")));
    try (TensorFile file = TensorFiles.open(write("model.onnx", bytes))) {
      assertInstanceOf(OnnxFile.class, file);
    }
  }

  @Test
  void directoriesAndIndexesAreShardedModels() {
    write("1.safetensors", Bytes.safetensors("{}", 0));
    Path index = Bytes.write(directory.resolve("m.safetensors.index.json"), "{\"weight_map\":{}}");
    try (TensorFile byIndex = TensorFiles.open(index);
        TensorFile byDirectory = TensorFiles.open(directory)) {
      assertEquals(index, byIndex.path());
      assertEquals(index, byDirectory.path());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "m.gguf,'GGUF\3\0\0\0',GGUF",
    "m.bin,'PK\3\4',PyTorch",
    "m.pt,'\u0080\2}q',pickle",
    "m.h5,'\u0089HDF\r\n',HDF5",
    "m.npy,'\u0093NUMPY\1',NumPy",
    "m.tflite,'\34\0\0\0TFL3',TensorFlow",
    "m.onnx.gz,'\u001f\u008b\b',unpack",
    "m.safetensors,'version https://git-lfs.github.com/spec/v1',git lfs pull",
    "m.onnx,'version https://git-lfs.github.com/spec/v1',git lfs pull",
    "m.onnx,'<!DOCTYPE html>',download",
    "m.txt,'hello',68 65 6c 6c 6f"
  })
  void otherFilesAreCalledByTheirName(String name, String content, String mention) {
    Path path = write(name, content.getBytes(StandardCharsets.ISO_8859_1));
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> TensorFiles.open(path).close());
    assertTrue(e.getMessage().contains(mention), e::getMessage);
    assertTrue(e.getMessage().contains(path.toString()), e::getMessage);
  }

  @Test
  void anEmptyFileIsNoModel() {
    Path path = write("model", new byte[0]);
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> TensorFiles.open(path).close());
    assertTrue(e.getMessage().contains("empty"), e::getMessage);
  }

  @Test
  void aMissingFileIsNamed() {
    Path path = directory.resolve("none.onnx");
    MinifloatException e =
        assertThrows(MinifloatException.class, () -> TensorFiles.open(path).close());
    assertTrue(e.getMessage().contains("no such file"), e::getMessage);
  }
}
