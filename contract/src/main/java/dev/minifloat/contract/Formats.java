package dev.minifloat.contract;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import java.util.ArrayList;
import java.util.List;

/** Which formats and scalings the checks combine. */
final class Formats {
  private static final List<Scaling> PRODUCT_SCALINGS =
      List.of(
          Scaling.tensor(),
          Scaling.rows(),
          Scaling.columns(),
          Scaling.block(128, 128),
          Scaling.block(1, 128),
          Scaling.block(5, 19),
          Scaling.mx(),
          Scaling.nvfp4());

  /**
   * An element type with its scaling.
   *
   * @param dtype element type
   * @param scaling valid for it
   */
  record Format(DType dtype, Scaling scaling) {
    @Override
    public String toString() {
      return scaling instanceof Scaling.None ? dtype.name() : dtype + " " + scaling;
    }
  }

  /** What the other operand of a product is, when one goes through every format. */
  static final List<Format> PARTNERS =
      List.of(
          new Format(DType.F32, Scaling.none()),
          new Format(DType.BF16, Scaling.none()),
          new Format(DType.F8_E4M3, Scaling.rows()),
          new Format(DType.F8_E4M3, Scaling.columns()),
          new Format(DType.F8_E5M2, Scaling.mx()),
          new Format(DType.F4_E2M1, Scaling.nvfp4()),
          new Format(DType.I8, Scaling.block(1, 128)));

  private Formats() {}

  /** The scalings that products of a type are checked with. */
  static List<Scaling> scalings(DType dtype) {
    return PRODUCT_SCALINGS.stream().filter(scaling -> scaling.isValidFor(dtype)).toList();
  }

  /** Likewise, and none. */
  static List<Scaling> scalingsAndNone(DType dtype) {
    List<Scaling> all = new ArrayList<>(scalings(dtype));
    all.addFirst(Scaling.none());
    return all;
  }

  /** Every format that products take. */
  static List<Format> all() {
    return Data.PRODUCT_TYPES.stream()
        .flatMap(dtype -> scalingsAndNone(dtype).stream().map(s -> new Format(dtype, s)))
        .toList();
  }
}
