package dev.minifloat.cuda.mutation;

import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelParameter;
import dev.minifloat.kernels.ParameterType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A kernel's lines, and what operators need to know of them beyond one line. */
final class KernelBody {
  private static final Pattern LABEL = Pattern.compile("^(\\$L\\w+):$");
  private static final Pattern BRANCH = Pattern.compile("^@!?(%p\\d+) bra (?:\\t)?(\\$L\\w+);$");
  private static final Pattern DEFINES =
      Pattern.compile("^(?:@!?%p\\d+ )?([a-z][\\w.:]*)\\s+(%\\w+), (.*);$");
  private static final Pattern REGISTER = Pattern.compile("%[a-z]+\\d+");
  private static final Pattern ADDRESS = Pattern.compile("\\[(%rd\\d+)(?:\\+-?\\d+)?\\]");

  private static final Pattern COMPARES_HIGH_WORDS =
      Pattern.compile("setp\\.(lt\\.u64.*, 4294967296|gt\\.u64.*, 4294967295);");

  /** What makes an address of another. */
  private static final Set<String> ADDRESSES =
      Set.of("cvta.to.global.u64", "mov.u64", "add.s64", "selp.b64", "mad.wide.s32");

  private final PtxFile file;
  private final PtxFile.Range range;
  private final Set<String> loopPredicates = new HashSet<>();
  private final Set<String> divisionPredicates = new HashSet<>();
  private final Set<String> scaleAddresses = new HashSet<>();
  private final Set<String> wholeNumbers = new HashSet<>();
  private boolean copiesAsynchronously;

  KernelBody(PtxFile file, KernelEntry kernel) {
    this.file = file;
    this.range = file.kernel(kernel.entry());
    findLoops();
    findDivisions();
    findScales(kernel);
    findWholeNumbers();
  }

  int from() {
    return range.from();
  }

  int to() {
    return range.to();
  }

  /** A line without the space around it. */
  String line(int index) {
    return file.lines().get(index).strip();
  }

  private void findLoops() {
    Map<String, Integer> labels = new HashMap<>();
    for (int i = from(); i < to(); i++) {
      Matcher label = LABEL.matcher(line(i));
      if (label.matches()) {
        labels.put(label.group(1), i);
      }
      Matcher branch = BRANCH.matcher(line(i));
      if (branch.matches() && labels.containsKey(branch.group(2))) {
        loopPredicates.add(branch.group(1));
      }
    }
  }

  /** Where {@code quotient} of view.cuh sees whether 32 bits suffice. */
  private void findDivisions() {
    Set<String> highWords = new HashSet<>();
    for (int i = from(); i < to(); i++) {
      Matcher defines = DEFINES.matcher(line(i));
      if (!defines.matches()) {
        continue;
      }
      if (defines.group(1).equals("and.b64") && defines.group(3).endsWith(", -4294967296")) {
        highWords.add(defines.group(2));
      } else if (defines.group(1).startsWith("setp.")
          && (highWords.contains(defines.group(3).split(",", 2)[0])
              || COMPARES_HIGH_WORDS.matcher(line(i)).matches())) {
        divisionPredicates.add(defines.group(2));
      }
    }
  }

  private void findWholeNumbers() {
    for (int i = from(); i < to(); i++) {
      copiesAsynchronously |= line(i).matches("cp\\.async\\.c[ag]\\..*");
      Matcher defines = DEFINES.matcher(line(i));
      if (defines.matches() && defines.group(1).matches("cvt\\.r[nzmp]i\\.f(32|64)\\.f(32|64)")) {
        wholeNumbers.add(defines.group(2));
      }
    }
  }

  private void findScales(KernelEntry kernel) {
    Set<String> sources = new HashSet<>();
    for (int i = 0; i < kernel.parameters().size(); i++) {
      KernelParameter parameter = kernel.parameters().get(i);
      String symbol = kernel.entry() + "_param_" + i;
      if (parameter.type() == ParameterType.VIEW) {
        sources.add("[" + symbol + "+8]");
      } else if (parameter.name().equals("scales")) {
        sources.add("[" + symbol + "]");
      }
    }
    int known = -1;
    while (known != scaleAddresses.size()) {
      known = scaleAddresses.size();
      for (int i = from(); i < to(); i++) {
        Matcher defines = DEFINES.matcher(line(i));
        if (!defines.matches()) {
          continue;
        }
        boolean isSource =
            defines.group(1).equals("ld.param.u64") && sources.contains(defines.group(3));
        boolean follows =
            ADDRESSES.contains(defines.group(1))
                && REGISTER
                    .matcher(defines.group(3))
                    .results()
                    .anyMatch(register -> scaleAddresses.contains(register.group()));
        if (isSource || follows) {
          scaleAddresses.add(defines.group(2));
        }
      }
    }
  }

  /** Whether a branch back depends on this predicate. */
  boolean endsLoop(String predicate) {
    return loopPredicates.contains(predicate);
  }

  /** Whether this predicate only chooses between divisions of 32 and of 64 bits. */
  boolean choosesDivision(String predicate) {
    return divisionPredicates.contains(predicate);
  }

  /** Whether a register only ever holds what was rounded to a whole number. */
  boolean isWhole(String register) {
    return wholeNumbers.contains(register);
  }

  /** Whether there is anything to wait for. */
  boolean copiesAsynchronously() {
    return copiesAsynchronously;
  }

  /** Whether an instruction reads or writes a scale. */
  boolean touchesScale(String line) {
    Matcher address = ADDRESS.matcher(line);
    return address.find() && scaleAddresses.contains(address.group(1));
  }

  List<String> lines() {
    return file.lines();
  }
}
