package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that the driver made in a context and that has to be given back: once, and not while a
 * call uses it. An owner that is forgotten without being closed is noticed: the thing is given back
 * all the same, and a warning says so.
 *
 * <pre>
 *   uses:  bit 63     62 … 0
 *          closed     calls that hold it
 * </pre>
 */
final class Handle implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda");

  /** Of all drivers' things. */
  static final Cleaner CLEANER = Cleaner.create();

  private static final long CLOSED = 1L << 63;

  /** Gives a thing back. */
  interface Release {
    /** Calls the driver. */
    void run(PrimaryContext context, Handle handle);
  }

  private final PrimaryContext context;
  private final String kind;
  private final long address;
  private final Release release;
  private final AtomicLong uses = new AtomicLong();

  private Handle(PrimaryContext context, String kind, long address, Release release) {
    this.context = context;
    this.kind = kind;
    this.address = address;
    this.release = release;
  }

  /** Which parameter of a function says where the handle goes. */
  enum Made {
    /** The first, as nearly everywhere. */
    FIRST,
    /** The last, as in {@code cuStreamEndCapture}. */
    LAST
  }

  /** Has the driver make something: its first parameter is where the handle goes. */
  static Handle create(
      PrimaryContext context,
      String kind,
      DriverFunction destroy,
      DriverFunction create,
      Object... arguments) {
    return create(context, kind, Made.FIRST, destroy, create, arguments);
  }

  /** Has the driver make something: one parameter is where the handle goes. */
  static Handle create(
      PrimaryContext context,
      String kind,
      Made made,
      DriverFunction destroy,
      DriverFunction create,
      Object... arguments) {
    return create(
        context,
        kind,
        made,
        (with, handle) -> with.giveBack(destroy, handle.address()),
        create,
        arguments);
  }

  /** Has the driver make something that takes more than one call to give back. */
  static Handle create(
      PrimaryContext context,
      String kind,
      Made made,
      Release release,
      DriverFunction create,
      Object... arguments) {
    context.addChild();
    Handle handle = null;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      List<Object> all = new ArrayList<>(Arrays.asList(arguments));
      all.add(made == Made.FIRST ? 0 : arguments.length, out);
      try {
        context.call(create, all.toArray());
      } finally {
        // Even if the call fails: it may have worked, and what came after it failed.
        long address = out.get(ValueLayout.JAVA_LONG, 0);
        handle = address == 0 ? null : new Handle(context, kind, address, release);
      }
      if (handle == null) {
        throw new CudaException(
            create.symbol() + " of " + context.driver() + " succeeded and made nothing",
            create.symbol(),
            Driver.SUCCESS,
            "CUDA_SUCCESS");
      }
      return handle;
    } catch (RuntimeException e) {
      if (handle == null) {
        context.removeChild();
      } else {
        Closing.because(e, handle);
      }
      throw e;
    }
  }

  /** Lets the end of an owner be the end of this. */
  Cleaner.Cleanable watch(Object owner) {
    return CLEANER.register(owner, this::abandoned);
  }

  /** The handle as a number; device memory's address. */
  long address() {
    return address;
  }

  /** The handle as a pointer. */
  MemorySegment pointer() {
    return MemorySegment.ofAddress(address);
  }

  /**
   * Keeps it from being given back until {@link #release}.
   *
   * @throws IllegalStateException if it is closed
   */
  void hold() {
    while (true) {
      long before = uses.get();
      if (before < 0) {
        throw new IllegalStateException("the " + kind + " is closed");
      }
      if (uses.compareAndSet(before, before + 1)) {
        return;
      }
    }
  }

  /** Ends what {@link #hold} began. */
  void release() {
    if (uses.decrementAndGet() == CLOSED) {
      end();
    }
  }

  boolean isClosed() {
    return uses.get() < 0;
  }

  /** Gives it back, now or when the last call that uses it ends. */
  @Override
  public void close() {
    long before = uses.getAndUpdate(now -> now | CLOSED);
    if (before == 0) {
      end();
    }
  }

  private void end() {
    try {
      release.run(context, this);
    } finally {
      context.removeChild();
    }
  }

  private void abandoned() {
    if (isClosed()) {
      return;
    }
    LOG.warn("The {} was never closed; it is given back now that nobody can use it", this);
    try {
      close();
    } catch (RuntimeException e) {
      LOG.warn("Giving back the {} failed", this, e);
    }
  }

  @Override
  public String toString() {
    return "%s 0x%x".formatted(kind, address);
  }
}
