package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import dev.minifloat.Shape;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes a safetensors file that may be larger than memory.
 *
 * <p>The header comes first in the file, so everything is planned before the first byte of data:
 *
 * <pre>{@code
 * try (SafetensorsWriter writer =
 *     SafetensorsWriter.to(path)
 *         .metadata("format", "pt")
 *         .tensor("weight", StorageType.F32, Shape.of(768, 768))
 *         .create()) {
 *   writer.append("weight", firstHalf);
 *   writer.append("weight", secondHalf);
 *   writer.commit();
 * }
 * }</pre>
 *
 * <p>Data are streamed into a hidden file in the same directory, tensor by tensor or part by part,
 * in any order of tensors; different threads may write different tensors. {@link #commit} renames
 * it to its target in one step, so the target is either whole or as it was before. {@link #close}
 * without a commit deletes it.
 *
 * <p>The layout is that of the reference implementation: tensors by falling alignment of their
 * types, then by name, and a header padded with spaces to a multiple of 8 bytes, so that every
 * element of a whole number of bytes stands at a multiple of its size.
 */
public final class SafetensorsWriter implements AutoCloseable {
  /** Bytes handed to the operating system at a time. */
  private static final int CHUNK = 1 << 22;

  private final Path target;
  private final Path temporary;
  private final FileChannel channel;
  private final boolean sync;
  private final List<TensorInfo> tensors;
  private final Map<String, Progress> progress = new HashMap<>();
  private volatile boolean finished;
  private volatile IOException failure;

  /** One tensor and how many of its bytes have been written. */
  private record Progress(TensorInfo tensor, AtomicLong written) {}

  private SafetensorsWriter(Plan plan) throws IOException {
    this.target = Paths.replaceable(plan.target);
    this.sync = plan.sync;
    byte[] header = plan.header();
    this.tensors = plan.layout(SafetensorsHeader.PREFIX + (long) header.length);
    for (TensorInfo tensor : tensors) {
      progress.put(tensor.name(), new Progress(tensor, new AtomicLong()));
    }
    // Not Files.createTempFile: its files are readable by their owner alone.
    this.temporary =
        target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
    FileChannel opened =
        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      ByteBuffer start =
          ByteBuffer.allocate(SafetensorsHeader.PREFIX + header.length)
              .order(ByteOrder.LITTLE_ENDIAN);
      start.putLong(header.length).put(header).flip();
      writeFully(opened, start, 0);
    } catch (IOException | RuntimeException | Error e) {
      try (opened) {
        Files.deleteIfExists(temporary);
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw e;
    }
    this.channel = opened;
  }

  /** Begins the plan of a file that will stand at {@code target}, replacing what is there. */
  public static Plan to(Path target) {
    return new Plan(target);
  }

  /** What a file is going to hold. */
  public static final class Plan {
    private static final JsonFactory FACTORY = new JsonFactory();

    private final Path target;
    private final Map<String, String> metadata = new LinkedHashMap<>();
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();
    private boolean sync;

    private Plan(Path target) {
      if (target.getFileName() == null) {
        throw new IllegalArgumentException("target: " + target + " is not the path of a file");
      }
      this.target = target;
    }

    /**
     * Adds an entry of {@code __metadata__}.
     *
     * @throws IllegalArgumentException if {@code key} is there already, if a text is not valid
     *     Unicode, if the key has more than 65,536 characters or the value more than 10,000,000
     */
    public Plan metadata(String key, String value) {
      checkText("key", key, JsonReader.LONGEST_NAME);
      checkText("value", value, JsonReader.LONGEST_STRING);
      if (metadata.putIfAbsent(key, value) != null) {
        throw new IllegalArgumentException(
            "key: " + FileFormatException.quote(key) + " is given twice");
      }
      return this;
    }

    /** Adds all entries to {@code __metadata__}, in the map's order. */
    public Plan metadata(Map<String, String> entries) {
      entries.forEach(this::metadata);
      return this;
    }

    /**
     * Adds a tensor.
     *
     * @throws IllegalArgumentException if its name is taken or {@code __metadata__}, if safetensors
     *     has no such type, or if its elements don't fill whole bytes
     */
    public Plan tensor(String name, StorageType type, Shape shape) {
      checkText("name", name, JsonReader.LONGEST_NAME);
      if (name.equals(SafetensorsHeader.METADATA)) {
        throw new IllegalArgumentException(
            "name: " + name + " is what safetensors calls the metadata; no tensor can have it");
      }
      if (type.safetensorsName().isEmpty()) {
        throw new IllegalArgumentException(
            "type: safetensors has no " + type + "; store its bytes as U8");
      }
      if (!type.fillsBytes(shape)) {
        throw new IllegalArgumentException(
            "shape: "
                + shape
                + " elements of "
                + type.bits()
                + " bits don't fill whole bytes, as safetensors demands; pad the last dimension");
      }
      TensorInfo tensor =
          new TensorInfo(name, type, shape, target.toString(), 0, type.byteSize(shape));
      if (tensors.putIfAbsent(name, tensor) != null) {
        throw new IllegalArgumentException(
            "name: " + FileFormatException.quote(name) + " is given twice");
      }
      return this;
    }

    /**
     * Whether {@link SafetensorsWriter#commit} waits until the data are on the device, so that the
     * file survives a loss of power; without it the file survives the end of the process.
     */
    public Plan sync(boolean wanted) {
      this.sync = wanted;
      return this;
    }

    /**
     * Writes the header to a temporary file beside the target and opens it for the data.
     *
     * @throws MinifloatException if that fails
     * @throws IllegalArgumentException if the header would pass the 100,000,000 bytes that
     *     safetensors allows
     */
    public SafetensorsWriter create() {
      try {
        return new SafetensorsWriter(this);
      } catch (IOException e) {
        throw new MinifloatException(
            "Creating a temporary file beside " + target + ": " + Paths.reason(e), e);
      }
    }

    /** What is written must be readable again. */
    private static void checkText(String argument, String text, int longest) {
      if (text.length() > longest) {
        throw new IllegalArgumentException(
            argument
                + ": "
                + text.length()
                + " characters; at most "
                + longest
                + " are read again");
      }
      if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        throw new IllegalArgumentException(
            argument + ": " + FileFormatException.quote(text) + " has half a surrogate pair");
      }
    }

    /** The tensors in file order, the first at {@code offset}. */
    private List<TensorInfo> layout(long offset) {
      List<TensorInfo> ordered = new ArrayList<>(tensors.values());
      ordered.sort(
          Comparator.comparing(TensorInfo::type)
              .reversed()
              .thenComparing(TensorInfo::name, Plan::byCodePoint));
      long at = offset;
      for (int i = 0; i < ordered.size(); i++) {
        TensorInfo t = ordered.get(i);
        ordered.set(i, new TensorInfo(t.name(), t.type(), t.shape(), t.file(), at, t.byteSize()));
        at = addSizes(at, t.byteSize());
      }
      return Collections.unmodifiableList(ordered);
    }

    /**
     * The order of the names' UTF-8, which is that of the reference; UTF-16 sorts surrogates before
     * the last of the BMP.
     */
    private static int byCodePoint(String a, String b) {
      return Arrays.compareUnsigned(
          a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }

    private long addSizes(long a, long b) {
      try {
        return Math.addExact(a, b);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "tensors: all of them together have more bytes than a long can count", e);
      }
    }

    private byte[] header() {
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
        json.writeStartObject();
        if (!metadata.isEmpty()) {
          json.writeObjectPropertyStart(SafetensorsHeader.METADATA);
          metadata.forEach(json::writeStringProperty);
          json.writeEndObject();
        }
        for (TensorInfo tensor : layout(0)) {
          json.writeObjectPropertyStart(tensor.name());
          json.writeStringProperty("dtype", tensor.type().safetensorsName().orElseThrow());
          json.writeName("shape");
          json.writeArray(tensor.shape().dims(), 0, tensor.shape().rank());
          json.writeName("data_offsets");
          json.writeArray(new long[] {tensor.offset(), tensor.offset() + tensor.byteSize()}, 0, 2);
          json.writeEndObject();
        }
        json.writeEndObject();
      }
      while (text.size() % 8 != 0) {
        text.write(' ');
      }
      if (text.size() > SafetensorsHeader.LONGEST) {
        throw new IllegalArgumentException(
            "tensors: their header has "
                + text.size()
                + " bytes, and safetensors allows 100,000,000");
      }
      return text.toByteArray();
    }
  }

  /** The tensors in the order of the file, with their offsets; the fastest order to write them. */
  public List<TensorInfo> tensors() {
    return tensors;
  }

  /**
   * Writes the next bytes of a tensor, all of them or a part.
   *
   * @param name a tensor of the plan
   * @param data its bytes as {@link StorageType} packs them
   * @throws IllegalArgumentException if there is no such tensor, or if it would get more bytes than
   *     it has
   * @throws IllegalStateException after {@link #commit} or {@link #close}
   * @throws MinifloatException if writing fails
   */
  public void append(String name, MemorySegment data) {
    requireOpen();
    Progress entry = entry(name);
    long size = data.byteSize();
    long total = entry.tensor.byteSize();
    long from =
        entry.written.getAndUpdate(before -> size > total - before ? before : before + size);
    if (size > total - from) {
      throw new IllegalArgumentException(
          "data: "
              + size
              + " bytes are more than tensor "
              + FileFormatException.quote(name)
              + " still needs, "
              + (total - from)
              + " of "
              + total);
    }
    try {
      write(data, entry.tensor.offset() + from);
    } catch (IOException e) {
      failure = e;
      throw new MinifloatException(
          "Writing "
              + size
              + " bytes of tensor "
              + FileFormatException.quote(name)
              + " to "
              + temporary
              + ": "
              + e,
          e);
    }
  }

  private void requireOpen() {
    if (finished) {
      throw new IllegalStateException("the writer of " + target + " is closed");
    }
  }

  private Progress entry(String name) {
    return Optional.ofNullable(progress.get(Objects.requireNonNull(name, "name")))
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "name: no tensor "
                        + FileFormatException.quote(name)
                        + " was planned"
                        + Names.hint(name, tensors)));
  }

  private void write(MemorySegment data, long position) throws IOException {
    for (long done = 0; done < data.byteSize(); done += CHUNK) {
      MemorySegment part = data.asSlice(done, Math.min(CHUNK, data.byteSize() - done));
      if (part.isNative() || part.heapBase().orElse(null) instanceof byte[]) {
        writeFully(channel, part.asByteBuffer(), position + done);
      } else {
        // No buffer can look at an array of another type.
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment copy = arena.allocate(part.byteSize()).copyFrom(part);
          writeFully(channel, copy.asByteBuffer(), position + done);
        }
      }
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes, long position)
      throws IOException {
    long at = position;
    while (bytes.hasRemaining()) {
      at += channel.write(bytes, at);
    }
  }

  /**
   * Puts the finished file in its place, in one step.
   *
   * @throws IllegalStateException if a tensor lacks bytes (the writer stays open), or if the writer
   *     is closed
   * @throws MinifloatException if that fails, or if an {@link #append} had failed; the temporary
   *     file is deleted then, or by {@link #close}
   */
  public void commit() {
    requireOpen();
    if (failure != null) {
      throw new MinifloatException(
          "Committing " + target + ": writing its data failed before: " + Paths.reason(failure),
          failure);
    }
    for (Progress entry : progress.values()) {
      long missing = entry.tensor.byteSize() - entry.written.get();
      if (missing != 0) {
        throw new IllegalStateException(
            "tensor "
                + FileFormatException.quote(entry.tensor.name())
                + " of "
                + target
                + " lacks "
                + missing
                + " of its "
                + entry.tensor.byteSize()
                + " bytes");
      }
    }
    try {
      if (sync) {
        channel.force(true);
      }
      channel.close();
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
      finished = true;
    } catch (IOException e) {
      throw new MinifloatException(
          "Putting " + temporary + " in place as " + target + ": " + Paths.reason(e), e);
    } finally {
      close();
    }
  }

  /**
   * Deletes what was written, unless it was committed. Closing twice is fine.
   *
   * @throws MinifloatException if the temporary file can't be deleted
   */
  @Override
  public void close() {
    if (finished) {
      return;
    }
    finished = true;
    try (channel) {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      throw new MinifloatException(
          "Deleting the temporary file " + temporary + ": " + Paths.reason(e), e);
    }
  }
}
