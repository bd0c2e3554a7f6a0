package dev.minifloat.cuda.mutation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The basic blocks of a kernel, and a text of it that leaves a byte in memory for each block that a
 * thread comes to.
 *
 * <p>A mutant of a line that no thread comes to does what its kernel does. So a probe needs to run
 * those mutants only whose blocks it reaches.
 */
final class Coverage {
  private static final Pattern LABEL = Pattern.compile("^\\$L\\w+:$");
  private static final Pattern LEAVES = Pattern.compile("^(?:@!?%p\\d+ )?(?:bra|ret|exit)\\b.*");

  private final PtxFile file;
  private final String kernel;
  private final int from;
  private final BitSet starts = new BitSet();

  Coverage(PtxFile file, String kernel) {
    this.file = file;
    this.kernel = kernel;
    PtxFile.Range range = file.kernel(kernel);
    int first = range.from();
    while (!line(first).equals("{")) {
      first++;
    }
    first++;
    while (line(first).isEmpty() || line(first).startsWith(".") || line(first).startsWith("//")) {
      first++;
    }
    this.from = first;
    starts.set(first);
    for (int i = first; i < range.to(); i++) {
      if (LABEL.matcher(line(i)).matches()) {
        starts.set(i);
      } else if (LEAVES.matcher(line(i)).matches()) {
        starts.set(i + 1);
      }
    }
  }

  private String line(int index) {
    return file.lines().get(index).strip();
  }

  /** How many bytes {@link #instrumented} needs. */
  int blocks() {
    return starts.cardinality();
  }

  /** The block that a line is in. */
  int block(int line) {
    return starts.get(0, line + 1).cardinality() - 1;
  }

  /**
   * The file with this kernel only, which stores 1 in a byte for each block that it comes to.
   *
   * @param address of the first block's byte, on the device
   */
  String instrumented(long address) {
    List<String> lines = new ArrayList<>(file.only(kernel, -1, "").lines().toList());
    int block = 0;
    for (int i = starts.nextSetBit(0); i >= 0; i = starts.nextSetBit(i + 1)) {
      String mark = "st.global.u8 [%coverage+" + block++ + "], %covered;";
      if (i == from) {
        mark =
            ".reg .b64 %coverage; .reg .b16 %covered; mov.u64 %coverage, "
                + address
                + "; mov.u16 %covered, 1; "
                + mark;
      }
      lines.set(
          i,
          LABEL.matcher(line(i)).matches()
              ? lines.get(i) + " " + mark
              : line(i).equals("}") ? lines.get(i) : mark + " " + lines.get(i));
    }
    return String.join("\n", lines);
  }
}
