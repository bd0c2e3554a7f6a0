package dev.minifloat.formats;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads what an ONNX model ({@code ModelProto}) says of its initializers and nodes. Field numbers
 * are those of <a href="https://github.com/onnx/onnx/blob/main/onnx/onnx.proto">onnx.proto</a>.
 * Subgraphs, functions and training information are passed over.
 */
final class OnnxParser {
  /** Bytes of heap that a graph of any file may take, beyond twice the size of the file. */
  private static final long SPARE = 64L << 20;

  // What the parts of a description take on the heap, about: objects, references, table entries.
  private static final int PER_TEXT = 80;
  private static final int PER_NODE = 160;
  private static final int PER_ATTRIBUTE = 96;
  private static final int PER_NUMBER = 24;
  private static final int PER_REFERENCE = 8;
  private static final int PER_TENSOR = 256;

  private final String file;
  private final ProtoReader in;
  private final Map<String, OnnxTensor> tensors = new LinkedHashMap<>();
  private final Map<String, String> unsupported = new LinkedHashMap<>();
  private final Map<String, String> metadata = new LinkedHashMap<>();
  private final List<OnnxNode> nodes = new ArrayList<>();
  private final List<String> inputs = new ArrayList<>();
  private final List<String> outputs = new ArrayList<>();
  // Names recur: each output is an input elsewhere, each operator many times a node.
  private final Map<String, String> texts = new HashMap<>();
  private boolean hasGraph;
  private long budget;

  private OnnxParser(String file, MemorySegment bytes) {
    this.file = file;
    this.budget = 2 * bytes.byteSize() + SPARE;
    this.in = new ProtoReader(file, bytes, 0);
  }

  /**
   * What a model holds.
   *
   * @param tensors the initializers in the order of the file
   * @param unsupported initializers that {@link StorageType} can't express, and why
   * @param metadata the {@code metadata_props}
   * @param nodes the nodes of the main graph in the order of the file
   * @param inputs the names of the graph's inputs
   * @param outputs the names of the graph's outputs
   */
  record Model(
      Map<String, OnnxTensor> tensors,
      Map<String, String> unsupported,
      Map<String, String> metadata,
      List<OnnxNode> nodes,
      List<String> inputs,
      List<String> outputs) {}

  /**
   * Reads a model.
   *
   * @param file the file, for messages
   * @param bytes all of it
   * @throws FileFormatException if it isn't a sound ONNX file
   */
  static Model parse(String file, MemorySegment bytes) {
    if (bytes.byteSize() > ProtoReader.LONGEST) {
      throw new FileFormatException(
          file,
          null,
          -1,
          bytes.byteSize()
              + " bytes are more than a protobuf message can have (2^31 − 1); export the model with"
              + " external data");
    }
    OnnxParser parser = new OnnxParser(file, bytes);
    parser.readModel();
    return new Model(
        parser.tensors,
        parser.unsupported,
        parser.metadata,
        parser.nodes,
        parser.inputs,
        parser.outputs);
  }

