package dev.minifloat.cuda.sim.internal.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The memory of a simulated device. Every allocation has pages of its own and a page without memory
 * before it and after it, so that a wrong address meets nothing; a freed one's pages stay empty for
 * a long time, so that a stale address meets a tombstone.
 *
 * <pre>
 *   | guard | 256 bytes | allocation ……… | rest of its last page | guard | 256 bytes | next …
 *             unused                        unused
 * </pre>
 *
 * <p>Any thread may allocate, free and copy; two launches on one memory must not run at once.
 */
public final class GlobalMemory {
  /** Where addresses begin: far from shared and local windows, and from small integers. */
  public static final long BASE = 0x7f00_0000_0000L;

  private static final int PAGE_SHIFT = 16;
  private static final int PAGE = 1 << PAGE_SHIFT;

  /** Allocations are aligned to this and, on purpose, to no more. */
  private static final int ALIGNMENT = 256;

  /** So many frees pass before pages are used again. */
  private static final int QUARANTINE = 4096;

  private static final int MOST_PAGES = 1 << 24;

  private final long capacity;
  private final ArrayDeque<Allocation> quarantine = new ArrayDeque<>();
  private final Map<Integer, ArrayDeque<Integer>> recycled = new HashMap<>();
  private volatile Allocation[] pages = new Allocation[64];
  private int nextPage = 1;
  private long used;
  private int live;

  /**
   * Memory of a size.
   *
   * @param capacity bytes that can be allocated at once
   */
  public GlobalMemory(long capacity) {
    this.capacity = capacity;
  }

  public long capacity() {
    return capacity;
  }

  /** Bytes that are allocated now. */
  public synchronized long used() {
    return used;
  }

  /** Allocations that are alive now, modules' variables included. */
  public synchronized int liveAllocations() {
    return live;
  }

  /** Allocates bytes that nobody wrote yet; null if they don't fit. */
  public Allocation allocate(long bytes, String label) {
    return allocate(bytes, label, false);
  }

