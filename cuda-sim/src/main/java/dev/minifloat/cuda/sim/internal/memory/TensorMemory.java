package dev.minifloat.cuda.sim.internal.memory;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The Tensor Memory of one block (PTX ISA, "Tensor Memory"): 128 lanes of 512 columns, 32 bits
 * each. An address names a cell; a warp reaches the lanes of one quarter, and only columns that the
 * block has allocated:
 *
 * <pre>
 *   31        16 15         0
 *  |    lane    |   column   |       lanes 32·q to 32·q + 31 are those of warps 4·i + q
 * </pre>
 *
 * <p>Of each quarter of a column the last accesses are kept, as {@link RaceDetector} keeps those of
 * shared memory: what tcgen05.mma and tcgen05.cp read and write is in flight until a tcgen05.commit
 * behind it has completed, and a warp sees it that has waited for that. A wait orders accesses only
 * if the warp has executed a tcgen05.fence::after_thread_sync behind it, and those of another warp
 * only if that one has executed a fence::before_thread_sync behind them.
 */
public final class TensorMemory {
  public static final int LANES = 128;
  public static final int COLUMNS = 512;

  /** Lanes that a warp reaches. */
  public static final int QUARTER = 32;

  private static final int QUARTERS = LANES / QUARTER;

  /** The least that is allocated. */
  private static final int UNIT = 32;

  private static final int NEVER = -1;

  private final Clocks clocks;
  private final RaceDetector.Places places;
  private final boolean checkInitialized;
  private final int[] cells = new int[LANES * COLUMNS];
  private final BitSet written = new BitSet(LANES * COLUMNS);

  /** Of each unit, the first column of the allocation that it belongs to, or {@link #NEVER}. */
  private final int[] owner = new int[COLUMNS / UNIT];

  private boolean relinquished;

  /** Of each quarter of a column, asynchronous writes and reads on their way, and the last's pc. */
  private final short[] writing = new short[COLUMNS * QUARTERS];

  private final short[] reading = new short[COLUMNS * QUARTERS];
  private final int[] flyingPc = new int[COLUMNS * QUARTERS];

  /** Of each quarter of a column, who wrote last and who read last: warp, clock, pc, number. */
  private final int[][] lastWrite = new int[COLUMNS * QUARTERS][];

  private final int[][] lastRead = new int[COLUMNS * QUARTERS][];

  /**
   * Memory that nobody allocated yet.
   *
   * @param checkInitialized whether a read of cells that nobody wrote is a fault
   * @param places describes instructions in reports of races; null to look for none
   */
  public TensorMemory(Clocks clocks, boolean checkInitialized, RaceDetector.Places places) {
    this.clocks = clocks;
    this.checkInitialized = checkInitialized;
    this.places = places;
    Arrays.fill(owner, NEVER);
  }

  /** The lane of an address. */
  public static int lane(int address) {
    return address >>> 16;
  }

  /** The column of an address. */
  public static int column(int address) {
    return address & 0xFFFF;
  }

  private static DeviceFault illegal(String message) {
    return new DeviceFault(DeviceFault.Kind.ILLEGAL_INSTRUCTION, message);
  }

  private static void requireSize(int columns) {
    if (columns < UNIT || columns > COLUMNS || Integer.bitCount(columns) != 1) {
      throw illegal(
          "%d columns of Tensor Memory; a power of two from %d to %d was expected"
              .formatted(columns, UNIT, COLUMNS));
    }
  }

  /** tcgen05.alloc: the address of so many columns. */
  public int allocate(int columns) {
    requireSize(columns);
    if (relinquished) {
      throw illegal("Tensor Memory is allocated after tcgen05.relinquish_alloc_permit");
    }
    int units = columns / UNIT;
    for (int first = 0; first + units <= owner.length; first += units) {
      boolean free = true;
      for (int i = first; i < first + units; i++) {
        free &= owner[i] == NEVER;
      }
      if (free) {
        Arrays.fill(owner, first, first + units, first * UNIT);
        return first * UNIT;
      }
    }
    throw new DeviceFault(
        DeviceFault.Kind.DEADLOCK,
        "tcgen05.alloc waits for %d columns of Tensor Memory; the block itself holds what is missing"
            .formatted(columns));
  }

  /** tcgen05.dealloc of what was allocated so. */
  public void free(int address, int columns) {
    requireSize(columns);
    int first = column(address) / UNIT;
    boolean whole =
        lane(address) == 0 && column(address) + columns <= COLUMNS && column(address) % UNIT == 0;
    for (int i = first; whole && i < first + columns / UNIT; i++) {
      whole = owner[i] == column(address);
    }
    int after = first + columns / UNIT;
    if (!whole || (after < owner.length && owner[after] == column(address))) {
      throw illegal(
          "tcgen05.dealloc of %d columns at 0x%08x, which tcgen05.alloc has not given so, or which were freed"
              .formatted(columns, address));
    }
    requireQuiet(column(address), columns);
    Arrays.fill(owner, first, after, NEVER);
    for (int lane = 0; lane < LANES; lane++) {
      written.clear(lane * COLUMNS + column(address), lane * COLUMNS + column(address) + columns);
    }
  }

  private void requireQuiet(int column, int columns) {
    for (int i = column * QUARTERS; i < (column + columns) * QUARTERS; i++) {
      if (writing[i] != 0 || reading[i] != 0) {
        throw race(i, "its deallocation", flying(i));
      }
    }
  }

