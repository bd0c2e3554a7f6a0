package dev.minifloat.cuda.sim.internal.driver;

import java.util.List;

/** Something that a client made and has to give back. */
abstract class Resource {
  private final List<String> origin = Origin.here();
  private long handle;

  /** What sort of thing it is, for messages and accounts. */
  abstract String kind();

  /** Which one it is, for messages and accounts. */
  String details() {
    return "0x" + Long.toHexString(handle);
  }

  /** The context it ends with; null if it belongs to none. */
  abstract Context context();

  /** Whether it counts as leaked while it lives; a part of something else doesn't. */
  boolean isOwned() {
    return true;
  }

  final List<String> origin() {
    return origin;
  }

  final long handle() {
    return handle;
  }

  final void handle(long value) {
    handle = value;
  }
}
