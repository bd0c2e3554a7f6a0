package dev.minifloat.cuda.sim.internal.ptx;

/** The bits of a constant where an instruction or a variable takes it. */
public final class Constants {
  private Constants() {}

  /**
   * A constant in a type's width, zero-extended.
   *
   * @throws PtxException if a constant of this form can't have this type
   */
  public static long bits(Operand.Immediate constant, PtxType type) {
    long mask = type.bits() == 64 ? -1L : (1L << type.bits()) - 1;
    return switch (constant.form()) {
      case INTEGER -> {
        if (type.isFloat()) {
          throw new PtxException(
              constant.position(),
              "an integer constant stands where one of type " + type + " was expected");
        }
        yield type == PtxType.PRED ? (constant.bits() != 0 ? 1 : 0) : constant.bits() & mask;
      }
      case F32 -> {
        if (type == PtxType.F64) {
          yield Double.doubleToRawLongBits(Float.intBitsToFloat((int) constant.bits()));
        }
        requireWidth(constant, type, 32);
        yield constant.bits();
      }
      case F64 -> {
        if (type == PtxType.F32) {
          double value = Double.longBitsToDouble(constant.bits());
          yield Float.floatToRawIntBits((float) value) & mask;
        }
        requireWidth(constant, type, 64);
        yield constant.bits();
      }
    };
  }

  private static void requireWidth(Operand.Immediate constant, PtxType type, int bits) {
    boolean fits = type.bits() == bits && !type.isInteger() && type.kind() != PtxType.Kind.PACKED;
    if (!fits) {
      throw new PtxException(
          constant.position(),
          "a floating point constant of "
              + bits
              + " bits stands where one of type "
              + type
              + " was expected");
    }
  }
}
