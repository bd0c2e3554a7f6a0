package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;

/**
 * The conversions from F32 whose results are recorded, as CUDA's host headers give them.
 *
 * <p>Sources are F32; the name is the one in the recorded files.
 */
public enum GoldenConversion {
  /** To F16, nearest even. */
  F16("f32_to_f16_rn", DType.F16, Rounding.NEAREST_EVEN, Overflow.IEEE),
  /** To BF16, nearest even. */
  BF16("f32_to_bf16_rn", DType.BF16, Rounding.NEAREST_EVEN, Overflow.IEEE),
  /** To E4M3, saturating. */
  E4M3_SATURATE("f32_to_e4m3_satfinite", DType.F8_E4M3, Rounding.NEAREST_EVEN, Overflow.SATURATE),
  /** To E4M3, overflow to NaN. */
  E4M3_IEEE("f32_to_e4m3_nosat", DType.F8_E4M3, Rounding.NEAREST_EVEN, Overflow.IEEE),
  /** To E5M2, saturating. */
  E5M2_SATURATE("f32_to_e5m2_satfinite", DType.F8_E5M2, Rounding.NEAREST_EVEN, Overflow.SATURATE),
  /** To E5M2, overflow to infinity. */
  E5M2_IEEE("f32_to_e5m2_nosat", DType.F8_E5M2, Rounding.NEAREST_EVEN, Overflow.IEEE),
  /** To E2M1, which always saturates. */
  E2M1("f32_to_e2m1_satfinite", DType.F4_E2M1, Rounding.NEAREST_EVEN, Overflow.SATURATE),
  /** To E3M2, which always saturates. */
  E3M2("f32_to_e3m2_satfinite", DType.F6_E3M2, Rounding.NEAREST_EVEN, Overflow.SATURATE),
  /** To E2M3, which always saturates. */
  E2M3("f32_to_e2m3_satfinite", DType.F6_E2M3, Rounding.NEAREST_EVEN, Overflow.SATURATE),
  /** |x| to E8M0, toward zero, saturating. */
  E8M0_DOWN_SATURATE(
      "f32_to_e8m0_rz_satfin", DType.F8_E8M0, Rounding.TOWARD_ZERO, Overflow.SATURATE),
  /** |x| to E8M0, toward zero, overflow to NaN. */
  E8M0_DOWN_IEEE("f32_to_e8m0_rz_nosat", DType.F8_E8M0, Rounding.TOWARD_ZERO, Overflow.IEEE),
  /** |x| to E8M0, upwards, saturating. */
  E8M0_UP_SATURATE(
      "f32_to_e8m0_rp_satfin", DType.F8_E8M0, Rounding.TOWARD_POSITIVE, Overflow.SATURATE),
  /** |x| to E8M0, upwards, overflow to NaN. */
  E8M0_UP_IEEE("f32_to_e8m0_rp_nosat", DType.F8_E8M0, Rounding.TOWARD_POSITIVE, Overflow.IEEE);

  private final String recordedName;
  private final DType target;
  private final Rounding rounding;
  private final Overflow overflow;

  GoldenConversion(String recordedName, DType target, Rounding rounding, Overflow overflow) {
    this.recordedName = recordedName;
    this.target = target;
    this.rounding = rounding;
    this.overflow = overflow;
  }

  /** Its name in the recorded files. */
  public String recordedName() {
    return recordedName;
  }

  /** The type that results. */
  public DType target() {
    return target;
  }

  /** How it rounds. */
  public Rounding rounding() {
    return rounding;
  }

  /** How it treats overflow. */
  public Overflow overflow() {
    return overflow;
  }

  /**
   * A result as the checksums take it: the sign of a NaN is dropped, since CUDA's headers don't
   * keep it.
   */
  int canonical(int code) {
    return switch (target) {
      case F16 -> (code & 0x7FFF) > 0x7C00 ? 0x7E00 : code;
      case BF16 -> (code & 0x7FFF) > 0x7F80 ? 0x7FC0 : code;
      case F8_E4M3 -> (code & 0x7F) == 0x7F ? 0x7F : code;
      case F8_E5M2 -> (code & 0x7F) > 0x7C ? 0x7E : code;
      case F32, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 -> code;
    };
  }
}
