package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Copies between a stream's device and any memory of the host, through page-locked buffers. An
 * upload returns when the source was read, and waits for the device only if that is a whole ring of
 * buffers behind; a download copies one buffer out while the device fills the next.
 */
public final class Transfers implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int UPLOAD_BUFFERS = 4;
  private static final int DOWNLOAD_BUFFERS = 2;

  /** Pieces of a buffer begin at multiples of so many bytes. */
  private static final int ALIGNMENT = 64;

  private final Stream stream;
  private final int bufferBytes;
  private final ReentrantLock uploading = new ReentrantLock();
  private final ReentrantLock downloading = new ReentrantLock();
  private final Deque<Buffer> ring = new ArrayDeque<>();
  private final List<Buffer> downloads = new ArrayList<>();
  private boolean closed;

  /** Copies in a stream. Buffers are allocated when first needed. */
  public Transfers(Stream stream) {
    this(stream, BUFFER_BYTES);
  }

  Transfers(Stream stream, int bufferBytes) {
    this.stream = stream;
    this.bufferBytes = bufferBytes;
  }

  /** A page-locked buffer, and when the device is done with it. */
  private static final class Buffer implements AutoCloseable {
    private final PinnedMemory memory;
    private final Event done;
    private final PrimaryContext context;
    private long used;
    private long moved;

    /** Whether {@link #done} comes after all copies that use it: not if something failed. */
    private boolean recorded = true;

    Buffer(PrimaryContext context, int bytes) {
      this.context = context;
      this.memory = PinnedMemory.allocate(context, bytes);
      try {
        this.done = Event.untimed(context);
      } catch (RuntimeException e) {
        Closing.because(e, memory);
        throw e;
      }
    }

    void copied(Stream stream) {
      stream.record(done);
      recorded = true;
    }

    void await(Stream stream) {
      if (recorded) {
        stream.await(done);
      } else {
        stream.synchronize();
      }
    }

    /** The device may still use it. */
    private void drain() {
      if (context.broken() != null) {
        return;
      }
      try {
        if (recorded) {
          done.synchronize();
        } else {
          context.synchronize();
        }
      } catch (CudaException e) {
        // A driver that shut down copies nothing any more.
        if (!context.driverHasEnded()) {
          throw e;
        }
      }
    }

    @Override
    public void close() {
      Closing.all(List.of(this::drain, memory, done));
    }
  }

  /**
   * Copies to the device.
   *
   * @param source read when this returns; heap memory, mapped memory, of any size
   */
  public void upload(MemorySegment source, DeviceMemory target, long offset) {
    target.requireRange(offset, source.byteSize());
    uploading.lock();
    try {
      requireOpen();
      long at = 0;
      while (at < source.byteSize()) {
        Buffer buffer = current();
        long bytes = Math.min(source.byteSize() - at, bufferBytes - buffer.used);
        MemorySegment piece = buffer.memory.segment().asSlice(buffer.used, bytes);
        piece.copyFrom(source.asSlice(at, bytes));
        buffer.used = Math.min(bufferBytes, roundUp(buffer.used + bytes));
        buffer.recorded = false;
        stream.copyToDevice(piece, target, offset + at);
        buffer.copied(stream);
        at += bytes;
      }
    } finally {
      uploading.unlock();
    }
  }

  private static long roundUp(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  /** The buffer that uploads fill at the moment, the ring's last; it has room. */
  private Buffer current() {
    Buffer last = ring.peekLast();
    if (last != null && last.used < bufferBytes) {
      return last;
    }
    if (ring.size() < UPLOAD_BUFFERS) {
      ring.addLast(new Buffer(stream.context(), bufferBytes));
    } else {
      Buffer oldest = ring.peekFirst();
      oldest.await(stream);
      oldest.used = 0;
      ring.addLast(ring.removeFirst());
    }
    return ring.peekLast();
  }

  /** Copies from the device; waits, and returns when {@code target} has the bytes. */
  public void download(DeviceMemory source, long offset, MemorySegment target) {
    source.requireRange(offset, target.byteSize());
    downloading.lock();
    try {
      requireOpen();
      while (downloads.size() < DOWNLOAD_BUFFERS) {
        downloads.add(new Buffer(stream.context(), bufferBytes));
      }
      long asked = 0;
      long got = 0;
      while (got < target.byteSize()) {
        while (asked < target.byteSize() && asked < got + (long) DOWNLOAD_BUFFERS * bufferBytes) {
          Buffer buffer = buffer(asked);
          buffer.moved = Math.min(target.byteSize() - asked, bufferBytes);
          buffer.recorded = false;
          stream.copyToHost(
              source, offset + asked, buffer.memory.segment().asSlice(0, buffer.moved));
          buffer.copied(stream);
          asked += buffer.moved;
        }
        Buffer buffer = buffer(got);
        buffer.await(stream);
        target
            .asSlice(got, buffer.moved)
            .copyFrom(buffer.memory.segment().asSlice(0, buffer.moved));
        got += buffer.moved;
      }
    } finally {
      downloading.unlock();
    }
  }

  private Buffer buffer(long at) {
    return downloads.get((int) (at / bufferBytes % DOWNLOAD_BUFFERS));
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("transfers in the " + stream + " are closed");
    }
  }

  /** Frees the buffers, after waiting for copies that use them. */
  @Override
  public void close() {
    List<Buffer> all = new ArrayList<>();
    uploading.lock();
    downloading.lock();
    try {
      closed = true;
      all.addAll(ring);
      all.addAll(downloads);
      ring.clear();
      downloads.clear();
    } finally {
      downloading.unlock();
      uploading.unlock();
    }
    Closing.all(all);
  }
}