  /** tcgen05.relinquish_alloc_permit. */
  public void relinquish() {
    relinquished = true;
  }

  /** The block ends: everything has to be free. */
  public void requireFree() {
    for (int unit = 0; unit < owner.length; unit++) {
      if (owner[unit] != NEVER) {
        throw illegal(
            "the block ends, and Tensor Memory from column %d on was not freed by tcgen05.dealloc"
                .formatted(owner[unit]));
      }
    }
  }

  /** Faults unless columns from an address on are allocated, by one allocation. */
  public void requireAllocated(int column, int columns, String what) {
    boolean within = column + columns <= COLUMNS;
    for (int c = column; within && c < column + columns; c++) {
      within = owner[c / UNIT] != NEVER && owner[c / UNIT] == owner[column / UNIT];
    }
    if (!within) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%s: columns %d to %d of Tensor Memory are not allocated, or not together"
              .formatted(what, column, column + columns - 1));
    }
  }

  /** A cell's bits; a fault if nobody wrote it. */
  public int get(int lane, int column) {
    if (checkInitialized && !written.get(lane * COLUMNS + column)) {
      throw new DeviceFault(
          DeviceFault.Kind.UNINITIALIZED_READ,
          ("lane %d, column %d of Tensor Memory was never written, or not yet: a tcgen05.commit, or"
                  + " a tcgen05.wait::st, may be missing")
              .formatted(lane, column));
    }
    return cells[lane * COLUMNS + column];
  }

  public void set(int lane, int column, int bits) {
    written.set(lane * COLUMNS + column);
    cells[lane * COLUMNS + column] = bits;
  }

  private DeviceFault race(int place, String what, String before) {
    return new DeviceFault(
        DeviceFault.Kind.RACE,
        "race on column %d of Tensor Memory, lanes %d to %d: %s, and %s"
            .formatted(
                place / QUARTERS,
                place % QUARTERS * QUARTER,
                place % QUARTERS * QUARTER + QUARTER - 1,
                what,
                before));
  }

  private String flying(int place) {
    return "an access by %s still in flight".formatted(places.describe(flyingPc[place]));
  }

  private void check(int place, int[] last, int warp, String what, String before) {
    if (last != null && last[0] != warp && clocks.seen(warp, last[0]) < last[1]) {
      throw race(place, what, before.formatted(places.describe(last[2])));
    }
    if (last == null || last[0] == warp) {
      return;
    }
    // What the tensor cores did is handed on by tcgen05.commit, which is a fence too.
    boolean isAsync = last[0] == clocks.asyncThread() / 32;
    String missing =
        !isAsync && !clocks.isTensorFenced(last[0], last[3])
            ? "before_thread_sync by its warp behind it"
            : clocks.tensorSeen(warp, last[0]) < last[1]
                ? "after_thread_sync behind the wait for it"
                : "";
    if (!missing.isEmpty()) {
      throw race(
          place,
          what,
          "an access by %s, with no tcgen05.fence::%s"
              .formatted(places.describe(last[2]), missing));
    }
  }

  /** A warp's tcgen05.ld or tcgen05.st. */
  public void access(int quarter, int column, int columns, boolean writes, int warp, int pc) {
    if (places == null) {
      return;
    }
    String what =
        "%s by warp %d of the cluster at %s"
            .formatted(writes ? "a write" : "a read", warp, places.describe(pc));
    int[] stamp = {warp, clocks.now(warp), pc, clocks.tensorAccess()};
    for (int c = column; c < column + columns; c++) {
      int place = c * QUARTERS + quarter;
      if (writing[place] != 0 || (writes && reading[place] != 0)) {
        throw race(place, what, flying(place));
      }
      check(place, lastWrite[place], warp, what, "a write by %s that it hasn't waited for");
      if (writes) {
        check(place, lastRead[place], warp, what, "a read by %s that it hasn't waited for");
      }
      (writes ? lastWrite : lastRead)[place] = stamp;
    }
  }

  /** An asynchronous access of all lanes begins, issued by a thread of a warp. */
  public void takeOff(int column, int columns, boolean writes, int warp, int pc) {
    if (places == null) {
      return;
    }
    String what = "an asynchronous access by " + places.describe(pc);
    int async = clocks.asyncThread() / 32;
    for (int place = column * QUARTERS; place < (column + columns) * QUARTERS; place++) {
      // What tcgen05.mma and tcgen05.cp do themselves is in order.
      int[] write = lastWrite[place];
      if (write != null && write[0] != async) {
        check(place, write, warp, what, "a write by %s that its thread hasn't waited for");
      }
      int[] read = lastRead[place];
      if (writes && read != null && read[0] != async) {
        check(place, read, warp, what, "a read by %s that its thread hasn't waited for");
      }
      (writes ? writing : reading)[place]++;
      flyingPc[place] = pc;
    }
  }

  /** It ends; who sees it depends on who waits for it. */
  public void land(int column, int columns, boolean writes, int pc) {
    if (places == null) {
      return;
    }
    int async = clocks.asyncThread() / 32;
    int[] stamp = {async, clocks.now(async), pc};
    for (int place = column * QUARTERS; place < (column + columns) * QUARTERS; place++) {
      (writes ? writing : reading)[place]--;
      (writes ? lastWrite : lastRead)[place] = stamp;
    }
  }
}
