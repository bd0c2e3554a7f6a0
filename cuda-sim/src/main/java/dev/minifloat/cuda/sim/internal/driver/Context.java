package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A device's primary context. Its handle stays the same; what is in it ends with its last user. */
final class Context extends Resource {
  private final Device device;
  private final Handles handles;
  private final Map<Threads.State, Stream> perThread = new HashMap<>();
  private final List<Stream> streams = new ArrayList<>();

  /** CU_LIMIT_MALLOC_HEAP_SIZE. */
  static final int HEAP_LIMIT = 2;

  static final long DEFAULT_HEAP = 8 << 20;

  private final Map<Integer, Long> limits = new HashMap<>();
  private Stream legacy;
  private List<String> retainedAt = List.of();
  private int users;
  private int flags;
  private CuResult broken;
  private String trap;

  Context(Device device, Handles handles) {
    this.device = device;
    this.handles = handles;
  }

  @Override
  String kind() {
    return "context";
  }

  @Override
  Context context() {
    return this;
  }

  /** Counts as leaked while somebody retains it; where that was is known apart. */
  @Override
  boolean isOwned() {
    return false;
  }

  Device device() {
    return device;
  }

  int users() {
    return users;
  }

  List<String> retainedAt() {
    return retainedAt;
  }

  boolean isActive() {
    return users > 0;
  }

  int flags() {
    return flags;
  }

  void flags(int value) {
    flags = value;
  }

  /** Bytes that kernels of a module can have allocated with malloc. */
  long heapBytes() {
    return limits.getOrDefault(HEAP_LIMIT, DEFAULT_HEAP);
  }

  Map<Integer, Long> limits() {
    return limits;
  }

  void retain() {
    if (users++ == 0) {
      legacy = new Stream(this, Stream.Role.LEGACY, 0, 0);
      streams.add(legacy);
    }
    retainedAt = Origin.here();
  }

  /** Lets go once; whether that was the last one. */
  boolean release() {
    return --users == 0;
  }

  /** Ends what is left in it, when all its work is done. */
  void end() {
    users = 0;
    streams.clear();
    perThread.clear();
    limits.clear();
    legacy = null;
  }

  Stream legacy() {
    return legacy;
  }

  /** The default stream of a thread of the operating system. */
  Stream perThread(Threads.State thread) {
    return perThread.computeIfAbsent(
        thread,
        _ -> {
          Stream stream = new Stream(this, Stream.Role.PER_THREAD, 0, 0);
          streams.add(stream);
          return stream;
        });
  }

  /** Streams that may hold work, destroyed ones with work left among them. */
  List<Stream> streams() {
    return streams;
  }

  Stream create(int streamFlags, int priority) {
    Stream stream = handles.add(new Stream(this, Stream.Role.CREATED, streamFlags, priority));
    streams.add(stream);
    return stream;
  }

  /** Takes a stream's handle away. The stream itself stays until its work is done. */
  void destroy(Stream stream) {
    handles.remove(stream);
    stream.destroyed = true;
    forgetIfDrained(stream);
  }

  void forgetIfDrained(Stream stream) {
    if (stream.destroyed && stream.pending.isEmpty()) {
      streams.remove(stream);
    }
  }

  /** Applies release thresholds: somebody synchronised. */
  void releasePools() {
    device.pools().forEach(Pool::releaseOverThreshold);
  }

  /** Makes every later call fail: what a kernel did can't be undone. */
  void breakWith(CuResult result, String text) {
    if (broken == null) {
      broken = result;
      trap = text;
    }
  }

  boolean isBroken() {
    return broken != null;
  }

  /** Fails if a kernel broke the context before. */
  void requireWhole() {
    if (broken != null) {
      throw broken.because("the context is unusable since " + trap);
    }
  }
}
