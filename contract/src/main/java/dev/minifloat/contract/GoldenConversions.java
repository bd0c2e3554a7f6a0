package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares conversions with numbers recorded from the host code of CUDA's headers: tables of every
 * code's value, and checksums over the results of every F32, or of those near ties.
 */
public final class GoldenConversions {
  /** Inputs converted at once. */
  static final int BATCH = 1 << 18;

  /** The low 12 bits of the quick inputs: every tie of every format, and its neighbours. */
  private static final int[] QUICK_LOW = {0x000, 0x001, 0x7FF, 0x800, 0x801, 0xFFF};

  private static final Map<DType, String> DECODE_TABLES =
      Map.of(
          DType.F8_E4M3, "e4m3",
          DType.F8_E5M2, "e5m2",
          DType.F8_E8M0, "e8m0",
          DType.F6_E2M3, "e2m3",
          DType.F6_E3M2, "e3m2",
          DType.F4_E2M1, "e2m1");

  private GoldenConversions() {}

  /** All of {@link #decodeTables}, {@link #halves} and {@link #quick(ConversionEngine)}. */
  public static List<GoldenResult> quickAll(ConversionEngine engine) {
    List<GoldenResult> results = new ArrayList<>(decodeTables(engine));
    results.addAll(halves(engine));
    results.addAll(quick(engine));
    return results;
  }

  /** Each of the 13 conversions over the 6 · 2^20 inputs about ties. */
  public static List<GoldenResult> quick(ConversionEngine engine) {
    List<GoldenResult> results = new ArrayList<>();
    for (GoldenConversion conversion : GoldenConversion.values()) {
      results.add(quick(engine, conversion));
    }
    return results;
  }

