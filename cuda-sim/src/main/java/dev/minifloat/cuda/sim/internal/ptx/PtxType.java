package dev.minifloat.cuda.sim.internal.ptx;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The types of PTX (PTX ISA, "Fundamental Types", "Packed Data Types", "Alternate Formats"). */
public enum PtxType {
  PRED(1, Kind.PREDICATE),
  B1(1, Kind.BITS),
  B8(8, Kind.BITS),
  B16(16, Kind.BITS),
  B32(32, Kind.BITS),
  B64(64, Kind.BITS),
  U4(4, Kind.UNSIGNED),
  U8(8, Kind.UNSIGNED),
  U16(16, Kind.UNSIGNED),
  U32(32, Kind.UNSIGNED),
  U64(64, Kind.UNSIGNED),
  S4(4, Kind.SIGNED),
  S8(8, Kind.SIGNED),
  S16(16, Kind.SIGNED),
  S32(32, Kind.SIGNED),
  S64(64, Kind.SIGNED),
  F16(16, Kind.FLOAT),
  BF16(16, Kind.FLOAT),
  TF32(32, Kind.FLOAT),
  F32(32, Kind.FLOAT),
  F64(64, Kind.FLOAT),
  F16X2(32, Kind.PACKED),
  BF16X2(32, Kind.PACKED),
  U16X2(32, Kind.PACKED),
  S16X2(32, Kind.PACKED),
  E4M3(8, Kind.PACKED),
  E5M2(8, Kind.PACKED),
  E3M2(6, Kind.PACKED),
  E2M3(6, Kind.PACKED),
  E2M1(4, Kind.PACKED),
  UE8M0(8, Kind.PACKED),
  UE4M3(8, Kind.PACKED),
  E4M3X2(16, Kind.PACKED),
  E5M2X2(16, Kind.PACKED),
  E2M1X2(8, Kind.PACKED),
  E2M3X2(16, Kind.PACKED),
  E3M2X2(16, Kind.PACKED),
  UE8M0X2(16, Kind.PACKED);

  /** How a type's bits are read. */
  public enum Kind {
    PREDICATE,
    BITS,
    UNSIGNED,
    SIGNED,
    FLOAT,
    /** Several numbers, or a number without a register type of its own. */
    PACKED
  }

  private static final Map<String, PtxType> BY_WORD = new HashMap<>();

  static {
    for (PtxType type : values()) {
      BY_WORD.put(type.toString(), type);
    }
  }

  private final int bits;
  private final Kind kind;

  PtxType(int bits, Kind kind) {
    this.bits = bits;
    this.kind = kind;
  }

  /** The type of a word such as {@code .u32}; null if it names none. */
  public static PtxType of(String word) {
    return BY_WORD.get(word);
  }

  /** Its width. */
  public int bits() {
    return bits;
  }

  /** Its size in memory; a predicate has none. */
  public int bytes() {
    return bits / 8;
  }

  public Kind kind() {
    return kind;
  }

  public boolean isSigned() {
    return kind == Kind.SIGNED;
  }

  public boolean isFloat() {
    return kind == Kind.FLOAT;
  }

  public boolean isInteger() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
  }

  /** Whether variables and registers can be declared with it. */
  boolean isFundamental() {
    return switch (this) {
      case PRED, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16X2, F32, F64 ->
          true;
      case B1, U4, S4, BF16, TF32, BF16X2, U16X2, S16X2 -> false;
      case E4M3, E5M2, E3M2, E2M3, E2M1, UE8M0, UE4M3 -> false;
      case E4M3X2, E5M2X2, E2M1X2, E2M3X2, E3M2X2, UE8M0X2 -> false;
    };
  }

  /**
   * Whether an operand of this instruction type may be a register of the given type, widths apart
   * (PTX ISA, "Operand Type Checking": bits go with everything, signed with unsigned).
   */
  boolean agreesWith(PtxType register) {
    if (kind == Kind.PREDICATE || register.kind == Kind.PREDICATE) {
      return kind == register.kind;
    }
    if (kind == Kind.BITS || register.kind == Kind.BITS || this == register) {
      return true;
    }
    return switch (kind) {
      case UNSIGNED, SIGNED -> register.isInteger();
      // A half's register may be declared as an integer too: inline assembly does.
      case FLOAT -> this == TF32 ? register == F32 : bits == 16 && register.isInteger();
      case PACKED -> register.isInteger();
      case PREDICATE, BITS -> false;
    };
  }

  @Override
  public String toString() {
    return "." + name().toLowerCase(Locale.ROOT);
  }
}
