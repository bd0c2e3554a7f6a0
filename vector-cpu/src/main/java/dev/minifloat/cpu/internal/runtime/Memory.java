package dev.minifloat.cpu.internal.runtime;

import dev.minifloat.DType;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Native memory that is used again: blocks of a few size classes, 64-byte aligned, their content
 * left as it is. Tensors and the scratch buffers of kernels come from here, so that neither pays
 * for fresh pages on each operation.
 *
 * <p>Any thread may take and return blocks. Free blocks beyond {@code cap} bytes go back to the
 * system, as do all of them on {@link #close}; a block returned after that is freed at once.
 */
public final class Memory implements AutoCloseable {
  /** Alignment of every block, and what is added behind the data of a tensor. */
  public static final long ALIGNMENT = 64;

  /** The smallest size class. */
  private static final long SMALLEST = 1024;

  /** The largest request that sizes are computed for. */
  private static final long LARGEST = 1L << 60;

  private static final long DEFAULT_CAP = 512L << 20;

  private final long cap;

  /**
   * Free blocks, at {@link #indexOf} their size class, null where there never was one; guarded by
   * this, as are the fields below. An array: looking a block up allocates nothing.
   */
  private final List<Deque<Block>> free =
      new ArrayList<>(Collections.nCopies(indexOf(LARGEST) + 1, null));

  private long freeBytes;
  private long usedBytes;
  private boolean closed;

  /** A pool that keeps up to half a gibibyte of free blocks. */
  public Memory() {
    this(DEFAULT_CAP);
  }

  /** A pool that keeps up to {@code cap} bytes of free blocks. */
  public Memory(long cap) {
    this.cap = cap;
  }

  /** A block of native memory; closing it, once, gives it back. */
  public static final class Block implements AutoCloseable {
    private final Memory owner;
    private final Arena arena;
    private final MemorySegment segment;
    private final AtomicBoolean taken = new AtomicBoolean(true);

    @SuppressWarnings("MustBeClosedChecker") // the pool closes the arena
    private Block(Memory owner, long bytes) {
      this.owner = owner;
      this.arena = Arena.ofShared();
      boolean done = false;
      try {
        this.segment = arena.allocate(bytes, ALIGNMENT);
        done = true;
      } finally {
        if (!done) {
          arena.close();
        }
      }
    }

    /** The memory: at least as many bytes as were asked for, uninitialised. */
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void close() {
      if (taken.compareAndSet(true, false)) {
        owner.giveBack(this);
      }
    }
  }

  /**
   * At least {@code bytes} of memory.
   *
   * @throws MinifloatException if the system or the JVM's limit has no more
   */
  public Block take(long bytes) {
    if (bytes > LARGEST) {
      throw refused(bytes, "it is more than any machine has", null);
    }
    long size = sizeClass(bytes);
    synchronized (this) {
      Deque<Block> blocks = free.get(indexOf(size));
      if (blocks != null && !blocks.isEmpty()) {
        freeBytes -= size;
        usedBytes += size;
        Block block = blocks.pop();
        block.taken.set(true);
        return block;
      }
    }
    Block block = fresh(size);
    synchronized (this) {
      usedBytes += size;
    }
    return block;
  }

  private Block fresh(long size) {
    try {
      return new Block(this, size);
    } catch (OutOfMemoryError _) {
      // What is kept for later is given up before a request is refused.
      trim(0);
    }
    try {
      return new Block(this, size);
    } catch (OutOfMemoryError e) {
      throw refused(size, e.getMessage(), e);
    }
  }

  private MinifloatException refused(long bytes, String reason, OutOfMemoryError cause) {
    return new MinifloatException(
        ("Can't allocate %d bytes of native memory with %d in use by tensors: %s;"
                + " close tensors that are done with, or give the process more memory")
            .formatted(bytes, usedBytes(), reason),
        cause);
  }

  /**
   * The size of the block that serves a request: a power of two, or 5/4, 6/4 or 7/4 of one, so that
   * at most a fifth is wasted.
   */
  static long sizeClass(long bytes) {
    if (bytes <= SMALLEST) {
      return SMALLEST;
    }
    long quarter = Long.highestOneBit(bytes - 1) / 4;
    return Math.ceilDiv(bytes, quarter) * quarter;
  }

  /**
   * The position of a size class among all: with 2^e the largest power of two below it, it is 5, 6,
   * 7 or 8 quarters of that, and the classes come in fours.
   */
  private static int indexOf(long size) {
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(size - 1);
    int quarters = (int) (size >> (exponent - 2));
    int smallest = Long.numberOfTrailingZeros(SMALLEST) - 1;
    return 4 * (exponent - smallest) + quarters - 8;
  }

  private void giveBack(Block block) {
    long size = block.segment.byteSize();
    synchronized (this) {
      usedBytes -= size;
      if (!closed) {
        blocksOf(size).push(block);
        freeBytes += size;
        if (freeBytes <= cap) {
          return;
        }
      }
    }
    if (closed()) {
      block.arena.close();
    } else {
      trim(cap);
    }
  }

  private Deque<Block> blocksOf(long size) {
    int index = indexOf(size);
    Deque<Block> blocks = free.get(index);
    if (blocks == null) {
      blocks = new ArrayDeque<>();
      free.set(index, blocks);
    }
    return blocks;
  }

  private synchronized boolean closed() {
    return closed;
  }

  /** Frees blocks, the largest classes first, until {@code keep} bytes are left. */
  private void trim(long keep) {
    Deque<Block> victims = new ArrayDeque<>();
    synchronized (this) {
      for (int i = free.size() - 1; freeBytes > keep; ) {
        Deque<Block> blocks = free.get(i);
        if (blocks == null || blocks.isEmpty()) {
          i--;
        } else {
          Block oldest = blocks.removeLast();
          victims.add(oldest);
          freeBytes -= oldest.segment.byteSize();
        }
      }
    }
    // Closing a shared arena waits for all threads, so no lock is held meanwhile.
    victims.forEach(victim -> victim.arena.close());
  }

  /**
   * Uninitialised memory of a tensor: elements, and its scales behind them, each followed by {@link
   * #ALIGNMENT} bytes that belong to nobody.
   */
  public HostStorage allocate(DType dtype, Shape shape, Scaling scaling) {
    long dataBytes = padded(dtype.byteSize(shape.elements()));
    long scaleBytes = padded(scaling.scaleDType().byteSize(scaling.grid(shape).scales()));
    Block block = take(dataBytes + scaleBytes);
    MemorySegment all = block.segment();
    if (dtype.bits() < 8 && shape.elements() > 0) {
      // Bits behind the last element are zero.
      all.set(ValueLayout.JAVA_BYTE, dtype.byteSize(shape.elements()) - 1, (byte) 0);
    }
    return new HostStorage(
        dtype, shape, scaling, all, all.asSlice(dataBytes, scaleBytes), block::close);
  }

  private long padded(long bytes) {
    if (bytes > LARGEST) {
      throw refused(bytes, "it is more than any machine has", null);
    }
    return (bytes + 2 * ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Bytes of blocks that are taken. */
  public synchronized long usedBytes() {
    return usedBytes;
  }

  /** Bytes of blocks that wait to be used again. */
  public synchronized long freeBytes() {
    return freeBytes;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    trim(0);
  }
}