  /** One conversion over the 6 · 2^20 inputs about ties. */
  public static GoldenResult quick(ConversionEngine engine, GoldenConversion conversion) {
    long expected = GoldenData.checksums("quick").get(conversion.recordedName());
    Fnv hash = new Fnv();
    int perBatch = BATCH / 8;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment inputs = arena.allocate(4L * perBatch * QUICK_LOW.length, 64);
      for (int from = 0; from < 1 << 20; from += perBatch) {
        int at = 0;
        for (int high = from; high < from + perBatch; high++) {
          for (int low : QUICK_LOW) {
            inputs.set(PackedElements.INT, 4L * at++, high << 12 | low);
          }
        }
        addTo(hash, engine, conversion, inputs, at);
      }
    }
    return new GoldenResult(conversion.recordedName() + " quick", expected, hash.value(), "");
  }

  /** Hears how far an exhaustive run has come; called from its threads. */
  @FunctionalInterface
  public interface Progress {
    /**
     * A chunk of 2^24 inputs is through.
     *
     * @param done chunks of all conversions so far
     * @param total chunks of all conversions
     */
    void chunk(int done, int total);
  }

  /**
   * Conversions over all 2^32 inputs: minutes. On a mismatch the result names the top byte of the
   * inputs and the first one that differs from the codec.
   *
   * @param conversions which; {@code List.of(GoldenConversion.values())} for all
   * @param threads how many convert and hash at once
   * @throws InterruptedException if the calling thread is interrupted; the run ends then
   */
  public static List<GoldenResult> exhaustive(
      ConversionEngine engine, List<GoldenConversion> conversions, int threads, Progress progress)
      throws InterruptedException {
    return new GoldenExhaustive(engine, conversions, progress).run(conversions, threads);
  }

  /** Adds the results of {@code count} inputs to a hash. */
  static void addTo(
      Fnv hash,
      ConversionEngine engine,
      GoldenConversion conversion,
      MemorySegment inputs,
      int count) {
    HostTensor source = HostTensor.wrap(DType.F32, Shape.of(count), inputs);
    try (Arena arena = Arena.ofShared()) {
      DType target = conversion.target();
      HostTensor results =
          engine.convert(source, target, conversion.rounding(), conversion.overflow(), arena);
      MemorySegment data = results.data();
      for (int i = 0; i < count; i++) {
        hash.add(conversion.canonical(PackedElements.get(target, data, i)), target.bits());
      }
    }
  }

  /** Decodes every code of the formats of 8 bits and fewer, and compares with the tables. */
  public static List<GoldenResult> decodeTables(ConversionEngine engine) {
    List<GoldenResult> results = new ArrayList<>();
    for (DType dtype : DType.values()) {
      if (DECODE_TABLES.containsKey(dtype)) {
        results.add(decodeTable(engine, dtype));
      }
    }
    return results;
  }

  private static GoldenResult decodeTable(ConversionEngine engine, DType dtype) {
    int[] table = GoldenData.decodeTable(DECODE_TABLES.get(dtype));
    Fnv expected = new Fnv();
    Fnv actual = new Fnv();
    String detail = "";
    try (Arena arena = Arena.ofShared()) {
      HostTensor values = decoded(engine, dtype, arena);
      for (int code = 0; code < table.length; code++) {
        int want = anyNaN(table[code]);
        int got = anyNaN(values.code(code));
        expected.add(want, 32);
        actual.add(got, 32);
        if (want != got && detail.isEmpty()) {
          detail = "code %02x decodes to %08x, not %08x".formatted(code, got, want);
        }
      }
    }
    return new GoldenResult("decode " + dtype, expected.value(), actual.value(), detail);
  }

  private static HostTensor decoded(ConversionEngine engine, DType dtype, Arena arena) {
    return engine.convert(
        everyCode(dtype, arena), DType.F32, Rounding.NEAREST_EVEN, Overflow.IEEE, arena);
  }

  private static HostTensor everyCode(DType dtype, Arena arena) {
    int codes = 1 << dtype.bits();
    HostTensor source = HostTensor.allocate(arena, dtype, Shape.of(codes), Scaling.none());
    for (int code = 0; code < codes; code++) {
      PackedElements.set(dtype, source.data(), code, code);
    }
    return source;
  }

  /** Payloads of NaN differ by origin. */
  private static int anyNaN(int bits) {
    return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits;
  }

  /** All patterns of F16 and BF16 to F32 and to small formats. */
  public static List<GoldenResult> halves(ConversionEngine engine) {
    Map<String, Long> recorded = GoldenData.halves();
    List<GoldenResult> results = new ArrayList<>();
    for (DType source : List.of(DType.F16, DType.BF16)) {
      String from = source == DType.F16 ? "f16" : "bf16";
      results.add(half(engine, source, DType.F32, null, from + "_to_f32", recorded));
      results.add(
          half(
              engine,
              source,
              DType.F8_E4M3,
              GoldenConversion.E4M3_SATURATE,
              from + "_to_e4m3_satfinite",
              recorded));
      if (source == DType.F16) {
        results.add(
            half(
                engine,
                source,
                DType.F8_E5M2,
                GoldenConversion.E5M2_SATURATE,
                from + "_to_e5m2_satfinite",
                recorded));
      }
      results.add(
          half(
              engine,
              source,
              DType.F4_E2M1,
              GoldenConversion.E2M1,
              from + "_to_e2m1_satfinite",
              recorded));
    }
    return results;
  }

  private static GoldenResult half(
      ConversionEngine engine,
      DType source,
      DType target,
      GoldenConversion like,
      String name,
      Map<String, Long> recorded) {
    Fnv hash = new Fnv();
    try (Arena arena = Arena.ofShared()) {
      HostTensor results =
          engine.convert(
              everyCode(source, arena),
              target,
              Rounding.NEAREST_EVEN,
              Overflow.defaultFor(target),
              arena);
      for (long i = 0; i < results.shape().elements(); i++) {
        int code = results.code(i);
        hash.add(like == null ? anyNaN(code) : like.canonical(code), target.bits());
      }
    }
    return new GoldenResult(name, recorded.get(name), hash.value(), "");
  }
}
