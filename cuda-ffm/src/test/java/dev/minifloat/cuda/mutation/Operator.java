package dev.minifloat.cuda.mutation;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A way to break a kernel in one line. */
enum Operator {
  /**
   * A wait for asynchronous copies is left out, or lets one more group be under way, in kernels
   * that make such copies.
   */
  DROP_WAIT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher wait = WAIT.matcher(line);
      return wait.matches() && body.copiesAsynchronously()
          ? List.of("", "cp.async.wait_group " + (Integer.parseInt(wait.group(1)) + 1) + ";")
          : List.of();
    }
  },
  /** The end of a group of asynchronous copies is left out, in kernels that make such copies. */
  DROP_COMMIT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return line.equals("cp.async.commit_group;") && body.copiesAsynchronously()
          ? List.of("")
          : List.of();
    }
  },
  /** A barrier is left out. */
  DROP_BARRIER {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return line.startsWith("bar.") ? List.of("") : List.of();
    }
  },
  /** Two registers of a fragment of a matrix multiplication change places. */
  SWAP_FRAGMENT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher mma = MMA.matcher(line);
      if (!mma.matches()) {
        return List.of();
      }
      String head = mma.group(1);
      String a = "{%s, %s, %s, %s}";
      String b = "{" + mma.group(6) + ", " + mma.group(7) + "}";
      String tail = mma.group(8);
      String a0 = mma.group(2);
      String a1 = mma.group(3);
      String a2 = mma.group(4);
      String a3 = mma.group(5);
      return List.of(
          head + a.formatted(a1, a0, a2, a3) + ", " + b + tail,
          head + a.formatted(a2, a1, a0, a3) + ", " + b + tail,
          head
              + a.formatted(a0, a1, a2, a3)
              + ", {"
              + mma.group(7)
              + ", "
              + mma.group(6)
              + "}"
              + tail);
    }
  },
  /** An address is off by one element. */
  SHIFT_ELEMENT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher access = ACCESS.matcher(line);
      return access.find() && !body.touchesScale(line)
          ? List.of(shifted(line, Integer.parseInt(access.group(1)) / 8))
          : List.of();
    }
  },
  /** An address is off by one chunk of 16 bytes. */
  SHIFT_CHUNK {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return IN_SHARED.matcher(line).find() ? List.of(shifted(line, 16)) : List.of();
    }
  },
  /** An address is off by one row of a tile, 128 bytes. */
  SHIFT_ROW {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return IN_SHARED.matcher(line).find() ? List.of(shifted(line, 128)) : List.of();
    }
  },
  /** A swizzle, or another exclusive or, does nothing, or another bit. */
  SWIZZLE {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher xor = XOR.matcher(line);
      if (!xor.matches()) {
        return List.of();
      }
      return List.of(xor.group(1) + "0;", xor.group(1).replace("xor.", "or.") + xor.group(2) + ";");
    }
  },
  /** A loop ends one turn early or late. */
  LOOP_BOUND {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher compare = COMPARE.matcher(line);
      if (!compare.matches() || !body.endsLoop(compare.group(3))) {
        return List.of();
      }
      String other =
          switch (compare.group(1)) {
            case "lt" -> "le";
            case "le" -> "lt";
            case "gt" -> "ge";
            case "ge" -> "gt";
            default -> "";
          };
      return other.isEmpty()
          ? List.of()
          : List.of("setp." + other + compare.group(2) + compare.group(3) + compare.group(4));
    }
  },
  /** A predicate's sense is the other one. */
  PREDICATE_SENSE {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher guarded = GUARDED.matcher(line);
      if (!guarded.matches() || body.choosesDivision(guarded.group(2))) {
        return List.of();
      }
      String sense = guarded.group(1).isEmpty() ? "!" : "";
      return List.of("@" + sense + guarded.group(2) + guarded.group(3));
    }
  },
  /** A mask lacks its highest bit, or a shuffle's distance is half as long. */
  MASK {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher shuffle = SHUFFLE.matcher(line);
      if (shuffle.matches()) {
        return List.of(
            shuffle.group(1) + Integer.parseInt(shuffle.group(2)) / 2 + shuffle.group(3));
      }
      Matcher and = AND.matcher(line);
      if (!and.matches() || and.group(2).equals("-4294967296")) {
        return List.of();
      }
      long mask = Long.parseLong(and.group(2));
      long less =
          mask >= 0
              ? mask & ~Long.highestOneBit(mask)
              // A mask of the high bits: its lowest one.
              : mask & mask - 1;
      return List.of(and.group(1) + less + ";");
    }
  },
  /** The next scale is read or written. */
  SCALE_INDEX {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher access = ACCESS.matcher(line);
      return access.find() && body.touchesScale(line)
          ? List.of(shifted(line, Integer.parseInt(access.group(1)) / 8))
          : List.of();
    }
  },
  /**
   * A conversion from a float rounds in another way; one of a whole number has nothing to round,
   * and those from integers of a kernel are exact.
   */
  CVT_ROUNDING {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher convert = CONVERT.matcher(line);
      if (!convert.matches()
          || convert.group(3).matches(".*\\.[su](8|16|32|64)\\s.*")
          || body.isWhole(line.replaceAll(".*, (%\\w+);", "$1"))) {
        return List.of();
      }
      List<String> others = new ArrayList<>();
      switch (convert.group(2)) {
        case "rn" -> {
          others.add("rz");
          if (!convert.group(3).contains("bf16")) {
            others.add("rp");
          }
        }
        case "rni" -> others.add("rzi");
        case "rzi" -> others.add("rpi");
        default -> {}
      }
      return others.stream().map(other -> convert.group(1) + other + convert.group(3)).toList();
    }
  },
  /** The scales of a matrix multiplication are those of other rows, columns or blocks. */
  SCALE_SELECTOR {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher scaled = SCALED.matcher(line);
      if (!scaled.matches()) {
        return List.of();
      }
      int byteA = Integer.parseInt(scaled.group(2));
      int threadA = Integer.parseInt(scaled.group(3));
      int byteB = Integer.parseInt(scaled.group(5));
      int threadB = Integer.parseInt(scaled.group(6));
      List<String> others = new ArrayList<>();
      others.add(selecting(scaled, byteA, 1 - threadA, byteB, threadB));
      others.add(selecting(scaled, byteA, threadA, byteB, (threadB + 1) % 4));
      int blocks = line.contains("::1X") ? 1 : line.contains("::2X") ? 2 : 4;
      if (blocks < 4) {
        others.add(selecting(scaled, (byteA + blocks) % 4, threadA, byteB, threadB));
        others.add(selecting(scaled, byteA, threadA, (byteB + blocks) % 4, threadB));
      }
      return others;
    }
  },
  /** Who waits for a phase of a barrier waits for the same parity always. */
  PHASE {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher wait = PARITY.matcher(line);
      return wait.matches() ? List.of(wait.group(1) + "0;", wait.group(1) + "1;") : List.of();
    }
  },
  /** A barrier expects another number of bytes of copies. */
  EXPECTED_BYTES {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher expects = EXPECTS.matcher(line);
      return expects.matches()
          ? List.of(expects.group(1) + "16;", expects.group(1) + "1048560;")
          : List.of();
    }
  },
  /** A barrier waits for another number of arrivals, or one arrival is left out. */
  ARRIVALS {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher init = INIT.matcher(line);
      if (init.matches()) {
        return List.of(init.group(1) + "1;", init.group(1) + "7;");
      }
      boolean arrives = ARRIVES.matcher(line).matches() || COMMITS.matcher(line).matches();
      return arrives ? List.of("") : List.of();
    }
  },
  /** A fence is left out. */
  DROP_FENCE {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return FENCE.matcher(line).matches() ? List.of("") : List.of();
    }
  },
  /**
   * The end of a group of asynchronous products is left out, or the wait for it, or it waits less.
   */
  DROP_PRODUCTS_WAIT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return switch (line) {
        case "wgmma.commit_group.sync.aligned;" -> List.of("");
        case "wgmma.wait_group.sync.aligned 0;" -> List.of("", "wgmma.wait_group.sync.aligned 1;");
        default -> List.of();
      };
    }
  },
  /** A descriptor is that of another chunk, of a tile with other strides, or of another stage. */
  DESCRIPTOR {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher stage = STAGE.matcher(line);
      if (stage.matches()) {
        return List.of(
            stage.group(1) + Integer.parseInt(stage.group(2)) / 2 + stage.group(3),
            stage.group(1) + (Integer.parseInt(stage.group(2)) + 1) + stage.group(3));
      }
      Matcher upper = UPPER.matcher(line);
      if (!upper.matches()) {
        return List.of();
      }
      long constant = Long.parseLong(upper.group(2));
      return (constant >>> 32 & ~VERSION) == SWIZZLED
          // 512 bytes instead of 1,024 from eight rows to the next; no swizzle; the next chunk.
          ? List.of(
              upper.group(1) + (constant - (32L << 32)) + ";",
              upper.group(1) + (constant - (1L << 62)) + ";",
              upper.group(1) + (constant ^ 1) + ";")
          : List.of();
    }
  },
  /** A tensor core's sums, or what a warp loads of them, are those of another column or lane. */
  TENSOR_COLUMN {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher load = TENSOR_LOAD.matcher(line);
      if (load.matches()) {
        return List.of(load.group(1) + "+1];", load.group(1) + "+2097152];");
      }
      Matcher multiply = TENSOR_MMA.matcher(line);
      if (!multiply.matches()) {
        return List.of();
      }
      List<String> others = new ArrayList<>();
      others.add(multiply.group(1) + "[" + multiply.group(2) + "+64], " + multiply.group(3) + ";");
      Matcher scales = TENSOR_SCALES.matcher(line);
      if (scales.matches()) {
        others.add(scales.group(1) + "[" + scales.group(3) + "], [" + scales.group(2) + "], adds;");
      }
      return others;
    }
  },
  /** Scales are copied to other columns of Tensor Memory, or products don't find them at all. */
  TENSOR_COPY {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher copy = TENSOR_COPY_OF.matcher(line);
      return copy.matches()
          ? List.of("", copy.group(1) + "[" + copy.group(2) + "+1]" + copy.group(3))
          : List.of();
    }
  },
  /** A load of Tensor Memory isn't waited for. */
  DROP_LOAD_WAIT {
    @Override
    List<String> mutations(KernelBody body, String line) {
      return line.equals("tcgen05.wait::ld.sync.aligned;") ? List.of("") : List.of();
    }
  },
  /** A box is copied from another place. */
  BOX {
    @Override
    List<String> mutations(KernelBody body, String line) {
      Matcher box = COORDINATES.matcher(line);
      return box.matches()
          ? List.of(
              "%s{%s, %s, %s%s"
                  .formatted(box.group(1), box.group(3), box.group(2), box.group(4), box.group(5)),
              "%s{%s, %s, %s%s"
                  .formatted(box.group(1), box.group(2), box.group(4), box.group(3), box.group(5)))
          : List.of();
    }
  };

  /** The descriptor's constant part: swizzled over 128 bytes, 1,024 from eight rows to the next. */
  private static final long SWIZZLED = 0x4000_0040;

  /** What descriptors for Tensor Memory's products have besides. */
  private static final long VERSION = 0x4000;

  private static final Pattern PARITY =
      Pattern.compile("(mbarrier\\.try_wait\\.parity\\..*, \\[.*\\], )%\\w+;");
  private static final Pattern EXPECTS =
      Pattern.compile("(mbarrier\\.arrive\\.expect_tx\\..*\\[.*\\], )%\\w+;");
  private static final Pattern INIT = Pattern.compile("(mbarrier\\.init\\..*\\[.*\\], )%\\w+;");
  private static final Pattern ARRIVES =
      Pattern.compile("(@\\w+ )?mbarrier\\.arrive\\.shared::cta\\.b64 .*;");
  private static final Pattern COMMITS = Pattern.compile("tcgen05\\.commit\\..*;");
  private static final Pattern TENSOR_LOAD = Pattern.compile("(tcgen05\\.ld\\..*\\[%\\w+)\\];");
  private static final Pattern TENSOR_MMA =
      Pattern.compile("(tcgen05\\.mma\\.\\S+ )\\[(%\\w+)\\], (.*);");
  private static final Pattern TENSOR_SCALES =
      Pattern.compile("(tcgen05\\.mma\\..*)\\[(%\\w+)\\], \\[(%\\w+)\\], adds;");
  private static final Pattern TENSOR_COPY_OF =
      Pattern.compile("(tcgen05\\.cp\\.\\S+ )\\[(%\\w+)\\](, .*)");
  private static final Pattern FENCE = Pattern.compile("(wgmma\\.|tcgen05\\.)?fence(\\.|::).*;");
  private static final Pattern STAGE =
      Pattern.compile("(mad\\.wide\\.u32 [ab], %\\w+, )(\\d+)(, %\\w+;)");
  private static final Pattern UPPER = Pattern.compile("(or\\.b64\\s+%\\w+, %\\w+, )(\\d{1,19});");
  private static final Pattern COORDINATES =
      Pattern.compile("(cp\\.async\\.bulk\\.tensor\\.3d\\..*)\\{(%\\w+), (%\\w+), (%\\w+)(\\}.*)");
  private static final Pattern WAIT = Pattern.compile("cp\\.async\\.wait_group (\\d+);");
  private static final Pattern MMA =
      Pattern.compile(
          "(mma\\.sync\\.\\S+ \\{.*?\\}, )\\{(%\\w+), (%\\w+), (%\\w+), (%\\w+)\\},"
              + " \\{(%\\w+), (%\\w+)\\}(, \\{.*)");
  private static final Pattern SCALED =
      Pattern.compile("(mma\\..*\\.block_scale.*)\\{(\\d), (\\d)\\}(.*)\\{(\\d), (\\d)\\};");
  private static final Pattern ACCESS =
      Pattern.compile(
          "^(?:@!?%p\\d+ )?(?:ld|st)\\.(?:global|shared)\\.\\S*?(?:[subf])(\\d+)\\s.*\\[");
  private static final Pattern IN_SHARED =
      Pattern.compile("^(?:@!?%p\\d+ )?(?:cp\\.async\\.c[ag]\\.|ldmatrix|ld\\.shared|st\\.shared)");
  private static final Pattern ADDRESS = Pattern.compile("\\[([^\\]+]+)(?:\\+(-?\\d+))?\\]");
  private static final Pattern XOR = Pattern.compile("(xor\\.b\\d+\\s+%\\w+, %\\w+, )(\\S+);");
  private static final Pattern AND = Pattern.compile("(and\\.b\\d+\\s+%\\w+, %\\w+, )(-?\\d+);");
  private static final Pattern SHUFFLE =
      Pattern.compile("(shfl\\.sync\\.bfly\\.b32\\s+\\S+ \\S+ )(\\d+)(, .*)");
  private static final Pattern COMPARE =
      Pattern.compile("setp\\.(\\w+)(\\.\\w+\\s+)(%p\\d+)(, .*)");
  private static final Pattern GUARDED = Pattern.compile("@(!?)(%p\\d+)(\\s.*)");
  private static final Pattern CONVERT = Pattern.compile("(cvt\\.)(r[a-z]+)(\\..*)");

  /** The lines that may stand for a line; none where the operator has nothing to do. */
  abstract List<String> mutations(KernelBody body, String line);

  /** A multiplication with other scales. */
  private static String selecting(Matcher scaled, int byteA, int threadA, int byteB, int threadB) {
    return scaled.group(1)
        + "{%d, %d}".formatted(byteA, threadA)
        + scaled.group(4)
        + "{%d, %d};".formatted(byteB, threadB);
  }

  /** Adds bytes to the first address of a line. */
  private static String shifted(String line, int bytes) {
    Matcher address = ADDRESS.matcher(line);
    if (!address.find()) {
      throw new IllegalArgumentException("no address in " + line);
    }
    int offset = address.group(2) == null ? 0 : Integer.parseInt(address.group(2));
    return line.substring(0, address.start())
        + "["
        + address.group(1)
        + "+"
        + (offset + bytes)
        + "]"
        + line.substring(address.end());
  }
}
