package dev.minifloat.cuda.sim.internal.ptx;

/** Where a variable lies (PTX ISA, "State Spaces"). */
public enum StateSpace {
  GLOBAL,
  CONST,
  SHARED,
  /** The shared memories of all blocks of a cluster; a block's own lies in it. */
  SHARED_CLUSTER,
  LOCAL,
  PARAM,
  /** No space named: the address says which. */
  GENERIC;

  /** Whether a variable in a space can be reached through an address of this one. */
  boolean covers(StateSpace space) {
    return this == space || (this == SHARED_CLUSTER && space == SHARED);
  }

  /** The space of a word such as {@code .global} or {@code .shared::cta}; null if it names none. */
  public static StateSpace of(String word) {
    return switch (word) {
      case ".global" -> GLOBAL;
      case ".const" -> CONST;
      case ".shared", ".shared::cta" -> SHARED;
      case ".shared::cluster" -> SHARED_CLUSTER;
      case ".local" -> LOCAL;
      case ".param", ".param::entry", ".param::func" -> PARAM;
      default -> null;
    };
  }

  @Override
  public String toString() {
    if (this == SHARED_CLUSTER) {
      return ".shared::cluster";
    }
    return "." + name().toLowerCase(java.util.Locale.ROOT);
  }
}
