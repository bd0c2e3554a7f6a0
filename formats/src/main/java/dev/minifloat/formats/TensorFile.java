package dev.minifloat.formats;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An open file, or set of files, of named tensors: a memory map, from which nothing is copied until
 * someone does so.
 *
 * <p>Any thread may use it. {@link #close} unmaps the file: reading the data of a tensor after that
 * is an {@link IllegalStateException}, also through segments handed out before. What {@link
 * #tensors}, {@link #info} and {@link #metadata} say remains readable.
 *
 * <p>The file must not be truncated while it is open: an access to pages that no longer exist is an
 * {@link InternalError}, as with every memory map of the JVM.
 */
public interface TensorFile extends AutoCloseable {
  /** What was opened. */
  Path path();

  /** All tensors, in the order in which they stand in the file. */
  List<TensorInfo> tensors();

  /** The tensor of that name, if there is one. */
  Optional<TensorInfo> find(String name);

  /**
   * The tensor of that name.
   *
   * @throws IllegalArgumentException if there is none
   */
  default TensorInfo info(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "name: "
                        + path()
                        + " has no tensor "
                        + FileFormatException.quote(name)
                        + Names.hint(name, tensors())));
  }

  /**
   * The bytes of a tensor, {@link TensorInfo#byteSize} of them: read-only, little-endian, packed as
   * {@link StorageType} says, and at any alignment, so that they are read with the {@code
   * _UNALIGNED} layouts. They live until this file is closed.
   *
   * @throws IllegalArgumentException if there is no such tensor
   * @throws IllegalStateException after {@link #close}
   */
  MemorySegment data(String name);

  /**
   * A tensor as backends take it, over the memory of {@link #data} and for as long.
   *
   * @throws IllegalArgumentException if there is no such tensor, or if backends don't compute with
   *     its type
   * @throws IllegalStateException after {@link #close}
   */
  default HostTensor tensor(String name) {
    TensorInfo info = info(name);
    DType dtype =
        info.type()
            .dtype()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "name: tensor "
                            + FileFormatException.quote(name)
                            + " of "
                            + path()
                            + " holds "
                            + info.type()
                            + ", which backends don't compute with; read its data() instead"));
    return HostTensor.wrap(dtype, info.shape(), data(name));
  }

  /** What the file says of itself: safetensors' {@code __metadata__}, ONNX's metadata_props. */
  Map<String, String> metadata();

  /** Unmaps the file. Closing twice is fine. */
  @Override
  void close();
}
