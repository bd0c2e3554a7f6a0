package dev.minifloat.cuda.sim.internal.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongBinaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** SIMD video instructions against arithmetic on one part after the other. */
class VideoOpsTest {
  private record Operation(String name, LongBinaryOperator function) {}

  private static final List<Operation> OPERATIONS =
      List.of(
          new Operation("vadd", Long::sum),
          new Operation("vsub", (a, b) -> a - b),
          new Operation("vabsdiff", (a, b) -> a > b ? a - b : b - a),
          new Operation("vmin", (a, b) -> a < b ? a : b),
          new Operation("vmax", (a, b) -> a > b ? a : b));

  /** A part of a register: bytes and halves, by their casts. */
  private static long part(long register, int index, int parts, boolean signed) {
    int shifted = (int) register >> (index * 32 / parts);
    if (parts == 4) {
      return signed ? (byte) shifted : shifted & 0xFF;
    }
    return signed ? (short) shifted : (char) shifted;
  }

  private static InstructionCase instruction(
      Operation operation, int parts, boolean signed, String end) {
    String type = signed ? ".s32" : ".u32";
    String name = operation.name() + parts + type.repeat(3) + end;
    int width = 32 / parts;
    long least = signed ? -(1L << (width - 1)) : 0;
    long most = signed ? (1L << (width - 1)) - 1 : (1L << width) - 1;
    return InstructionCase.of(
        name + " r, a, b, c;",
        "b32 b32 b32 b32",
        x -> {
          long sum = (int) x[2];
          long packed = 0;
          for (int i = 0; i < parts; i++) {
            long value =
                operation
                    .function()
                    .applyAsLong(part(x[0], i, parts, signed), part(x[1], i, parts, signed));
            sum += value;
            long kept = end.equals(".sat") ? Math.max(least, Math.min(most, value)) : value;
            packed |= (kept & ((1L << width) - 1)) << (i * width);
          }
          return end.equals(".add") ? sum & 0xFFFF_FFFFL : packed;
        });
  }

  @TestFactory
  Stream<DynamicTest> partsAreComputedApart() {
    List<InstructionCase> cases = new ArrayList<>();
    for (Operation operation : OPERATIONS) {
      for (int parts : new int[] {2, 4}) {
        for (String end : new String[] {"", ".sat", ".add"}) {
          cases.add(instruction(operation, parts, false, end));
          cases.add(instruction(operation, parts, true, end));
        }
      }
    }
    return InstructionCase.tests(cases.stream());
  }
}
