package dev.minifloat.formats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes files for tests, sound and unsound ones. */
final class Bytes {
  private Bytes() {}

  /** A safetensors file of a header as it is and so many bytes of data: 0, 1, 2, … */
  static byte[] safetensors(String header, int dataSize) {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(8 + text.length + dataSize).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(text.length).put(text);
    for (int i = 0; i < dataSize; i++) {
      file.put((byte) i);
    }
    return file.array();
  }

  static Path write(Path path, byte[] bytes) {
    try {
      return Files.write(path, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path write(Path path, String text) {
    return write(path, text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] of(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }
}