  private void readModel() {
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 7 -> readGraph();
        case 14 -> {
          String[] entry = readEntry();
          charge(2 * PER_TEXT + entry[0].length() + (long) entry[1].length());
          metadata.putIfAbsent(entry[0], entry[1]);
        }
        default -> in.skip();
      }
    }
    if (!hasGraph) {
      throw in.error("no graph, which every ONNX model has; is it an ONNX file?");
    }
  }

  private void readGraph() {
    hasGraph = true;
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 1 -> nodes.add(readNode());
        case 5 -> readTensor();
        case 11 -> inputs.add(readValueName());
        case 12 -> outputs.add(readValueName());
        case 15 -> readSparseName();
        default -> in.skip();
      }
    }
    in.leave();
  }

  /**
   * Accounts for heap. A message of two bytes can become an object of a hundred, so that a file
   * made of them would fill any heap; one that describes weights never comes near its budget.
   */
  private void charge(long bytes) {
    budget -= bytes;
    if (budget < 0) {
      throw in.error(
          "a graph of so many small parts that it would take more than twice the memory of the file;"
              + " it isn't the graph of a model");
    }
  }

  private String text() {
    String text = in.string();
    charge(PER_REFERENCE);
    String known = texts.putIfAbsent(text, text);
    if (known != null) {
      return known;
    }
    charge(PER_TEXT + (long) text.length());
    return text;
  }

  /** A {@code StringStringEntryProto}: its key and its value. */
  private String[] readEntry() {
    String[] entry = {"", ""};
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 1, 2 -> entry[field - 1] = in.string();
        default -> in.skip();
      }
    }
    in.leave();
    return entry;
  }

  /** The name of a {@code ValueInfoProto}. */
  private String readValueName() {
    String name = "";
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      if (field == 1) {
        name = text();
      } else {
        in.skip();
      }
    }
    in.leave();
    return name;
  }

  private void readSparseName() {
    String name = "";
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      if (field != 1) {
        in.skip();
        continue;
      }
      in.enter();
      for (int inner = in.nextField(); inner != 0; inner = in.nextField()) {
        if (inner == 8) {
          name = text();
        } else {
          in.skip();
        }
      }
      in.leave();
    }
    in.leave();
    unsupported.put(name, "a sparse tensor");
  }

  private OnnxNode readNode() {
    charge(PER_NODE);
    String name = "";
    String opType = "";
    String domain = "";
    List<String> from = new ArrayList<>(2);
    List<String> to = new ArrayList<>(1);
    Map<String, OnnxAttribute> attributes = new HashMap<>(2);
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 1 -> from.add(text());
        case 2 -> to.add(text());
        case 3 -> name = text();
        case 4 -> opType = text();
        case 5 -> readAttribute(attributes);
        case 7 -> domain = text();
        default -> in.skip();
      }
    }
    if (opType.isEmpty()) {
      throw in.error(
          "node " + FileFormatException.quote(name) + " has no op_type, which every node has");
    }
    in.leave();
    return new OnnxNode(name, opType, domain, from, to, attributes);
  }

  private void readAttribute(Map<String, OnnxAttribute> attributes) {
    String name = "";
    int type = 0;
    OnnxAttribute single = null;
    List<Long> ints = new ArrayList<>(0);
    List<Float> floats = new ArrayList<>(0);
    List<String> strings = new ArrayList<>(0);
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 1 -> name = text();
        case 2 -> single = new OnnxAttribute.FloatValue(Float.intBitsToFloat(in.fixed32()));
        case 3 -> single = new OnnxAttribute.IntValue(in.varint());
        case 4 -> single = new OnnxAttribute.TextValue(lenientText());
        case 7 -> readFloats(floats);
        case 8 -> readInts(ints);
        case 9 -> strings.add(lenientText());
        case 20 -> type = (int) in.varint();
        default -> in.skip();
      }
    }
    in.leave();
    charge(PER_ATTRIBUTE);
    attributes.put(name, attribute(type, single, ints, floats, strings));
  }

  /**
   * The type says which field counts. Writers of the first IR version gave none, and a number that
   * equals its default may be left out: then it is what is there.
   */
  private static OnnxAttribute attribute(
      int type, OnnxAttribute single, List<Long> ints, List<Float> floats, List<String> strings) {
    return switch (type) {
      case 1 -> single == null ? new OnnxAttribute.FloatValue(0) : single;
      case 2 -> single == null ? new OnnxAttribute.IntValue(0) : single;
      case 3 -> single == null ? new OnnxAttribute.TextValue("") : single;
      case 6 -> new OnnxAttribute.FloatList(floats);
      case 7 -> new OnnxAttribute.IntList(ints);
      case 8 -> new OnnxAttribute.TextList(strings);
      case 0 ->
          single != null
              ? single
              : !ints.isEmpty()
                  ? new OnnxAttribute.IntList(ints)
                  : !floats.isEmpty()
                      ? new OnnxAttribute.FloatList(floats)
                      : !strings.isEmpty()
                          ? new OnnxAttribute.TextList(strings)
                          : new OnnxAttribute.Unread(0);
      default -> new OnnxAttribute.Unread(type);
    };
  }

  private String lenientText() {
    String text = new String(in.bytes(), StandardCharsets.UTF_8);
    charge(PER_TEXT + (long) text.length());
    return text;
  }

  private void readInts(List<Long> values) {
    if (!in.isLengthDelimited()) {
      charge(PER_NUMBER);
      values.add(in.varint());
      return;
    }
    in.enter();
    while (!in.atEnd()) {
      charge(PER_NUMBER);
      values.add(in.rawVarint());
    }
    in.leave();
  }

  private void readFloats(List<Float> values) {
    if (!in.isLengthDelimited()) {
      charge(PER_NUMBER);
      values.add(Float.intBitsToFloat(in.fixed32()));
      return;
    }
    in.enter();
    while (!in.atEnd()) {
      charge(PER_NUMBER);
      values.add(Float.intBitsToFloat(in.rawFixed32()));
    }
    in.leave();
  }

  private void readTensor() {
    OnnxTensorParser.Result result = new OnnxTensorParser(file, in).read();
    String name = result.name();
    charge(PER_TENSOR + (long) name.length());
    Optional<OnnxTensor> tensor = result.tensor();
    boolean duplicate =
        tensor.isPresent()
            ? tensors.put(name, tensor.get()) != null
            : unsupported.put(name, result.why()) != null;
    if (duplicate) {
      in.about(name);
      throw in.error("appears twice among the initializers");
    }
  }
}
