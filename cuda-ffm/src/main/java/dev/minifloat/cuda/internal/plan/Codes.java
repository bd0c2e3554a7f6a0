package dev.minifloat.cuda.internal.plan;

/** What kernels call the constants of an enum: their ordinals, to which their sources are tied. */
public final class Codes {
  private Codes() {}

  /** A constant's number. */
  @SuppressWarnings("EnumOrdinal")
  public static int of(Enum<?> constant) {
    return constant.ordinal();
  }
}
