package dev.minifloat.cuda.mutation;

/**
 * A kernel with one line changed.
 *
 * @param file of the kernel
 * @param kernel that the line is in
 * @param operator what was done
 * @param line the index of the line in the file, from 0
 * @param after what the line becomes; empty for nothing
 */
record Mutant(PtxFile file, String kernel, Operator operator, int line, String after) {
  String before() {
    return file.lines().get(line).strip();
  }

  /** What names it in reports: it changes only when the PTX does. */
  String id() {
    String becomes = after.isEmpty() ? "-" : after.replaceAll("\\s+", " ");
    return kernel + ":" + (line + 1) + " " + operator + " " + becomes;
  }

  @Override
  public String toString() {
    return "%s of %s, line %d of %s: %s → %s"
        .formatted(
            operator,
            kernel,
            line + 1,
            file.file().path(),
            before(),
            after.isEmpty() ? "nothing" : after);
  }
}
