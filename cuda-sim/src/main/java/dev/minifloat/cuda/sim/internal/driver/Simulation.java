package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.LaunchReport;
import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Everything that one simulated driver knows. */
public final class Simulation {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda.sim");

  /** Reserved stream handles: the default stream as 0 and as 1, a thread's own as 2. */
  private static final long LEGACY = 1;

  private static final long PER_THREAD = 2;

  private final Settings settings;
  private final ReentrantLock lock = new ReentrantLock();
  private final Handles handles = new Handles();
  private final Threads threads = new Threads();
  private final HostMemory hostMemory = new HostMemory(handles);
  private final FaultPlan faults = new FaultPlan();
  private final Accounts accounts = new Accounts(handles);
  private final List<Device> devices = new ArrayList<>();
  private final List<Capture> captures = new ArrayList<>();
  private final Scheduler scheduler;

  /** Threads that are closing it, or wait for the lock to do so. */
  private final AtomicInteger closers = new AtomicInteger();

  private volatile boolean closed;
  private volatile String lastTrap;
  private volatile LaunchReport lastLaunch;
  private boolean initialized;
  private long launches;

  public Simulation(Settings settings) {
    this.settings = settings;
    this.scheduler = new Scheduler(this, lock.newCondition(), settings.seed());
    for (DeviceProperties properties : settings.devices()) {
      devices.add(new Device(devices.size(), properties, handles));
    }
  }

  public FaultPlan faults() {
    return faults;
  }

  /** The text of the last fault on a device; null if there was none. */
  public String lastTrap() {
    return lastTrap;
  }

  /** What the last launch that ended did; null if there was none. */
  public LaunchReport lastLaunch() {
    return lastLaunch;
  }

  /** What is alive that a client made, or died with its context. */
  public List<Accounts.Entry> leaks() {
    lock.lock();
    try {
      return accounts.entries(devices);
    } finally {
      lock.unlock();
    }
  }

