package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayDeque;

/** A stream: work in order. */
final class Stream extends Resource {
  /** Which of a context's streams it is. */
  enum Role {
    /**
     * Everything that names no stream goes here; it waits for blocking streams, and they for it.
     */
    LEGACY,
    /** A thread's default stream. */
    PER_THREAD,
    /** Made by the client. */
    CREATED
  }

  final ArrayDeque<Task> pending = new ArrayDeque<>();
  private final Context context;
  private final Role role;
  private final int flags;
  private final int priority;

  /** The capture it takes part in; null if it runs what it is given. */
  Capture capture;

  /** Whether its handle is gone; its work isn't, before somebody waits for it. */
  boolean destroyed;

  Stream(Context context, Role role, int flags, int priority) {
    this.context = context;
    this.role = role;
    this.flags = flags;
    this.priority = priority;
  }

  @Override
  String kind() {
    return "stream";
  }

  @Override
  Context context() {
    return context;
  }

  @Override
  boolean isOwned() {
    return role == Role.CREATED;
  }

  Role role() {
    return role;
  }

  int flags() {
    return flags;
  }

  int priority() {
    return priority;
  }

  /** Whether it keeps order with the legacy default stream. */
  boolean isBlocking() {
    return (flags & 1) == 0;
  }
}
