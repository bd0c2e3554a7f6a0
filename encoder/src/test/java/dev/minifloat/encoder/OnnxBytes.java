package dev.minifloat.encoder;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.minifloat.HostTensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Writes the parts of an ONNX model that a test needs (onnx.proto: ModelProto, GraphProto). */
final class OnnxBytes {
  private static final int FLOAT = 1;
  private static final int FLOAT16 = 10;

  private final ByteArrayOutputStream graphBytes = new ByteArrayOutputStream();
  private final CodedOutputStream graph = CodedOutputStream.newInstance(graphBytes);

  private interface Body {
    void writeTo(CodedOutputStream out) throws IOException;
  }

  private static ByteString message(Body body) {
    ByteString.Output bytes = ByteString.newOutput();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      body.writeTo(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteString();
  }

  private OnnxBytes add(int field, ByteString message) {
    try {
      graph.writeBytes(field, message);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  /** An initializer of F32 or F16. */
  OnnxBytes initializer(String name, HostTensor tensor) {
    return add(
        5,
        message(
            out -> {
              for (long dim : tensor.shape().dims()) {
                out.writeInt64(1, dim);
              }
              out.writeInt32(2, tensor.dtype().bits() == 32 ? FLOAT : FLOAT16);
              out.writeString(8, name);
              out.writeByteArray(9, tensor.data().toArray(ValueLayout.JAVA_BYTE));
            }));
  }

  /** A node without attributes. */
  OnnxBytes node(String opType, List<String> inputs, String output) {
    return add(1, node(opType, inputs, output, _ -> {}));
  }

  /** A Gemm that takes its matrix as [out, in]. */
  OnnxBytes transposedGemm(List<String> inputs, String output) {
    ByteString transB =
        message(
            out -> {
              out.writeString(1, "transB");
              out.writeInt64(3, 1);
              out.writeInt32(20, 2);
            });
    return add(1, node("Gemm", inputs, output, out -> out.writeBytes(5, transB)));
  }

  private static ByteString node(
      String opType, List<String> inputs, String output, Body attributes) {
    return message(
        out -> {
          for (String input : inputs) {
            out.writeString(1, input);
          }
          out.writeString(2, output);
          out.writeString(4, opType);
          attributes.writeTo(out);
        });
  }

  byte[] model() {
    try {
      graph.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return message(
            out -> {
              out.writeInt64(1, 8);
              out.writeByteArray(7, graphBytes.toByteArray());
            })
        .toByteArray();
  }
}
