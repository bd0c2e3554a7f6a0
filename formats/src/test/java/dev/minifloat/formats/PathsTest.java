package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import dev.minifloat.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PathsTest {
  @TempDir Path folder;

  private static void write(Path target) {
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target).tensor("x", StorageType.U8, Shape.of(2)).create()) {
      writer.append("x", MemorySegment.ofArray(new byte[] {1, 2}));
      writer.commit();
    }
  }

  private static String message(Runnable action) {
    return assertThrows(MinifloatException.class, action::run).getMessage();
  }

  @Test
  void writingThroughASymbolicLinkKeepsTheLink() throws IOException {
    Path real = Files.createDirectory(folder.resolve("elsewhere")).resolve("real.safetensors");
    Files.writeString(real, "old");
    Path link = Files.createSymbolicLink(folder.resolve("link.safetensors"), real);
    write(link);
    assertTrue(Files.isSymbolicLink(link));
    try (TensorFile file = TensorFiles.open(real)) {
      assertArrayEquals(
          new byte[] {1, 2}, file.data("x").toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void nothingButARegularFileIsReplaced() throws IOException {
    Path directory = Files.createDirectory(folder.resolve("d.safetensors"));
    assertTrue(message(() -> write(directory)).contains("it is a directory"));
    Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("nowhere"));
    assertTrue(message(() -> write(dangling)).contains("leads nowhere"));
    assertTrue(Files.isSymbolicLink(dangling));
    try (var left = Files.list(folder)) {
      assertEquals(2, left.count());
    }
  }

  @Test
  void whatIsNoFileIsNamed() throws IOException {
    Path loop = folder.resolve("loop");
    Files.createSymbolicLink(loop, loop);
    assertTrue(message(() -> TensorFiles.open(loop)).contains("leads nowhere"));
    assertTrue(message(() -> Paths.requireReadable(Path.of(""))).contains("the path is empty"));
    Path missing = folder.resolve("missing");
    assertTrue(message(() -> TensorFiles.open(missing)).contains("there is no such file"));
  }

  @Test
  void aPipeIsRefusedRatherThanWaitedFor() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    assertTrue(message(() -> TensorFiles.open(pipe)).contains("a pipe or a device"));
    assertTrue(message(() -> write(pipe)).contains("a pipe or a device"));
  }

  @Test
  void textThatWouldMoveACursorIsEscaped() {
    assertEquals(
        "a\\u001b[2Jb\\u000ac\\u202ed\\ud800é😀", Printable.of("a\u001b[2Jb\nc\u202ed\ud800é😀"));
  }
}
