package dev.minifloat.bench.peers;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ElfFileTest {
  private static final int SEGMENTS_AT = 64;
  private static final int SECTIONS_AT = SEGMENTS_AT + 56;
  private static final int CONTENT_AT = SECTIONS_AT + 64;

  @TempDir Path folder;

  /** A library with one segment and one section of 100 bytes. */
  private final ByteBuffer library =
      ByteBuffer.allocate(CONTENT_AT + 100).order(ByteOrder.LITTLE_ENDIAN);

  @BeforeEach
  void fill() {
    library.put(0, new byte[] {0x7f, 'E', 'L', 'F', 2, 1});
    library.putShort(16, (short) 3).putShort(18, (short) 62);
    library.putLong(32, SEGMENTS_AT).putShort(54, (short) 56).putShort(56, (short) 1);
    library.putLong(40, SECTIONS_AT).putShort(58, (short) 64).putShort(60, (short) 1);
    library.putLong(SEGMENTS_AT + 8, CONTENT_AT).putLong(SEGMENTS_AT + 32, 100);
    library.putLong(SECTIONS_AT + 24, CONTENT_AT).putLong(SECTIONS_AT + 32, 100);
  }

  private Path write(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    library.get(0, content);
    return Files.write(folder.resolve("library.so"), content);
  }

  private void assertRefused(Path file, String reason) {
    String message = assertThrows(PeerAbsent.class, () -> ElfFile.check(file)).getMessage();
    assertTrue(message.contains(reason), message);
  }

  @Test
  void wholeLibrariesPass() throws IOException {
    Path file = write(library.capacity());
    assertDoesNotThrow(() -> ElfFile.check(file));
  }

  @Test
  void everyLengthThatIsShortIsRefused() throws IOException {
    for (int bytes = 0; bytes < library.capacity(); bytes++) {
      assertRefused(write(bytes), "cut short or damaged");
    }
  }

  @Test
  void otherFilesAreRefused() throws IOException {
    library.put(1, (byte) 'e');
    assertRefused(write(library.capacity()), "not a 64-bit ELF shared library");
  }

  @Test
  void programsAreRefused() throws IOException {
    library.putShort(16, (short) 2);
    assertRefused(write(library.capacity()), "not a 64-bit ELF shared library");
  }

  @Test
  void otherProcessorsAreRefused() throws IOException {
    library.putShort(18, (short) 183);
    assertRefused(write(library.capacity()), "for another processor");
  }

  @Test
  void offsetsThatOverflowAreRefused() throws IOException {
    library.putLong(SEGMENTS_AT + 8, Long.MAX_VALUE);
    assertRefused(write(library.capacity()), "cut short or damaged");
  }

  @Test
  void sectionsThatTakeNoRoomMayBeOfAnySize() throws IOException {
    library.putInt(SECTIONS_AT + 4, 8).putLong(SECTIONS_AT + 32, 1L << 40);
    Path file = write(library.capacity());
    assertDoesNotThrow(() -> ElfFile.check(file));
  }
}
