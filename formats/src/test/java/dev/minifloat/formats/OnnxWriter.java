package dev.minifloat.formats;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes ONNX models for tests: messages from fields, nested by hand. */
final class OnnxWriter {
  private OnnxWriter() {}

  /** Writes fields. */
  interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  static byte[] message(Fields... fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      for (Fields field : fields) {
        field.write(out);
      }
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static Fields bytes(int field, byte[] value) {
    return out -> out.writeByteArray(field, value);
  }

  static Fields nested(int field, Fields... fields) {
    return bytes(field, message(fields));
  }

  static Fields text(int field, String value) {
    return out -> out.writeString(field, value);
  }

  static Fields varint(int field, long value) {
    return out -> out.writeInt64(field, value);
  }

  /** A repeated integer field in its packed form. */
  static Fields packed(int field, long... values) {
    return bytes(
        field,
        message(
            out -> {
              for (long value : values) {
                out.writeUInt64NoTag(value);
              }
            }));
  }

  static Fields packedFloats(int field, float... values) {
    return bytes(
        field,
        message(
            out -> {
              for (float value : values) {
                out.writeFloatNoTag(value);
              }
            }));
  }

  /** A model of one graph with these fields. */
  static byte[] model(Fields... graph) {
    return message(
        varint(1, 8), text(2, "test"), nested(7, graph), nested(14, text(1, "k"), text(2, "v")));
  }

  /** An initializer: name, data_type, dims, and what else. */
  static Fields tensor(String name, int type, long[] dims, Fields... more) {
    return nested(
        5,
        out -> {
          for (long dim : dims) {
            out.writeInt64(1, dim);
          }
          out.writeInt32(2, type);
          out.writeString(8, name);
          for (Fields fields : more) {
            fields.write(out);
          }
        });
  }

  static long[] dims(long... dims) {
    return dims;
  }

  /** raw_data. */
  static Fields raw(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes(9, bytes);
  }

  /** data_location = EXTERNAL and its entries: key, value, key, value, … */
  static Fields external(String... entries) {
    return out -> {
      for (int i = 0; i < entries.length; i += 2) {
        nested(13, text(1, entries[i]), text(2, entries[i + 1])).write(out);
      }
      out.writeInt32(14, 1);
    };
  }
}