  /** Pieces of work that nobody waited for yet. */
  public int pending() {
    lock.lock();
    try {
      return devices.stream()
          .flatMap(device -> device.primary().streams().stream())
          .mapToInt(stream -> stream.pending.size())
          .sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends it: later calls return {@code CUDA_ERROR_DEINITIALIZED}. Work in streams still happens,
   * but a kernel that runs long is stopped, for it might never end.
   */
  public void close() {
    closers.incrementAndGet();
    lock.lock();
    try {
      closed = true;
      for (Device device : devices) {
        if (device.primary().isActive()) {
          destroy(device.primary());
        }
      }
      handles.all().forEach(this::release);
    } finally {
      closers.decrementAndGet();
      lock.unlock();
    }
  }

  /** Whether somebody is about to close it, and kernels should end. */
  boolean isStopping() {
    return closers.get() > 0;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isInitialized() {
    return initialized;
  }

  void initialize() {
    initialized = true;
  }

  Settings settings() {
    return settings;
  }

  ReentrantLock lock() {
    return lock;
  }

  Handles handles() {
    return handles;
  }

  Threads threads() {
    return threads;
  }

  HostMemory hostMemory() {
    return hostMemory;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  List<Device> devices() {
    return devices;
  }

  List<Capture> captures() {
    return captures;
  }

  Device device(int ordinal) {
    if (ordinal < 0 || ordinal >= devices.size()) {
      throw CuResult.INVALID_DEVICE.because("device %d of %d".formatted(ordinal, devices.size()));
    }
    return devices.get(ordinal);
  }

  long nextLaunch() {
    return launches++;
  }

  void launched(LaunchReport report) {
    lastLaunch = report;
    printed(report.output());
  }

  /** Hands on what a kernel's threads printed. */
  void printed(String text) {
    if (!text.isEmpty()) {
      settings.output().accept(text);
    }
  }

  /**
   * Notes why a kernel didn't end well.
   *
   * @param wished whether somebody stopped it
   */
  void trapped(String text, boolean wished) {
    lastTrap = text;
    LOG.atLevel(wished ? Level.INFO : Level.ERROR).log("the device stopped: {}", text);
  }

  /** The calling thread's context, alive and whole. */
  Context current() {
    Context context = currentOrBroken();
    context.requireWhole();
    return context;
  }

  /** The calling thread's context, alive. */
  Context currentOrBroken() {
    Context context = threads.current().contexts.peek();
    if (context == null) {
      throw CuResult.INVALID_CONTEXT.because(
          "no context is current on thread " + Thread.currentThread());
    }
    if (!context.isActive()) {
      throw CuResult.CONTEXT_IS_DESTROYED.because(
          "the current primary context of device "
              + context.device().ordinal()
              + " isn't active: nobody retains it");
    }
    return context;
  }

  /** The stream of a handle. Even one that names a stream needs the thread to have a context. */
  Stream stream(MemorySegment handle) {
    Context context = current();
    long address = handle.address();
    if (address == 0 || address == LEGACY) {
      return context.legacy();
    }
    if (address == PER_THREAD) {
      return context.perThread(threads.current());
    }
    Stream stream = handles.get(handle, Stream.class, "hStream");
    stream.context().requireWhole();
    return stream;
  }

  /** Gives a stream work: to note down, if it is being captured, or else to do. */
  Task submit(Stream stream, Work work) {
    if (stream.capture != null) {
      stream.capture.add(stream, work, handles);
      return null;
    }
    requireNoImplicitCapture(stream);
    return scheduler.enqueue(stream, work);
  }

  /** The legacy stream waits for blocking streams: it can't while one of them is captured. */
  void requireNoImplicitCapture(Stream stream) {
    if (stream.role() != Stream.Role.LEGACY) {
      return;
    }
    for (Stream other : stream.context().streams()) {
      if (other.capture != null && other.isBlocking()) {
        other.capture.invalidate();
        throw CuResult.STREAM_CAPTURE_IMPLICIT.because(
            "the default stream would wait for a stream that is being captured");
      }
    }
  }

  /** Waits for a stream's work. */
  void finish(Stream stream) {
    if (stream.capture != null) {
      stream.capture.invalidate();
      throw CuResult.STREAM_CAPTURE_UNSUPPORTED.because("the stream is being captured");
    }
    requireNoImplicitCapture(stream);
    scheduler.complete(stream);
    stream.context().requireWhole();
  }

  /** Waits for all of a context's work. */
  void finish(Context context) {
    for (Stream stream : context.streams()) {
      if (stream.capture != null) {
        stream.capture.invalidate();
        throw CuResult.STREAM_CAPTURE_UNSUPPORTED.because("a stream is being captured");
      }
    }
    scheduler.complete(context);
    context.requireWhole();
  }

  /**
   * Fails if a call that may make streams wait would harm a capture: one in global mode, wherever
   * it goes on, or one in thread-local mode of this thread (CUDA C++ Programming Guide, "Prohibited
   * and Unhandled Operations").
   */
  void requireNoCapture() {
    Threads.State thread = threads.current();
    for (Capture capture : captures) {
      boolean harms =
          switch (thread.captureMode) {
            case Capture.GLOBAL ->
                capture.mode() == Capture.GLOBAL
                    || (capture.mode() == Capture.THREAD_LOCAL && capture.thread() == thread);
            case Capture.THREAD_LOCAL ->
                capture.mode() != Capture.RELAXED && capture.thread() == thread;
            default -> false;
          };
      if (harms) {
        capture.invalidate();
        throw CuResult.STREAM_CAPTURE_UNSUPPORTED.because(
            "the call might wait for a stream that is being captured");
      }
    }
  }

  /** The device in whose memory an address lies, the given one first; null if there is none. */
  Device holder(long address, Device first) {
    if (covers(first, address)) {
      return first;
    }
    return devices.stream().filter(device -> covers(device, address)).findFirst().orElse(null);
  }

  private static boolean covers(Device device, long address) {
    Allocation allocation = device.memory().at(address);
    return allocation != null && device.memory().contains(address, 1);
  }

  /** Ends a context and all that is in it; what the client should have ended counts as leaked. */
  void destroy(Context context) {
    if (!context.isBroken()) {
      scheduler.complete(context);
    }
    for (Resource resource : handles.of(context)) {
      if (resource.isOwned()) {
        accounts.swept(resource);
      }
      release(resource);
    }
    for (Stream stream : context.streams()) {
      if (stream.capture != null) {
        captures.remove(stream.capture);
        stream.capture.end();
      }
    }
    context.end();
  }

  private void release(Resource resource) {
    switch (resource) {
      case DeviceAllocation allocation -> {
        allocation.device().forget(allocation, handles);
        allocation.release();
      }
      case HostRange range -> hostMemory.release(range);
      case LoadedModule module -> module.unload(handles);
      default -> handles.remove(resource);
    }
  }
}