  /** Allocates bytes that kernels may only read; null if they don't fit. */
  public synchronized Allocation allocate(long bytes, String label, boolean readOnly) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("an allocation of " + bytes + " bytes");
    }
    if (bytes > capacity - used || bytes > Integer.MAX_VALUE - PAGE) {
      return null;
    }
    int count = (int) ((bytes + ALIGNMENT + PAGE - 1) >>> PAGE_SHIFT);
    int first = takePages(count);
    if (first < 0) {
      return null;
    }
    long base = BASE + ((long) first << PAGE_SHIFT) + ALIGNMENT;
    Allocation allocation = new Allocation(base, (int) bytes, label, readOnly);
    place(first, count, allocation);
    used += bytes;
    live++;
    return allocation;
  }

  private int takePages(int count) {
    ArrayDeque<Integer> old = recycled.get(count);
    if (old != null && !old.isEmpty()) {
      return old.poll();
    }
    if (nextPage + count + 1 > MOST_PAGES) {
      return -1;
    }
    int first = nextPage;
    nextPage += count + 1;
    Allocation[] known = pages;
    if (nextPage > known.length) {
      Allocation[] larger = new Allocation[Math.max(nextPage, known.length * 2)];
      System.arraycopy(known, 0, larger, 0, known.length);
      pages = larger;
    }
    return first;
  }

  private void place(int first, int count, Allocation allocation) {
    Allocation[] known = pages;
    for (int i = 0; i < count; i++) {
      known[first + i] = allocation;
    }
  }

  /** Frees an allocation; false if the address isn't the base of a living one. */
  public synchronized boolean free(long address) {
    Allocation allocation = at(address);
    if (allocation == null || allocation.base() != address || allocation.data() == null) {
      return false;
    }
    int first = page(address);
    int count = (int) (((long) allocation.size() + ALIGNMENT + PAGE - 1) >>> PAGE_SHIFT);
    Allocation tombstone = allocation.tombstone();
    place(first, count, tombstone);
    used -= allocation.size();
    live--;
    quarantine.add(tombstone);
    if (quarantine.size() > QUARANTINE) {
      Allocation oldest = quarantine.poll();
      int oldCount = (int) (((long) oldest.size() + ALIGNMENT + PAGE - 1) >>> PAGE_SHIFT);
      recycled.computeIfAbsent(oldCount, _ -> new ArrayDeque<>()).add(page(oldest.base()));
    }
    return true;
  }

  private static int page(long address) {
    return (int) ((address - BASE) >>> PAGE_SHIFT);
  }

  /** The allocation on whose pages an address lies, freed ones included; null if there is none. */
  public Allocation at(long address) {
    long page = (address - BASE) >>> PAGE_SHIFT;
    Allocation[] known = pages;
    return page < known.length ? known[(int) page] : null;
  }

  /** The allocation around an access; a fault if there is none, or it is not aligned. */
  public Allocation require(long address, int bytes) {
    Allocation allocation = at(address);
    if (allocation == null) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at address 0x%x don't lie within an allocation".formatted(bytes, address));
    }
    if ((address & (bytes - 1)) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "address 0x%x is no multiple of the access's %d bytes".formatted(address, bytes));
    }
    return allocation;
  }

  /** Whether a whole range lies within one living allocation. */
  public boolean contains(long address, long bytes) {
    Allocation allocation = at(address);
    return allocation != null
        && allocation.data() != null
        && address >= allocation.base()
        && bytes >= 0
        && bytes <= allocation.size() - (address - allocation.base());
  }

  /** Living allocations, in the order of their addresses: what a leak check looks at. */
  public synchronized List<Allocation> allocations() {
    List<Allocation> found = new ArrayList<>();
    Allocation last = null;
    for (Allocation allocation : pages) {
      if (allocation != null && allocation != last && allocation.data() != null) {
        found.add(allocation);
        last = allocation;
      }
    }
    return found;
  }

  private Allocation range(long address, long bytes) {
    Allocation allocation = require(address, 1);
    allocation.offset(address, (int) Math.min(bytes, Integer.MAX_VALUE));
    return allocation;
  }

  /** Copies from the host; the bytes count as written. */
  public void write(long address, MemorySegment source) {
    if (source.byteSize() == 0) {
      return;
    }
    Allocation allocation = range(address, source.byteSize());
    int offset = (int) (address - allocation.base());
    int length = (int) source.byteSize();
    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, 0, allocation.data(), offset, length);
    allocation.initialized().setRange(offset, length);
  }

  /** Copies to the host, written or not: the host may look at what it likes. */
  public void read(long address, MemorySegment target) {
    if (target.byteSize() == 0) {
      return;
    }
    Allocation allocation = range(address, target.byteSize());
    int offset = (int) (address - allocation.base());
    MemorySegment.copy(
        allocation.data(), offset, target, ValueLayout.JAVA_BYTE, 0, (int) target.byteSize());
  }

  /** The first byte of a range that nobody wrote, as an offset from its start; −1 if all were. */
  public long firstUnwritten(long address, long bytes) {
    Allocation allocation = range(address, bytes);
    int offset = (int) (address - allocation.base());
    int first = allocation.initialized().firstUnset(offset, (int) bytes);
    return first < 0 ? -1 : first - offset;
  }

  /** Copies within the device; what was not written stays not written. */
  public void copy(long target, long source, long bytes) {
    if (bytes == 0) {
      return;
    }
    Allocation from = range(source, bytes);
    Allocation to = range(target, bytes);
    int fromOffset = (int) (source - from.base());
    int toOffset = (int) (target - to.base());
    System.arraycopy(from.data(), fromOffset, to.data(), toOffset, (int) bytes);
    to.initialized().copy(toOffset, from.initialized(), fromOffset, (int) bytes);
  }

  /**
   * Fills with a number.
   *
   * @param size bytes of the number: 1, 2 or 4
   * @param count how many of it
   */
  public void fill(long address, int size, int value, long count) {
    if (count == 0) {
      return;
    }
    Allocation allocation = range(address, Math.multiplyExact(count, size));
    int offset = (int) (address - allocation.base());
    for (long i = 0; i < count; i++) {
      Bytes.put(allocation.data(), offset + (int) i * size, size, value);
    }
    allocation.initialized().setRange(offset, (int) count * size);
  }
}
