package dev.minifloat.bench.peers;

import dev.minifloat.bench.Format;
import java.util.Optional;

/** The types of ggml that have something to do with our formats ({@code enum ggml_type}). */
enum GgmlType {
  F32(0, Format.F32),
  F16(1, Format.F16),
  /** Blocks of 32 eight-bit integers with an F16 scale. */
  Q8_0(8, Format.I8),
  BF16(30, Format.BF16),
  MXFP4(39, Format.MXFP4),
  /** Blocks of 16 with an unsigned E4M3 scale, and no scale of the whole. */
  NVFP4(40, Format.NVFP4);

  private final int code;
  private final Format format;

  GgmlType(int code, Format format) {
    this.code = code;
    this.format = format;
  }

  int code() {
    return code;
  }

  /** Our format that is nearest. */
  Format format() {
    return format;
  }

  /** Whether it has the very values of our format. */
  boolean isSame() {
    return this == F32 || this == F16 || this == BF16;
  }

  /** The type nearest to a format. */
  static Optional<GgmlType> of(Format format) {
    for (GgmlType type : values()) {
      if (type.format == format) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }

  /** The type of a code. */
  static GgmlType of(int code) {
    for (GgmlType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    throw new IllegalArgumentException("code: " + code + " is another type of ggml");
  }
}
