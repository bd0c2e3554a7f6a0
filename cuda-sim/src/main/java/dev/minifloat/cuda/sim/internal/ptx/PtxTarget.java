package dev.minifloat.cuda.sim.internal.ptx;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An architecture as {@code .target} names it (PTX ISA, "PTX Module Directives: .target").
 *
 * <pre>
 *   sm_120     runs on every newer device; only what all of these have
 *   sm_120f    runs on devices of its family, 12.x; what the whole family has too
 *   sm_120a    runs on 12.0 alone; all that it has
 * </pre>
 *
 * @param architecture the number: 120
 * @param suffix {@code a}, {@code f} or nothing
 */
record PtxTarget(int architecture, String suffix) {
  private static final Pattern NAME = Pattern.compile("sm_([0-9]{2,3})([af]?)");

  /** The first version of PTX, times ten, that has an architecture. */
  private static final Map<Integer, Integer> VERSIONS =
      Map.ofEntries(
          Map.entry(70, 60),
          Map.entry(75, 63),
          Map.entry(80, 70),
          Map.entry(86, 71),
          Map.entry(89, 78),
          Map.entry(90, 78),
          Map.entry(100, 86),
          Map.entry(103, 88),
          Map.entry(110, 90),
          Map.entry(120, 87),
          Map.entry(121, 88));

  /** The first version, times ten, with families. */
  private static final int FAMILIES = 88;

  /** The first version, times ten, with targets for one architecture alone. */
  private static final int ALONE = 80;

  /** The target of a word; null if it names none. */
  static PtxTarget of(String word) {
    Matcher matcher = NAME.matcher(word);
    if (!matcher.matches()) {
      return null;
    }
    return new PtxTarget(Integer.parseInt(matcher.group(1)), matcher.group(2));
  }

  /** The first version of PTX, times ten, that has it; 0 where that isn't known. */
  int version() {
    int first = VERSIONS.getOrDefault(architecture, 0);
    return switch (suffix) {
      case "f" -> Math.max(first, FAMILIES);
      case "a" -> Math.max(first, ALONE);
      default -> first;
    };
  }

  /**
   * Whether code for this target may use what another one names: a plain one names all from its
   * architecture on, {@code f} those of the family from there on, {@code a} itself.
   */
  boolean has(PtxTarget needed) {
    return switch (needed.suffix) {
      case "a" -> equals(needed);
      case "f" ->
          !suffix.isEmpty()
              && architecture / 10 == needed.architecture / 10
              && architecture >= needed.architecture;
      default -> architecture >= needed.architecture;
    };
  }

  @Override
  public String toString() {
    return "sm_" + architecture + suffix;
  }
}
