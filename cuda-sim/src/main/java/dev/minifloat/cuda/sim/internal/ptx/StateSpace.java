package dev.minifloat.cuda.sim.internal.ptx;

/** Where a variable lies (PTX ISA, "State Spaces"). */
public enum StateSpace {
  GLOBAL,
  CONST,
  SHARED,
  LOCAL,
  PARAM,
  /** No space named: the address says which. */
  GENERIC;

  /** The space of a word such as {@code .global} or {@code .shared::cta}; null if it names none. */
  public static StateSpace of(String word) {
    return switch (word) {
      case ".global" -> GLOBAL;
      case ".const" -> CONST;
      case ".shared", ".shared::cta" -> SHARED;
      case ".local" -> LOCAL;
      case ".param", ".param::entry", ".param::func" -> PARAM;
      default -> null;
    };
  }

  @Override
  public String toString() {
    return "." + name().toLowerCase(java.util.Locale.ROOT);
  }
}
