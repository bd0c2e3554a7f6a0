package dev.minifloat.kernels;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a PTX file was compiled for: PTX ISA §11.1.2, {@code .target}.
 *
 * @param capability ten times the major compute capability, plus the minor one: 80 for {@code
 *     sm_80}
 * @param reach which newer devices run it too
 */
public record Target(int capability, Reach reach) {
  private static final Pattern NAME = Pattern.compile("sm_(\\d{2,3})([af]?)");

  /** Which devices beyond the one it is named for run a file. */
  public enum Reach {
    /** Every newer one. */
    NEWER(""),
    /** The newer ones of the same major capability. */
    FAMILY("f"),
    /** None. */
    ALONE("a");

    private final String suffix;

    Reach(String suffix) {
      this.suffix = suffix;
    }
  }

  /**
   * The target of a name such as {@code sm_80}, {@code sm_90a}, {@code sm_100f}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static Target parse(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("name: \"" + name + "\" is not a target such as sm_80");
    }
    Reach reach =
        switch (matcher.group(2)) {
          case "a" -> Reach.ALONE;
          case "f" -> Reach.FAMILY;
          default -> Reach.NEWER;
        };
    return new Target(Integer.parseInt(matcher.group(1)), reach);
  }

  /** Whether a device of a capability, such as 89, runs it. */
  public boolean runsOn(int device) {
    return switch (reach) {
      case NEWER -> device >= capability;
      case FAMILY -> device >= capability && device / 10 == capability / 10;
      case ALONE -> device == capability;
    };
  }

  /** The devices that run it, in words. */
  public String devices() {
    return switch (reach) {
      case NEWER -> this + " and newer";
      case FAMILY -> this + ": compute capability " + capability / 10 + ", and no other";
      case ALONE -> this + ", and no other";
    };
  }

  @Override
  public String toString() {
    return "sm_" + capability + reach.suffix;
  }
}
