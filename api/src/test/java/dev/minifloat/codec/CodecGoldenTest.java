package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.codec.Golden.Conversion;
import dev.minifloat.codec.Golden.Fnv;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scalar codec against tables and checksums of CUDA's host conversions. */
class CodecGoldenTest {
  private static final int[] LOW_BITS = {0x000, 0x001, 0x7ff, 0x800, 0x801, 0xfff};

  @ParameterizedTest
  @ValueSource(strings = {"e4m3", "e5m2", "e8m0", "e2m3", "e3m2", "e2m1"})
  void decodesEachCodeAsTheTable(String format) {
    DType dtype = Golden.dtype(format);
    Set<Integer> seen = new HashSet<>();
    for (String line : Golden.lines("decode_" + format + ".txt")) {
      String[] fields = line.split(" ", -1);
      int code = Integer.parseInt(fields[0], 16);
      int expected = Integer.parseUnsignedInt(fields[1], 16);
      float value = Codec.decode(dtype, code);
      if (Float.isNaN(Float.intBitsToFloat(expected))) {
        assertTrue(Float.isNaN(value), line);
        assertTrue(Codec.isNaN(dtype, code), line);
      } else {
        assertEquals(expected, Float.floatToRawIntBits(value), line);
      }
      seen.add(code);
    }
    assertEquals(1 << dtype.bits(), seen.size());
  }

  static List<String[]> quickChecksums() {
    List<String[]> rows = new ArrayList<>();
    for (String line : Golden.lines("f32_checksums.txt")) {
      String[] fields = line.split("\\s+", -1);
      rows.add(new String[] {fields[0], fields[1].substring(6), fields[4].substring(6)});
    }
    return rows;
  }

  @Test
  void thereAreThirteenQuickChecksums() {
    assertEquals(13, quickChecksums().size());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("quickChecksums")
  void encodesEachTieAndItsNeighboursAsTheChecksum(String name, int bytes, String quick) {
    Conversion conversion = Conversion.named(name);
    Fnv fnv = new Fnv();
    for (int high = 0; high < 1 << 20; high++) {
      for (int low : LOW_BITS) {
        fnv.add(conversion.apply(high << 12 | low), bytes);
      }
    }
    assertEquals(quick, fnv.hex());
  }

  static List<String[]> halfChecksums() {
    return Golden.lines("half_checksums.txt").stream().map(line -> line.split(" ", -1)).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("halfChecksums")
  void convertsEach16BitPatternAsTheChecksum(String name, String expected) {
    Conversion conversion = Conversion.named(name);
    Fnv fnv = new Fnv();
    for (int code = 0; code < 1 << 16; code++) {
      fnv.add(conversion.apply(code), conversion.to().bits() == 32 ? 4 : 1);
    }
    assertEquals(expected, fnv.hex());
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F32", "I32"})
  void encodeUndoesDecodeForEachCode(DType dtype) {
    for (int code = 0; code <= dtype.codeMask(); code++) {
      int again = Codec.encode(dtype, Codec.decodeDouble(dtype, code));
      if (Codec.isNaN(dtype, code)) {
        int sign = dtype.isSigned() ? code & (dtype.codeMask() + 1) >>> 1 : 0;
        assertEquals(sign | Codec.nanCode(dtype), again, "code " + Integer.toHexString(code));
      } else if (dtype.hasInfinity() && Float.isInfinite(Codec.decode(dtype, code))) {
        int sign = code & (dtype.codeMask() + 1) >>> 1;
        int kept = dtype.bits() == 8 ? sign | Codec.maxCode(dtype) : code;
        assertEquals(kept, again, "code " + Integer.toHexString(code));
      } else {
        assertEquals(code, again, "code " + Integer.toHexString(code));
      }
    }
  }

  @Test
  void everyHalfDecodesAsTheJdkDoes() {
    for (int code = 0; code < 1 << 16; code++) {
      float expected = Float.float16ToFloat((short) code);
      float value = Codec.decode(DType.F16, code);
      if (Float.isNaN(expected)) {
        assertEquals((code & 0x8000) << 16 | 0x7FC00000, Float.floatToRawIntBits(value));
      } else {
        assertEquals(Float.floatToRawIntBits(expected), Float.floatToRawIntBits(value));
      }
    }
  }
}
