package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.Arrays;
import java.util.List;

/** Reads the matrices that a warp's registers hold, for {@link FragmentLayout}'s shapes. */
final class FragmentReader {
  private static final int LANES = 32;
  private static final int COLUMNS = 8;

  private final Frame frame;
  private final List<TracedRegister> names;

  FragmentReader(Frame frame, List<TracedRegister> names) {
    this.frame = frame;
    this.names = names;
  }

  /** A matrix that is filled element by element. */
  private final class Matrix {
    private final String name;
    private final PtxType type;
    private final MmaOp.Packing packing;
    private final int rows;
    private final int columns;
    private final Double[] values;
    private final Integer[] lanes;
    private final String[] registers;

    Matrix(String name, PtxType type, MmaOp.Packing packing, int rows, int columns) {
      this.name = name;
      this.type = type;
      this.packing = packing;
      this.rows = rows;
      this.columns = columns;
      values = new Double[rows * columns];
      lanes = new Integer[rows * columns];
      registers = new String[rows * columns];
      Arrays.fill(values, 0.0);
      Arrays.fill(lanes, 0);
      Arrays.fill(registers, "");
    }

    /** An element of a register. */
    void set(int row, int column, int lane, int offset, int element) {
      int at = row * columns + column;
      lanes[at] = lane;
      if (offset >= 0) {
        values[at] = number(packing.element(frame.registers[offset + lane], element));
        registers[at] = nameOf(offset);
      }
    }

    private double number(int code) {
      if (type.isInteger()) {
        return Bits.read(code, type.bits(), type.isSigned());
      }
      // Of a TF32 register the low 13 bits are ignored.
      return MmaOp.format(type).decode(type == PtxType.TF32 ? code >>> 13 : code);
    }

    Fragment fragment() {
      return new Fragment(
          name,
          type.toString(),
          rows,
          columns,
          List.of(values),
          List.of(lanes),
          List.of(registers));
    }
  }

  private String nameOf(int offset) {
    int index = offset / LANES;
    return names.stream()
        .filter(register -> !register.isPredicate() && register.index() == index)
        .map(TracedRegister::name)
        .findFirst()
        .orElse("");
  }

  Fragment a(PtxType type, MmaOp.Packing packing, int rows, int depth, int[] registers) {
    Matrix matrix = new Matrix("A", type, packing, rows, depth);
    int each = packing.each();
    for (int lane = 0; lane < LANES; lane++) {
      for (int i = 0; i < registers.length; i++) {
        for (int e = 0; e < each; e++) {
          int k = FragmentLayout.kOfA(lane, i, e, each);
          matrix.set(FragmentLayout.rowOfA(lane, i), k, lane, registers[i], e);
        }
      }
    }
    return matrix.fragment();
  }

  Fragment b(PtxType type, MmaOp.Packing packing, int depth, int[] registers) {
    Matrix matrix = new Matrix("B", type, packing, depth, COLUMNS);
    int each = packing.each();
    for (int lane = 0; lane < LANES; lane++) {
      for (int i = 0; i < registers.length; i++) {
        for (int e = 0; e < each; e++) {
          int k = FragmentLayout.kOfB(lane, i, e, each);
          matrix.set(k, FragmentLayout.columnOfB(lane), lane, registers[i], e);
        }
      }
    }
    return matrix.fragment();
  }

  /** C or D; elements of F16 stand two in a register. */
  Fragment accumulator(String name, PtxType type, int rows, int[] registers) {
    Matrix matrix = new Matrix(name, type, MmaOp.Packing.of(type, 0), rows, COLUMNS);
    int held = type == PtxType.F16 ? 2 : 1;
    for (int lane = 0; lane < LANES; lane++) {
      for (int i = 0; i < registers.length * held; i++) {
        int row = FragmentLayout.rowOfC(lane, i);
        int column = FragmentLayout.columnOfC(lane, i);
        matrix.set(row, column, lane, registers[i / held], i % held);
      }
    }
    return matrix.fragment();
  }
}
