package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * The asynchronous copies of a warp's lanes. They happen as late as PTX allows: when a wait needs
 * them, or when the lane ends; so a kernel that forgets to wait reads what was there before.
 *
 * <p>A copy's numbers stand at the same index of several arrays, so that none allocates.
 */
final class AsyncCopies {
  private final Warp warp;
  private int count;
  private int[] lane = new int[64];
  private int[] group = new int[64];
  private int[] target = new int[64];
  private long[] source = new long[64];
  private int[] bytes = new int[64];
  private int[] sourceBytes = new int[64];
  private int[] pc = new int[64];
  private long[] order = new long[64];
  private long issued;

  /**
   * An arrival that follows a lane's copies.
   *
   * @param before how many copies had been issued
   */
  private record Arrival(int lane, long before, Mbarrier barrier) {}

  private final List<Arrival> arrivals = new ArrayList<>();

  /** How many groups each lane has committed. */
  private final int[] committed = new int[32];

  AsyncCopies(Warp warp) {
    this.warp = warp;
  }

  /** Notes a copy; its addresses were checked. */
  void add(int laneIndex, int to, long from, int size, int sourceSize, int atPc) {
    if (count == lane.length) {
      grow();
    }
    lane[count] = laneIndex;
    group[count] = committed[laneIndex];
    target[count] = to;
    source[count] = from;
    bytes[count] = size;
    sourceBytes[count] = sourceSize;
    pc[count] = atPc;
    order[count] = issued++;
    count++;
  }

  private void grow() {
    int length = count * 2;
    lane = Arrays.copyOf(lane, length);
    group = Arrays.copyOf(group, length);
    target = Arrays.copyOf(target, length);
    source = Arrays.copyOf(source, length);
    bytes = Arrays.copyOf(bytes, length);
    sourceBytes = Arrays.copyOf(sourceBytes, length);
    pc = Arrays.copyOf(pc, length);
    order = Arrays.copyOf(order, length);
  }

  /** Closes the lanes' current groups. */
  void commit(int mask) {
    for (int m = mask; m != 0; m &= m - 1) {
      committed[Integer.numberOfTrailingZeros(m)]++;
    }
  }

  /** Lands all but the lanes' latest {@code pending} groups. */
  void await(int mask, int pending) {
    land(mask, pending);
  }

  /** Lands everything, committed or not. */
  void finish(int mask) {
    land(mask, -1);
    for (int i = arrivals.size() - 1; i >= 0; i--) {
      if ((mask >>> arrivals.get(i).lane() & 1) != 0) {
        arrive(arrivals.remove(i));
      }
    }
  }

  /** A lane is to arrive at a barrier once its copies so far have landed. */
  void arriveWhenLanded(int laneIndex, Mbarrier barrier) {
    arrivals.add(new Arrival(laneIndex, issued, barrier));
  }

  /** Lands what an arrival waits for, and arrives: at a barrier, or at any if it is null. */
  boolean arriveOne(Mbarrier barrier) {
    for (Iterator<Arrival> all = arrivals.iterator(); all.hasNext(); ) {
      Arrival arrival = all.next();
      if (barrier == null || arrival.barrier() == barrier) {
        all.remove();
        arrive(arrival);
        return true;
      }
    }
    return false;
  }

  private void arrive(Arrival arrival) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (lane[i] == arrival.lane() && order[i] < arrival.before()) {
        warp.lane = lane[i];
        copy(i);
      } else {
        move(i, kept++);
      }
    }
    count = kept;
    arrival.barrier().arrive(warp, 1, false);
  }

  private void land(int mask, int pending) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      int l = lane[i];
      boolean due = (mask >>> l & 1) != 0 && (pending < 0 || group[i] < committed[l] - pending);
      if (due) {
        warp.lane = l;
        copy(i);
      } else {
        move(i, kept++);
      }
    }
    count = kept;
  }

  private void move(int from, int to) {
    if (from != to) {
      lane[to] = lane[from];
      group[to] = group[from];
      target[to] = target[from];
      source[to] = source[from];
      bytes[to] = bytes[from];
      sourceBytes[to] = sourceBytes[from];
      pc[to] = pc[from];
      order[to] = order[from];
    }
  }

  private void copy(int i) {
    SharedMemory shared = warp.block.shared();
    RaceDetector races = shared.races();
    if (races != null) {
      races.land(target[i], bytes[i], warp.actor(lane[i]), pc[i]);
    }
    boolean check = warp.block.launch().options().checkInitialized();
    int from = sourceBytes[i];
    Allocation allocation = null;
    int offset = 0;
    if (from > 0) {
      allocation = warp.block.launch().memory().require(source[i], 1);
      offset = allocation.offset(source[i], from);
    }
    for (int at = 0; at < bytes[i]; at += 4) {
      long value = 0;
      if (at + 4 <= from) {
        value = allocation.load(offset + at, 4, check);
      } else {
        for (int b = at; b < from; b++) {
          value |= allocation.load(offset + b, 1, check) << (8 * (b - at));
        }
      }
      shared.land(target[i] + at, 4, value);
    }
  }
}
