package dev.minifloat.codec;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** The golden files, and what their names mean. */
final class Golden {
  private Golden() {}

  static List<String> lines(String file) {
    try (InputStream in =
        Objects.requireNonNull(Golden.class.getResourceAsStream("/golden/" + file), file)) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A conversion of the files: {@code f32_to_e4m3_satfinite} and the like. */
  record Conversion(DType from, DType to, Rounding rounding, Overflow overflow) {
    static Conversion named(String name) {
      String[] parts = name.split("_", -1);
      DType to = dtype(parts[2]);
      boolean zero = parts.length > 3 && parts[3].equals("rz");
      boolean up = parts.length > 3 && parts[3].equals("rp");
      Rounding rounding =
          zero ? Rounding.TOWARD_ZERO : up ? Rounding.TOWARD_POSITIVE : Rounding.NEAREST_EVEN;
      Overflow overflow = name.contains("_satfin") ? Overflow.SATURATE : Overflow.IEEE;
      return new Conversion(dtype(parts[0]), to, rounding, overflow);
    }

    /** The canonical code: a NaN is the positive one. */
    int apply(int code) {
      int result =
          Codec.encode(to, Codec.decodeDouble(from, code), rounding, overflow, /* index= */ 0);
      return Codec.isNaN(to, result) ? Codec.nanCode(to) : result;
    }
  }

  static DType dtype(String name) {
    return switch (name) {
      case "f32" -> DType.F32;
      case "f16" -> DType.F16;
      case "bf16" -> DType.BF16;
      case "e4m3" -> DType.F8_E4M3;
      case "e5m2" -> DType.F8_E5M2;
      case "e8m0" -> DType.F8_E8M0;
      case "e2m3" -> DType.F6_E2M3;
      case "e3m2" -> DType.F6_E3M2;
      case "e2m1" -> DType.F4_E2M1;
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** FNV-1a over 64 bits. */
  static final class Fnv {
    private long hash = 0xcbf29ce484222325L;

    /** Adds the low {@code bytes} bytes of a code, lowest first. */
    void add(int code, int bytes) {
      for (int i = 0; i < bytes; i++) {
        hash = (hash ^ ((code >>> (8 * i)) & 0xFF)) * 0x100000001b3L;
      }
    }

    String hex() {
      return "%016x".formatted(hash);
    }
  }
}
