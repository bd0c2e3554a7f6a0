package dev.minifloat.cuda.sim.internal.ptx;

/**
 * What may stand at one operand's place.
 *
 * @param kind what kind of thing
 * @param type its type as the table writes it: T, T1, W, u32 …; empty where kind needs none
 * @param wider whether a register may be wider than the type
 * @param sink whether {@code _} may stand instead
 * @param paired whether {@code |predicate} may follow
 * @param count elements of a vector; 0 for a scalar, −1 for what .v2 and .v4 say, or a part of a
 *     shape's N
 * @param optional whether it may be absent
 */
record OperandRule(
    Kind kind,
    String type,
    boolean wider,
    boolean sink,
    boolean paired,
    int count,
    boolean optional) {

  /** Half and a quarter of a shape's N: the registers of an accumulator's row. */
  static final int HALF_OF_N = -2;

  static final int QUARTER_OF_N = -3;

  /** The registers that a shape of tcgen05.ld fills. */
  static final int OF_CELLS = -4;

  enum Kind {
    DESTINATION,
    SOURCE,
    PREDICATE_SOURCE,
    CONSTANT,
    ADDRESS,
    /** wgmma's A: a descriptor of 64 bits or four registers. */
    MATRIX,
    /** tcgen05.mma's A: a descriptor of 64 bits or an address of Tensor Memory. */
    TENSOR_MATRIX,
    LABEL,
    CALL,
    MOVE_DESTINATION,
    MOVE_SOURCE
  }

  /** The rule that a word of the table states. */
  static OperandRule parse(String word) {
    String rest = word;
    boolean optional = rest.endsWith("?");
    rest = optional ? rest.substring(0, rest.length() - 1) : rest;
    OperandRule fixed =
        switch (rest) {
          case "i" -> simple(Kind.CONSTANT, "u64", optional);
          case "@label" -> simple(Kind.LABEL, "", optional);
          case "matrix" -> simple(Kind.MATRIX, "b64", optional);
          case "matrix|[tmem]" -> simple(Kind.TENSOR_MATRIX, "tmem", optional);
          case "call" -> simple(Kind.CALL, "", optional);
          case "M" -> simple(Kind.MOVE_SOURCE, "T", optional);
          case "=M" -> simple(Kind.MOVE_DESTINATION, "T", optional);
          case "!pred" -> simple(Kind.PREDICATE_SOURCE, "pred", optional);
          default -> null;
        };
    if (fixed != null) {
      return fixed;
    }
    if (rest.startsWith("[")) {
      return simple(Kind.ADDRESS, rest.substring(1, rest.length() - 1), optional);
    }
    boolean destination = rest.startsWith("=");
    rest = destination ? rest.substring(1) : rest;
    boolean paired = rest.endsWith("|p");
    rest = paired ? rest.substring(0, rest.length() - 2) : rest;
    boolean sink = rest.endsWith("_");
    rest = sink ? rest.substring(0, rest.length() - 1) : rest;
    boolean wider = rest.endsWith("+");
    rest = wider ? rest.substring(0, rest.length() - 1) : rest;
    int count = 0;
    if (rest.endsWith("V")) {
      count = -1;
      rest = rest.substring(0, rest.length() - 1);
    } else if (rest.contains("*")) {
      String size = rest.substring(rest.indexOf('*') + 1);
      count =
          switch (size) {
            case "N/2" -> HALF_OF_N;
            case "N/4" -> QUARTER_OF_N;
            case "R" -> OF_CELLS;
            default -> Integer.parseInt(size);
          };
      rest = rest.substring(0, rest.indexOf('*'));
    }
    Kind kind = destination ? Kind.DESTINATION : Kind.SOURCE;
    return new OperandRule(kind, rest, wider, sink, paired, count, optional);
  }

  private static OperandRule simple(Kind kind, String type, boolean optional) {
    return new OperandRule(kind, type, false, false, false, 0, optional);
  }
}
