package dev.minifloat.bench.peers;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Tells whether a shared library is whole before the dynamic linker maps it: a file cut short maps
 * well and then kills the process at its first touch. The layout is that of the ELF-64 object file
 * format, version 1.2.
 */
final class ElfFile {
  private static final int MAGIC = 0x464c457f; // 7f 'E' 'L' 'F', little-endian
  private static final int HEADER_BYTES = 64;
  private static final int CLASS_64_LITTLE_ENDIAN = 0x0102;
  private static final int SHARED_OBJECT = 3;
  private static final int X86_64 = 62;

  private ElfFile() {}

  /**
   * Checks the headers, and that each segment and section they name lies in the file.
   *
   * @throws PeerAbsent if this isn't a whole x86-64 shared library
   */
  static void check(Path file) throws PeerAbsent {
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer header = read(channel, 0, HEADER_BYTES);
      if (header.getInt(0) != MAGIC
          || header.getShort(4) != CLASS_64_LITTLE_ENDIAN
          || header.getShort(16) != SHARED_OBJECT) {
        throw new PeerAbsent(file + " is not a 64-bit ELF shared library");
      }
      if (header.getShort(18) != X86_64) {
        throw new PeerAbsent(
            file + " is for another processor (ELF machine " + header.getShort(18) + ")");
      }
      checkTable(channel, header.getLong(32), header.getShort(54), header.getShort(56), 8, 32, 0);
      // A section of type 8 (NOBITS) takes no room in the file.
      checkTable(channel, header.getLong(40), header.getShort(58), header.getShort(60), 24, 32, 8);
    } catch (EOFException e) {
      throw new PeerAbsent(
          file + " is cut short or damaged; remove it and run bench/peers/install again", e);
    } catch (IOException e) {
      throw new UncheckedIOException("can't read " + file, e);
    }
  }

  /** Checks {@code count} entries that hold an offset and a size at the given places. */
  private static void checkTable(
      FileChannel channel, long at, int entryBytes, int count, int offset, int size, int typeOfNone)
      throws IOException {
    if (count == 0) {
      return;
    }
    if (entryBytes < size + 8) {
      throw new EOFException("entries of " + entryBytes + " bytes");
    }
    ByteBuffer table = read(channel, at, entryBytes * count);
    for (int i = 0; i < count; i++) {
      int entry = i * entryBytes;
      long begin = table.getLong(entry + offset);
      long bytes = table.getLong(entry + size);
      boolean empty = typeOfNone != 0 && table.getInt(entry + 4) == typeOfNone;
      if (!empty && (begin < 0 || bytes < 0 || begin > channel.size() - bytes)) {
        throw new EOFException("entry " + i + " ends after the file");
      }
    }
  }

  private static ByteBuffer read(FileChannel channel, long at, int bytes) throws IOException {
    if (at < 0 || bytes < 0 || at > channel.size() - bytes) {
      throw new EOFException("nothing at " + at);
    }
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, at + buffer.position()) < 0) {
        throw new EOFException("nothing at " + at);
      }
    }
    return buffer;
  }
}
