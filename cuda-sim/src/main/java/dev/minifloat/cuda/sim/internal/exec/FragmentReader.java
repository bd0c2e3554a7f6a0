package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.trace.Fragment;
import dev.minifloat.cuda.sim.trace.TracedRegister;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the matrices that a warp's registers hold, for {@link FragmentLayout}'s shapes, and those
 * that lie in shared memory.
 */
final class FragmentReader {
  private static final int LANES = 32;
  private static final int COLUMNS = 8;

  /** The lane of what lies in shared memory. */
  private static final int NOWHERE = -1;

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

    /** An element of shared memory, which is no lane's. */
    void setShared(int row, int column, SharedMemory shared, int offset) {
      int at = row * columns + column;
      byte[] bytes = shared.look(offset, type.bytes());
      lanes[at] = NOWHERE;
      values[at] =
          bytes.length == type.bytes()
              ? number((int) Bytes.get(bytes, 0, bytes.length))
              : Double.NaN;
      registers[at] = "0x%x".formatted(offset);
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

  /**
   * A, or B with {@code ofB}, in shared memory.
   *
   * @param first the first row of A, or column of B, to show
   * @param extent how many of them
   */
  static Fragment shared(
      String name,
      PtxType type,
      SharedMemory shared,
      MatrixDescriptor from,
      boolean kMajor,
      int first,
      int extent,
      int depth) {
    boolean ofB = name.equals("B");
    FragmentReader reader = new FragmentReader(null, List.of());
    Matrix matrix =
        reader
        .new Matrix(
            name, type, MmaOp.Packing.of(type, 0), ofB ? depth : extent, ofB ? extent : depth);
    for (int mn = 0; mn < extent; mn++) {
      for (int k = 0; k < depth; k++) {
        int offset = from.address(first + mn, k, type.bytes(), kMajor);
        matrix.setShared(ofB ? k : mn, ofB ? mn : k, shared, offset);
      }
    }
    return matrix.fragment();
  }

  /** A warp's 16 rows of C or D of a warpgroup: eight columns after the other. */
  Fragment accumulator(String name, PtxType type, int[] registers, int columns) {
    Matrix matrix = new Matrix(name, type, MmaOp.Packing.of(type, 0), 16, columns);
    int held = type == PtxType.F16 ? 2 : 1;
    for (int lane = 0; lane < LANES; lane++) {
      for (int e = 0; e < columns / 2; e++) {
        int row = FragmentLayout.rowOfC(lane, e % 4);
        int column = 8 * (e / 4) + FragmentLayout.columnOfC(lane, e % 4);
        matrix.set(row, column, lane, registers[e / held], e % held);
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
