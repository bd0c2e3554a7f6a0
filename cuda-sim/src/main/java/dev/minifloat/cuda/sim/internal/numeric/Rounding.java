package dev.minifloat.cuda.sim.internal.numeric;

/** How a result that a format can't hold is rounded (PTX ISA, "Rounding Modifiers"). */
public enum Rounding {
  /** .rn: to the nearest, ties to even. */
  NEAREST_EVEN,
  /** .rna: to the nearest, ties away from zero. */
  NEAREST_AWAY,
  /** .rz: toward zero. */
  ZERO,
  /** .rm: toward minus infinity. */
  DOWN,
  /** .rp: toward plus infinity. */
  UP;

  /** The rounding of a word such as {@code .rz}; nearest even if it names none. */
  public static Rounding of(String word) {
    return switch (word) {
      case ".rz", ".rzi" -> ZERO;
      case ".rm", ".rmi" -> DOWN;
      case ".rp", ".rpi" -> UP;
      case ".rna" -> NEAREST_AWAY;
      default -> NEAREST_EVEN;
    };
  }

  /**
   * Whether a magnitude goes up to the next one.
   *
   * @param negative the number's sign
   * @param odd whether the magnitude's last kept bit is set
   * @param half the first dropped bit
   * @param rest whether any later dropped bit is set
   */
  public boolean up(boolean negative, boolean odd, boolean half, boolean rest) {
    return switch (this) {
      case NEAREST_EVEN -> half && (rest || odd);
      case NEAREST_AWAY -> half;
      case ZERO -> false;
      case DOWN -> negative && (half || rest);
      case UP -> !negative && (half || rest);
    };
  }
}
