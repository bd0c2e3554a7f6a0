package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which calls are to fail, and which were made. */
public final class FaultPlan {
  private record Key(String function, long number) {}

  private final Map<Key, Integer> planned = new HashMap<>();
  private final Map<String, Long> counts = new HashMap<>();
  private final List<String> calls = new ArrayList<>();
  private boolean recording;

  /** The number-th call of a function from now on, or of any if it is empty, returns a result. */
  public synchronized void plan(String function, long number, int result) {
    if (number <= 0) {
      throw new IllegalArgumentException("calls are counted from 1, not " + number);
    }
    planned.put(new Key(function, counts.getOrDefault(function, 0L) + number), result);
  }

  public synchronized void record(boolean value) {
    recording = value;
    calls.clear();
  }

  /** The functions called since recording began. */
  public synchronized List<String> calls() {
    return List.copyOf(calls);
  }

  public synchronized long count(String function) {
    return counts.getOrDefault(function, 0L);
  }

  /** Forgets what was planned. */
  public synchronized void clear() {
    planned.clear();
  }

  /** Counts a call; what it is to return instead, 0 if nothing. */
  synchronized int next(String function) {
    long any = counts.merge("", 1L, Long::sum);
    long own = counts.merge(function, 1L, Long::sum);
    if (recording) {
      calls.add(function);
    }
    Integer byName = planned.remove(new Key(function, own));
    Integer byNumber = planned.remove(new Key("", any));
    return byName != null ? byName : byNumber != null ? byNumber : 0;
  }
}
