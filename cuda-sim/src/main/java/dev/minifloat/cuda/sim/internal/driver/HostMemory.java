package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.TreeMap;

/** The page-locked ranges of the host's memory. */
final class HostMemory {
  private static final long PAGE = 4096;

  private final TreeMap<Long, HostRange> ranges = new TreeMap<>();
  private final Handles handles;

  HostMemory(Handles handles) {
    this.handles = handles;
  }

  @SuppressWarnings("MustBeClosed") // the range closes it
  HostRange allocate(Context context, long bytes, int flags) {
    Arena arena = Arena.ofShared();
    try {
      long address = arena.allocate(bytes, PAGE).address();
      HostRange range = new HostRange(context, address, bytes, flags, arena);
      ranges.put(address, handles.add(range));
      return range;
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  HostRange register(Context context, long address, long bytes, int flags) {
    Map.Entry<Long, HostRange> before = ranges.lowerEntry(address + bytes);
    if (before != null && before.getKey() + before.getValue().bytes() > address) {
      throw CuResult.HOST_MEMORY_ALREADY_REGISTERED.because(
          "0x%x lies in %s".formatted(address, before.getValue().details()));
    }
    HostRange range = new HostRange(context, address, bytes, flags, null);
    ranges.put(address, handles.add(range));
    return range;
  }

  /** The range that begins at an address; null if there is none. */
  HostRange beginning(long address) {
    return ranges.get(address);
  }

  /** The range around some bytes; null if they aren't page-locked, or only some are. */
  HostRange around(long address, long bytes) {
    Map.Entry<Long, HostRange> entry = ranges.floorEntry(address);
    if (entry == null) {
      return null;
    }
    HostRange range = entry.getValue();
    return address - range.address() <= range.bytes() - bytes ? range : null;
  }

  void release(HostRange range) {
    ranges.remove(range.address());
    handles.remove(range);
    range.release();
  }
}
