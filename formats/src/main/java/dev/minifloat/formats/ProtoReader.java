package dev.minifloat.formats;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Walks protobuf messages in mapped memory, field by field, and knows at each moment which byte of
 * the file it is at; what isn't asked for is skipped without being read. Every complaint is a
 * {@link FileFormatException}.
 */
final class ProtoReader {
  /** A protobuf stream counts its bytes in an int. */
  static final long LONGEST = Integer.MAX_VALUE;

  private final String file;
  private final CodedInputStream in;
  private final long base;
  private String tensor;
  private int tag;
  private int tagPosition;

  private int depth;
  // For each message entered: where it ends, and the limit to restore when it is left.
  private final int[] ends = new int[8];
  private final int[] outerLimits = new int[8];

  /**
   * A reader that stands at the beginning of a message.
   *
   * @param file the file, for messages
   * @param message all of the message, at most {@link #LONGEST} bytes
   * @param base where in the file it begins
   */
  ProtoReader(String file, MemorySegment message, long base) {
    this.file = file;
    this.base = base;
    this.in = CodedInputStream.newInstance(new SegmentInputStream(message));
    in.setSizeLimit((int) LONGEST);
    ends[0] = (int) message.byteSize();
  }

  /** From now on, complaints name this tensor; null for none. */
  void about(String tensor) {
    this.tensor = tensor;
  }

  /** The byte of the file that is read next. */
  long position() {
    return base + in.getTotalBytesRead();
  }

  private int remaining() {
    return ends[depth] - in.getTotalBytesRead();
  }

  /** A complaint about the current field. */
  FileFormatException error(String problem) {
    return error(base + tagPosition, problem);
  }

  /** A complaint about a place in the file. */
  FileFormatException error(long position, String problem) {
    return new FileFormatException(file, tensor, position, problem);
  }

  private FileFormatException malformed(IOException e) {
    return new FileFormatException(
        file,
        tensor,
        position(),
        "not a valid protobuf message: " + e.getMessage() + "; is it an ONNX file?",
        e);
  }

  /** The number of the next field of the message, or 0 if it has no more. */
  int nextField() {
    tagPosition = in.getTotalBytesRead();
    if (remaining() == 0) {
      return 0;
    }
    try {
      tag = in.readTag();
    } catch (IOException e) {
      throw malformed(e);
    }
    return WireFormat.getTagFieldNumber(tag);
  }

  private int wireType() {
    return WireFormat.getTagWireType(tag);
  }

  /** Whether the current field has a length: a message, text, bytes, or packed numbers. */
  boolean isLengthDelimited() {
    return wireType() == WireFormat.WIRETYPE_LENGTH_DELIMITED;
  }

  private void expect(int wireType) {
    if (wireType() != wireType) {
      throw error(
          "field "
              + WireFormat.getTagFieldNumber(tag)
              + " has wire type "
              + wireType()
              + ", and must have "
              + wireType
              + "; is it an ONNX file?");
    }
  }

  private int length() {
    expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    int length;
    try {
      length = in.readRawVarint32();
    } catch (IOException e) {
      throw malformed(e);
    }
    if (length < 0 || length > remaining()) {
      throw error(
          "a field of "
              + Integer.toUnsignedString(length)
              + " bytes where only "
              + remaining()
              + " remain; the file is cut off or damaged");
    }
    return length;
  }

  /** Enters the current field, a message or packed numbers; {@link #leave} it at its end. */
  void enter() {
    int length = length();
    if (depth + 1 == ends.length) {
      throw error("messages nested deeper than ONNX has them");
    }
    try {
      int outer = in.pushLimit(length);
      depth++;
      outerLimits[depth] = outer;
      ends[depth] = in.getTotalBytesRead() + length;
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** Whether the message or the packed numbers entered last have been read to their end. */
  boolean atEnd() {
    return remaining() == 0;
  }

  /** Leaves what was entered last. */
  void leave() {
    in.popLimit(outerLimits[depth]);
    depth--;
  }

  /** Passes over the current field of known length and says how long it is. */
  int skipBytes() {
    int length = length();
    skipRaw(length);
    return length;
  }

  private void skipRaw(int length) {
    try {
      in.skipRawBytes(length);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** Passes over the current field, whatever it is. */
  void skip() {
    switch (wireType()) {
      case WireFormat.WIRETYPE_VARINT -> rawVarint();
      case WireFormat.WIRETYPE_FIXED64 -> skipRaw(Long.BYTES);
      case WireFormat.WIRETYPE_LENGTH_DELIMITED -> skipBytes();
      case WireFormat.WIRETYPE_FIXED32 -> skipRaw(Integer.BYTES);
      default ->
          throw error("wire type " + wireType() + " does not occur in ONNX; is it an ONNX file?");
    }
  }

  /** The current field as a variable-length integer. */
  long varint() {
    expect(WireFormat.WIRETYPE_VARINT);
    return rawVarint();
  }

  /** The next of packed variable-length integers. */
  long rawVarint() {
    try {
      return in.readRawVarint64();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** The current field as four bytes. */
  int fixed32() {
    expect(WireFormat.WIRETYPE_FIXED32);
    return rawFixed32();
  }

  /** The next of packed four-byte numbers. */
  int rawFixed32() {
    try {
      return in.readRawLittleEndian32();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** The current field as eight bytes. */
  long fixed64() {
    expect(WireFormat.WIRETYPE_FIXED64);
    try {
      return in.readRawLittleEndian64();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** The current field as text, which must be UTF-8. */
  String string() {
    long at = position();
    byte[] bytes = bytes();
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (text.indexOf('\uFFFD') >= 0
        && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
      throw new FileFormatException(file, tensor, at, "text that is not UTF-8");
    }
    return text;
  }

  /** The current field as bytes. */
  byte[] bytes() {
    int length = length();
    try {
      return in.readRawBytes(length);
    } catch (IOException e) {
      throw malformed(e);
    }
  }
}
