package dev.minifloat.cuda.sim.internal.mma;

/**
 * Where a lane's registers stand in the matrices of {@code mma.sync} with 8 or 16 rows and 8
 * columns (PTX ISA, "Matrix Fragments for mma.m16n8k16 …"). One formula serves all shapes and
 * element sizes:
 *
 * <pre>
 *   group = lane / 4, quad = lane % 4, e = elements of 32 bits
 *
 *   A, register r, element i   row = group + 8·(r % 2)    k = 4e·(r / 2) + e·quad + i
 *   B, register r, element i   k = 4e·r + e·quad + i      column = group
 *   C and D, element i         row = group + 8·(i / 2)    column = 2·quad + i % 2
 * </pre>
 *
 * <p>F16 accumulators have elements 2r and 2r + 1 in register r.
 */
public final class FragmentLayout {
  private FragmentLayout() {}

  public static int rowOfA(int lane, int register) {
    return (lane >>> 2) + 8 * (register & 1);
  }

  public static int kOfA(int lane, int register, int element, int elementsPerRegister) {
    return 4 * elementsPerRegister * (register >>> 1) + elementsPerRegister * (lane & 3) + element;
  }

  public static int kOfB(int lane, int register, int element, int elementsPerRegister) {
    return 4 * elementsPerRegister * register + elementsPerRegister * (lane & 3) + element;
  }

  public static int columnOfB(int lane) {
    return lane >>> 2;
  }

  public static int rowOfC(int lane, int element) {
    return (lane >>> 2) + 8 * (element >>> 1);
  }

  public static int columnOfC(int lane, int element) {
    return 2 * (lane & 3) + (element & 1);
  }
}
