package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An ONNX model, mapped into memory: its initializers as tensors, and its nodes, which say what the
 * initializers are for.
 *
 * <p>Data in {@code raw_data}, in packed {@code float_data} and {@code double_data}, and in
 * external files are handed out without a copy, at whatever alignment they have. Those in {@code
 * int32_data}, {@code int64_data} and {@code uint64_data} are decoded when first asked for.
 * External files must lie in the model's directory or below it.
 *
 * <p>Defined in <a href="https://github.com/onnx/onnx/blob/main/docs/IR.md">ONNX IR</a> and <a
 * href="https://github.com/onnx/onnx/blob/main/docs/ExternalData.md">External Data</a>.
 */
public final class OnnxFile implements TensorFile {
  private final Path path;
  private final Arena arena;
  private final MemorySegment bytes;
  private final OnnxParser.Model model;
  private final List<TensorInfo> tensors;
  private final Map<String, MemorySegment> externalFiles = new HashMap<>();
  private final Map<String, MemorySegment> decoded = new ConcurrentHashMap<>();

  private OnnxFile(Path path, Arena arena, MemorySegment bytes, boolean hasDirectory) {
    this.path = path;
    this.arena = arena;
    this.bytes = bytes;
    this.model = OnnxParser.parse(path.toString(), bytes);
    List<TensorInfo> infos = new ArrayList<>(model.tensors().size());
    for (Map.Entry<String, OnnxTensor> entry : model.tensors().entrySet()) {
      if (entry.getValue().source() instanceof OnnxTensor.Source.External source) {
        entry.setValue(resolve(entry.getValue(), source, hasDirectory));
      }
      infos.add(entry.getValue().info());
    }
    this.tensors = Collections.unmodifiableList(infos);
  }

  /**
   * Opens an ONNX file.
   *
   * @throws FileFormatException if it isn't a sound ONNX file of less than 2 GiB (the most a
   *     protobuf message can have), or if its external data are missing or too short
   * @throws MinifloatException if it can't be read
   */
  @SuppressWarnings("MustBeClosed") // the file owns the arena, and closes it
  public static OnnxFile open(Path path) {
    Arena arena = Arena.ofShared();
    try {
      return new OnnxFile(path, arena, MappedFile.map(path, arena), true);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Reads an ONNX model that is in memory already, such as a resource of a jar.
   *
   * @param bytes all of it; must live and stay unchanged as long as the result is used
   * @param name what messages and {@link #path} call it
   * @throws FileFormatException if it isn't a sound ONNX model, or if it has external data, which
   *     need a directory to be found in
   */
  @SuppressWarnings("MustBeClosed") // the file owns the arena, and closes it
  public static OnnxFile of(MemorySegment bytes, String name) {
    Path path = Path.of(name);
    Arena arena = Arena.ofShared();
    try {
      return new OnnxFile(path, arena, bytes.asReadOnly(), false);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Finds the file of external data, and checks that it is long enough. */
  private OnnxTensor resolve(
      OnnxTensor tensor, OnnxTensor.Source.External source, boolean hasDirectory) {
    TensorInfo info = tensor.info();
    if (!hasDirectory) {
      throw new FileFormatException(
          path.toString(),
          info.name(),
          -1,
          "its data are in another file, "
              + FileFormatException.quote(source.location())
              + ", which can't be found from memory; open the model by its path");
    }
    Path file = path.resolveSibling(source.location());
    if (!Files.isRegularFile(file)) {
      throw new FileFormatException(
          path.toString(), info.name(), -1, "the file of its data, " + file + ", is missing");
    }
    MemorySegment data =
        externalFiles.computeIfAbsent(source.location(), _ -> MappedFile.map(file, arena));
    if (info.offset() > data.byteSize() || info.byteSize() > data.byteSize() - info.offset()) {
      throw new FileFormatException(
          file.toString(),
          info.name(),
          info.offset(),
          info.byteSize()
              + " bytes of external data reach past the "
              + data.byteSize()
              + " of the file");
    }
    return new OnnxTensor(
        new TensorInfo(
            info.name(),
            info.type(),
            info.shape(),
            file.toString(),
            info.offset(),
            info.byteSize()),
        source);
  }

  /** The nodes of the main graph, in the order of the file, which is a topological one. */
  public List<OnnxNode> nodes() {
    return Collections.unmodifiableList(model.nodes());
  }

  /** The names of the graph's inputs; in old models the initializers are among them. */
  public List<String> inputs() {
    return Collections.unmodifiableList(model.inputs());
  }

  /** The names of the graph's outputs. */
  public List<String> outputs() {
    return Collections.unmodifiableList(model.outputs());
  }

  /**
   * Initializers that are not among {@link #tensors}, since no {@link StorageType} is like them:
   * strings, sparse tensors, complex numbers of 128 bits. By name, with what they are.
   */
  public Map<String, String> unsupported() {
    return Collections.unmodifiableMap(model.unsupported());
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public List<TensorInfo> tensors() {
    return tensors;
  }

  @Override
  public Optional<TensorInfo> find(String name) {
    return Optional.ofNullable(model.tensors().get(name)).map(OnnxTensor::info);
  }

  @Override
  public MemorySegment data(String name) {
    if (!arena.scope().isAlive()) {
      throw new IllegalStateException(path + " is closed");
    }
    TensorInfo info = info(name);
    return switch (model.tensors().get(name).source()) {
      case OnnxTensor.Source.Inline _ -> bytes.asSlice(info.offset(), info.byteSize());
      case OnnxTensor.Source.External(String location) ->
          externalFiles.get(location).asSlice(info.offset(), info.byteSize());
      case OnnxTensor.Source.Typed typed ->
          decoded.computeIfAbsent(
              name, _ -> OnnxTypedData.decode(path.toString(), bytes, info, typed, arena));
    };
  }

  @Override
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(model.metadata());
  }

  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
