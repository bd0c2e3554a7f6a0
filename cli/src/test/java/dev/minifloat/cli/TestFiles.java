package dev.minifloat.cli;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.formats.SafetensorsWriter;
import dev.minifloat.formats.StorageType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Makes files of tensors for tests. */
final class TestFiles {
  private TestFiles() {}

  /** Values like those of weights, with some zeros, in a type of floats. */
  static HostTensor weights(DType dtype, long seed, long... dims) {
    Shape shape = Shape.of(dims);
    HostTensor tensor = HostTensor.allocate(Arena.ofAuto(), dtype, shape, Scaling.none());
    Random random = new Random(seed);
    for (long i = 0; i < shape.elements(); i++) {
      double value = i % 37 == 0 ? 0 : random.nextGaussian() * 0.02;
      PackedElements.set(dtype, tensor.data(), i, Codec.encode(dtype, value));
    }
    return tensor;
  }

  /** Writes a safetensors file. */
  static Path safetensors(Path path, Map<String, HostTensor> tensors) {
    SafetensorsWriter.Plan plan = SafetensorsWriter.to(path);
    tensors.forEach((name, t) -> plan.tensor(name, StorageType.of(t.dtype()), t.shape()));
    try (SafetensorsWriter writer = plan.create()) {
      tensors.forEach((name, t) -> writer.append(name, t.data()));
      writer.commit();
    }
    return path;
  }

  /** Writes one F64 tensor. */
  static Path doubles(Path path, String name, Shape shape, double[] values) {
    MemorySegment data = MemorySegment.ofArray(new byte[8 * values.length]);
    for (int i = 0; i < values.length; i++) {
      data.set(
          ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 8L * i, values[i]);
    }
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(path).tensor(name, StorageType.F64, shape).create()) {
      writer.append(name, data);
      writer.commit();
    }
    return path;
  }

  /** Some tensors by name, in order. */
  static Map<String, HostTensor> named(Object... namesAndTensors) {
    Map<String, HostTensor> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndTensors.length; i += 2) {
      map.put((String) namesAndTensors[i], (HostTensor) namesAndTensors[i + 1]);
    }
    return map;
  }

  /** A node of an ONNX graph. */
  record Node(String opType, List<String> inputs, String output, boolean transB) {}

  /** Writes an ONNX model of F32 initializers and nodes. */
  static Path onnx(Path path, Map<String, HostTensor> initializers, List<Node> nodes)
      throws IOException {
    ByteArrayOutputStream graph = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(graph);
    for (Node node : nodes) {
      out.writeByteArray(1, node(node));
    }
    for (Map.Entry<String, HostTensor> entry : initializers.entrySet()) {
      out.writeByteArray(5, initializer(entry.getKey(), entry.getValue()));
    }
    out.flush();
    ByteArrayOutputStream model = new ByteArrayOutputStream();
    CodedOutputStream modelOut = CodedOutputStream.newInstance(model);
    modelOut.writeInt64(1, 8);
    modelOut.writeByteArray(7, graph.toByteArray());
    modelOut.flush();
    return Files.write(path, model.toByteArray());
  }

  private static byte[] node(Node node) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    for (String input : node.inputs) {
      out.writeString(1, input);
    }
    out.writeString(2, node.output);
    out.writeString(4, node.opType);
    if (node.transB) {
      ByteArrayOutputStream attribute = new ByteArrayOutputStream();
      CodedOutputStream attributeOut = CodedOutputStream.newInstance(attribute);
      attributeOut.writeString(1, "transB");
      attributeOut.writeInt64(3, 1);
      attributeOut.writeInt32(20, 2);
      attributeOut.flush();
      out.writeByteArray(5, attribute.toByteArray());
    }
    out.flush();
    return bytes.toByteArray();
  }

  private static byte[] initializer(String name, HostTensor tensor) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    for (long dim : tensor.shape().dims()) {
      out.writeInt64(1, dim);
    }
    out.writeInt32(2, 1);
    out.writeString(8, name);
    out.writeBytes(9, ByteString.copyFrom(tensor.data().toArray(ValueLayout.JAVA_BYTE)));
    out.flush();
    return bytes.toByteArray();
  }
}
