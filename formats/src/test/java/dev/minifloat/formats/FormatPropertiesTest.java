package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.CodedOutputStream;
import dev.minifloat.Shape;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class FormatPropertiesTest {
  private static final List<byte[]> SAFETENSORS = seeds("SafetensorsFuzz");
  private static final List<byte[]> INDEXES = seeds("ShardIndexFuzz");
  private static final List<byte[]> ONNX = seeds("OnnxFuzz");

  /** A tensor to write. */
  record Sample(StorageType type, List<Integer> dims, long seed) {
    Shape shape() {
      return Shape.of(dims.stream().mapToLong(Integer::longValue).toArray());
    }

    byte[] data() {
      byte[] data = new byte[Math.toIntExact(type.byteSize(shape()))];
      new Random(seed).nextBytes(data);
      return data;
    }
  }

  @Provide
  Arbitrary<Map<String, Sample>> tensors() {
    Arbitrary<Sample> sample =
        Combinators.combine(
                Arbitraries.of(StorageType.class).filter(t -> t.safetensorsName().isPresent()),
                Arbitraries.integers().between(0, 5).list().ofMaxSize(4),
                Arbitraries.longs())
            .as(Sample::new)
            .filter(s -> s.type().fillsBytes(s.shape()));
    Arbitrary<String> name =
        Arbitraries.strings().all().ofMaxLength(12).map(text -> text.replaceAll("\\p{Cs}", "s"));
    return Arbitraries.maps(name, sample).ofMaxSize(8);
  }

  @Property(tries = 300)
  void whatIsWrittenIsRead(
      @ForAll("tensors") Map<String, Sample> tensors,
      @ForAll @Size(max = 3) Map<@IntRange(min = 0, max = 99) Integer, Integer> metadata)
      throws IOException {
    Map<String, String> texts = new HashMap<>();
    metadata.forEach((key, value) -> texts.put("k" + key, "v" + value));
    Path directory = Files.createTempDirectory("formats");
    Path path = directory.resolve("x.safetensors");
    try {
      SafetensorsWriter.Plan plan = SafetensorsWriter.to(path).metadata(texts);
      tensors.forEach((name, sample) -> plan.tensor(name, sample.type(), sample.shape()));
      try (SafetensorsWriter writer = plan.create()) {
        tensors.forEach(
            (name, sample) -> writer.append(name, MemorySegment.ofArray(sample.data())));
        writer.commit();
      }
      try (TensorFile file = TensorFiles.open(path)) {
        assertEquals(texts, file.metadata());
        assertEquals(tensors.size(), file.tensors().size());
        tensors.forEach(
            (name, sample) -> {
              assertEquals(sample.type(), file.info(name).type());
              assertEquals(sample.shape(), file.info(name).shape());
              assertArrayEquals(sample.data(), Bytes.of(file.data(name)));
            });
      }
    } finally {
      Files.deleteIfExists(path);
      Files.delete(directory);
    }
  }

  private static List<byte[]> seeds(String fuzzTest) {
    Path inputs = Path.of("src/test/resources/dev/minifloat/formats", fuzzTest + "Inputs", "fuzz");
    try (Stream<Path> files = Files.list(inputs)) {
      List<byte[]> seeds = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        seeds.add(Files.readAllBytes(file));
      }
      return seeds;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A seed of the fuzz tests with some bytes changed, removed or repeated. */
  private static byte[] mutate(List<byte[]> seeds, Random random) {
    byte[] bytes = seeds.get(random.nextInt(seeds.size())).clone();
    for (int i = random.nextInt(4); i >= 0 && bytes.length > 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] = (byte) random.nextInt();
        case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> bytes = Arrays.copyOf(bytes, at);
        default -> {
          int length = random.nextInt(1 + Math.min(16, bytes.length - at));
          byte[] longer = Arrays.copyOf(bytes, bytes.length + length);
          System.arraycopy(bytes, at, longer, at + length, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }

  @Property(tries = 2000)
  void aChangedSafetensorsFileIsReadOrRefused(
      @ForAll @IntRange(max = 99) int which, @ForAll long seed) throws IOException {
    FuzzTargets.safetensors(mutate(SAFETENSORS, new Random(seed)));
  }

  @Property(tries = 2000)
  void aChangedIndexIsReadOrRefused(@ForAll long seed) {
    FuzzTargets.shardIndex(mutate(INDEXES, new Random(seed)));
  }

  @Property(tries = 2000)
  void aChangedOnnxModelIsReadOrRefused(@ForAll long seed) {
    FuzzTargets.onnx(mutate(ONNX, new Random(seed)));
  }

  @Provide
  Arbitrary<StorageType> int32Types() {
    return Arbitraries.of(
        StorageType.U2,
        StorageType.U4,
        StorageType.I4,
        StorageType.F4,
        StorageType.BOOL,
        StorageType.U8,
        StorageType.F8_E4M3,
        StorageType.F8_E5M2,
        StorageType.F8_E8M0,
        StorageType.F8_E4M3FNUZ,
        StorageType.F8_E5M2FNUZ,
        StorageType.U16,
        StorageType.F16,
        StorageType.BF16,
        StorageType.I32);
  }

  /** Each unit of {@code raw_data}, zero-extended, is a number of {@code int32_data}. */
  @Property(tries = 300)
  void int32DataAndRawDataAreTheSameTensor(
      @ForAll("int32Types") StorageType type,
      @ForAll @IntRange(min = 0, max = 40) int elements,
      @ForAll long seed,
      @ForAll boolean packed) {
    int unit = Math.max(8, type.bits());
    byte[] raw = new byte[Math.toIntExact(type.byteSize(Shape.of(elements)))];
    new Random(seed).nextBytes(raw);
    MemorySegment data = MemorySegment.ofArray(raw);
    StorageType asInteger =
        switch (unit) {
          case 8 -> StorageType.U8;
          case 16 -> StorageType.U16;
          default -> StorageType.I32;
        };
    long[] numbers =
        IntStream.range(0, raw.length * 8 / unit)
            .mapToLong(i -> (long) asInteger.decode(data, i))
            .toArray();
    OnnxWriter.Fields field =
        packed
            ? OnnxWriter.packed(5, numbers)
            : out -> LongStream.of(numbers).forEach(n -> write(out, n));
    byte[] model =
        OnnxWriter.model(
            OnnxWriter.tensor("x", type.onnxNumber().getAsInt(), OnnxWriter.dims(elements), field));
    try (OnnxFile file = OnnxFile.of(MemorySegment.ofArray(model), "p.onnx")) {
      assertArrayEquals(raw, Bytes.of(file.data("x")));
    }
  }

  private static void write(CodedOutputStream out, long number) {
    try {
      out.writeInt64(5, number);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
