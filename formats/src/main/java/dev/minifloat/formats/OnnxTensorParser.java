package dev.minifloat.formats;

import dev.minifloat.Shape;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/** Reads one initializer ({@code TensorProto}) and checks that shape, type and data agree. */
final class OnnxTensorParser {
  private static final int UNDEFINED = 0;
  private static final int STRING = 8;
  private static final int COMPLEX128 = 15;

  private final String file;
  private final ProtoReader in;

  private long start;
  private long length;
  private String name = "";
  private int typeNumber;
  private final long[] dims = new long[TensorInfo.MOST_DIMENSIONS];
  private int rank;
  private long rawOffset = -1;
  private long rawLength;
  private OnnxTypedData typed;
  private boolean external;
  private String location;
  private String externalOffset = "0";
  private String externalLength;

  OnnxTensorParser(String file, ProtoReader in) {
    this.file = file;
    this.in = in;
  }

  /**
   * What a {@code TensorProto} turned out to be.
   *
   * @param name its name
   * @param tensor the tensor, or empty if no {@link StorageType} is like it
   * @param why what it is, in the latter case
   */
  record Result(String name, Optional<OnnxTensor> tensor, String why) {}

  /** Reads the current field. */
  Result read() {
    in.enter();
    start = in.position();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      readField(field);
    }
    length = in.position() - start;
    Result result = finish();
    in.leave();
    in.about(null);
    return result;
  }

  private void readField(int field) {
    switch (field) {
      case 1 -> readDims();
      case 2 -> typeNumber = (int) in.varint();
      case 3 -> throw in.error("a tensor stored in segments, which nothing writes or reads");
      case OnnxTypedData.FLOAT_DATA,
          OnnxTypedData.INT32_DATA,
          OnnxTypedData.INT64_DATA,
          OnnxTypedData.DOUBLE_DATA,
          OnnxTypedData.UINT64_DATA ->
          readTyped(field);
      case 8 -> {
        name = in.string();
        in.about(name);
      }
      case 9 -> {
        if (rawOffset >= 0) {
          throw in.error("raw_data appears twice");
        }
        rawLength = in.skipBytes();
        rawOffset = in.position() - rawLength;
      }
      case 13 -> readExternal();
      case 14 -> external = in.varint() == 1;
      default -> in.skip();
    }
  }

  private void readDims() {
    if (!in.isLengthDelimited()) {
      addDim(in.varint());
      return;
    }
    in.enter();
    while (!in.atEnd()) {
      addDim(in.rawVarint());
    }
    in.leave();
  }

  private void addDim(long extent) {
    if (rank == dims.length) {
      throw in.error("more than " + rank + " dimensions");
    }
    dims[rank++] = extent;
  }

  private void readTyped(int field) {
    if (typed == null || (typed.isEmpty() && typed.field() != field)) {
      typed = new OnnxTypedData(field);
    }
    if (typed.field() != field) {
      throw in.error("data in more than one of the fields that can hold them");
    }
    typed.scan(in);
  }

  private void readExternal() {
    String key = "";
    String value = "";
    in.enter();
    for (int field = in.nextField(); field != 0; field = in.nextField()) {
      switch (field) {
        case 1 -> key = in.string();
        case 2 -> value = in.string();
        default -> in.skip();
      }
    }
    in.leave();
    switch (key) {
      case "location" -> location = value;
      case "offset" -> externalOffset = value;
      case "length" -> externalLength = value;
      default -> {
        // A checksum, or what a writer added for itself.
      }
    }
  }

  private Result finish() {
    if (name.isEmpty()) {
      throw in.error(start, "an initializer without a name, by which alone it can be used");
    }
    if (typeNumber == UNDEFINED) {
      throw in.error(start, "no data_type");
    }
    Optional<StorageType> known = StorageType.ofOnnx(typeNumber);
    if (known.isEmpty()) {
      return new Result(name, Optional.empty(), describe(typeNumber));
    }
    StorageType type = known.get();
    Shape shape = shape();
    long byteSize = byteSize(type, shape);
    return new Result(name, Optional.of(tensor(type, shape, byteSize)), "");
  }

  private static String describe(int type) {
    return switch (type) {
      case STRING -> "a tensor of strings";
      case COMPLEX128 -> "a tensor of complex numbers of 128 bits";
      default -> "a tensor of data_type " + type + ", which this version doesn't know";
    };
  }

  private Shape shape() {
    try {
      return Shape.of(Arrays.copyOf(dims, rank));
    } catch (IllegalArgumentException e) {
      throw in.error(start, e.getMessage());
    }
  }

  private long byteSize(StorageType type, Shape shape) {
    try {
      return type.byteSize(shape);
    } catch (IllegalArgumentException e) {
      throw in.error(start, e.getMessage());
    }
  }

  private OnnxTensor tensor(StorageType type, Shape shape, long byteSize) {
    boolean hasTyped = typed != null && !typed.isEmpty();
    if (external) {
      return externalTensor(type, shape, byteSize);
    }
    if (rawOffset >= 0 && hasTyped) {
      throw in.error(start, "data in raw_data and in a typed field too");
    }
    if (hasTyped) {
      String problem = typed.check(type, shape.elements(), byteSize);
      if (problem != null) {
        throw in.error(start, problem);
      }
      return new OnnxTensor(
          info(type, shape, file, typed.first(), byteSize),
          typed.isInline()
              ? new OnnxTensor.Source.Inline()
              : new OnnxTensor.Source.Typed(typed.field(), start, length));
    }
    if (rawLength != byteSize) {
      throw in.error(
          start,
          type
              + " "
              + shape
              + " needs "
              + byteSize
              + " bytes, and "
              + (rawOffset < 0 ? "there are no data" : "raw_data has " + rawLength));
    }
    long at = rawOffset < 0 ? start : rawOffset;
    return new OnnxTensor(info(type, shape, file, at, byteSize), new OnnxTensor.Source.Inline());
  }

  private TensorInfo info(StorageType type, Shape shape, String where, long at, long byteSize) {
    return new TensorInfo(name, type, shape, where, at, byteSize);
  }

  private OnnxTensor externalTensor(StorageType type, Shape shape, long byteSize) {
    if (location == null) {
      throw in.error(start, "external data without a location");
    }
    if (!ShardIndex.staysInside(location)) {
      throw in.error(
          start,
          "external data at "
              + FileFormatException.quote(location)
              + ", which is not inside the directory of the model; nothing outside it is opened");
    }
    String normal = Path.of(location).normalize().toString();
    long at = number("offset", externalOffset);
    if (externalLength != null && number("length", externalLength) != byteSize) {
      throw in.error(
          start,
          type
              + " "
              + shape
              + " needs "
              + byteSize
              + " bytes, and its external data have "
              + FileFormatException.quote(externalLength));
    }
    return new OnnxTensor(
        info(type, shape, normal, at, byteSize), new OnnxTensor.Source.External(normal));
  }

  private long number(String key, String text) {
    try {
      long value = Long.parseLong(text.strip());
      if (value >= 0) {
        return value;
      }
      throw in.error(start, "external data with a negative " + key + ": " + value);
    } catch (NumberFormatException _) {
      throw in.error(
          start,
          "external data whose " + key + " is no number: " + FileFormatException.quote(text));
    }
  }
}
