package dev.minifloat.cuda.sim.internal.memory;

import java.util.Arrays;

/**
 * The vector clocks of all warps of a cluster. Every warp has a clock, which each synchronisation
 * moves on, and knows the clocks of the others up to which synchronisation has ordered them before
 * it. The last component is that of the async proxy, as if it were one more warp.
 *
 * <p>They know, too, which writes a {@code fence.proxy.async} has made visible to the async proxy
 * (PTX ISA, "Memory Consistency Model: Proxies"): those that came before the fence of whoever
 * executed it.
 *
 * <p>And of tcgen05 accesses, which a synchronisation orders only between two fences (PTX ISA,
 * "tcgen05.fence"): what came before a warp's last fence::before_thread_sync, and what a warp had
 * seen at its last fence::after_thread_sync.
 */
public final class Clocks {
  private final int warps;
  private final int[][] clocks;

  /** Of each warp, the clock up to which somebody else's fence has covered its writes. */
  private final int[] fenced;

  /** Of each thread, the number of its last fence. */
  private final int[] lastFence;

  private int fences;

  /** Of each warp, what it had seen at its last tcgen05.fence::after_thread_sync. */
  private final int[][] tensorSeen;

  /** Of each warp, how many tcgen05 accesses came before its last fence::before_thread_sync. */
  private final int[] tensorFenced;

  private int tensorAccesses;

  /** The clocks of a cluster with so many warps. */
  public Clocks(int warps) {
    this.warps = warps;
    clocks = new int[warps + 1][warps + 1];
    for (int i = 0; i <= warps; i++) {
      clocks[i][i] = 1;
    }
    fenced = new int[warps + 1];
    lastFence = new int[warps * 32 + 1];
    tensorSeen = new int[warps][warps + 1];
    tensorFenced = new int[warps];
  }

  /** The number that stands for the async proxy among threads. */
  int asyncThread() {
    return warps * 32;
  }

  /** A warp's own clock. */
  int now(int warp) {
    return clocks[warp][warp];
  }

  /** The clock of another warp up to which it is ordered before this one. */
  int seen(int warp, int other) {
    return clocks[warp][other];
  }

  /** The threads of a warp have synchronised with each other. */
  public void warpSynchronized(int warp) {
    clocks[warp][warp]++;
  }

  /** A barrier's arrivals, before anybody has arrived. */
  public int[] joined() {
    return new int[warps + 1];
  }

  /** Adds what a warp has seen to what a barrier hands on. */
  public void arrive(int warp, int[] joined) {
    for (int i = 0; i <= warps; i++) {
      joined[i] = Math.max(joined[i], clocks[warp][i]);
    }
  }

  /** The same for a warp that goes on at once: what it does next comes after the arrival. */
  public void release(int warp, int[] joined) {
    arrive(warp, joined);
    clocks[warp][warp]++;
  }

  /** A warp goes on from a barrier. */
  public void depart(int warp, int[] joined) {
    for (int i = 0; i <= warps; i++) {
      clocks[warp][i] = Math.max(clocks[warp][i], joined[i]);
    }
    clocks[warp][warp]++;
  }

  /**
   * A thread of a warp learns what was released; the warp's other threads have not synchronised.
   */
  void acquire(int warp, int[] joined) {
    for (int i = 0; i <= warps; i++) {
      clocks[warp][i] = i == warp ? clocks[warp][i] : Math.max(clocks[warp][i], joined[i]);
    }
  }

  /** What the async proxy has written so far is handed on. */
  public void releaseAsync(int[] joined) {
    joined[warps] = Math.max(joined[warps], clocks[warps][warps]);
    clocks[warps][warps]++;
  }

  /** A warp learns what the async proxy has handed on. */
  public void observeAsync(int warp, int[] joined) {
    clocks[warp][warps] = Math.max(clocks[warp][warps], joined[warps]);
  }

  /** Lanes of a warp execute {@code fence.proxy.async}. */
  public void fenceProxy(int warp, int lanes) {
    fences++;
    for (int m = lanes; m != 0; m &= m - 1) {
      lastFence[warp * 32 + Integer.numberOfTrailingZeros(m)] = fences;
    }
    for (int i = 0; i <= warps; i++) {
      // Other lanes of the same warp are ordered before only since the warp synchronised last.
      int ordered = i == warp ? clocks[warp][warp] - 1 : clocks[warp][i];
      fenced[i] = Math.max(fenced[i], ordered);
    }
  }

  /** How many fences there were: what a write is stamped with. */
  int fences() {
    return fences;
  }

  /**
   * Whether a thread's write, with its clock and the fences before it, is visible asynchronously.
   */
  boolean isFenced(int thread, int clock, int fencesBefore) {
    return lastFence[thread] > fencesBefore || clock <= fenced[thread >>> 5];
  }

  /** A warp executes {@code tcgen05.fence::before_thread_sync}. */
  public void fenceTensorBefore(int warp) {
    tensorFenced[warp] = tensorAccesses;
  }

  /** A warp executes {@code tcgen05.fence::after_thread_sync}. */
  public void fenceTensorAfter(int warp) {
    System.arraycopy(clocks[warp], 0, tensorSeen[warp], 0, warps + 1);
  }

  /** The number of one more access of Tensor Memory by a warp itself, from 1. */
  int tensorAccess() {
    return ++tensorAccesses;
  }

  /** Whether an access came before its warp's last fence::before_thread_sync. */
  boolean isTensorFenced(int warp, int access) {
    return access <= tensorFenced[warp];
  }

  /** The clock of another warp that this one had seen at its last fence::after_thread_sync. */
  int tensorSeen(int warp, int other) {
    return tensorSeen[warp][other];
  }

  @Override
  public String toString() {
    return Arrays.deepToString(clocks);
  }
}
