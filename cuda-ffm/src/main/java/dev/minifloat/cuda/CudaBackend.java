package dev.minifloat.cuda;

import dev.minifloat.BackendInfo;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.Backends;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cuda.internal.driver.Device;
import dev.minifloat.cuda.internal.driver.Driver;
import dev.minifloat.cuda.internal.driver.DriverUnavailableException;
import dev.minifloat.cuda.internal.driver.Simulator;
import dev.minifloat.cuda.internal.ops.DeviceSession;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A GPU of NVIDIA's, of compute capability 8.0 or newer, through its driver.
 *
 * <p>All operations run on the device, in the order in which they are given, on a stream of the
 * backend's own. They return before they are done; {@code download}, {@code dot}, {@code amax},
 * {@link #synchronize} and operations that check indices wait. What fails on the device surfaces
 * there, as a {@link CudaException} that names the latest kernels.
 *
 * <p>Conversions and quantization have the same bits as {@link dev.minifloat.codec.Codec}; by how
 * much a product's sums may differ from exact ones, the catalog of kernels says for each. The bits
 * of a result depend on its operands and on the kernels that the device has, on nothing else.
 *
 * <p>Views of more than eight dimensions, none of which lies in memory as one with its neighbour,
 * are refused with an {@link dev.minifloat.UnsupportedOpException}.
 */
public final class CudaBackend extends BackendBase {
  /** Its name among the backends; {@code cuda:1} is one on the second device. */
  public static final String NAME = "cuda";

  /** The oldest compute capability that there are kernels for. */
  static final int OLDEST = 80;

  /** What helps if a device is there and can't be opened. */
  static final String REMEDY =
      "see whether nvidia-smi lists the device, and whether other processes have it to themselves"
          + " or all of its memory";

  /** Between a program that opens a backend and its session. */
  private static final Set<Class<?>> MAKERS =
      Set.of(CudaBackend.class, CudaProvider.class, SimulatedCudaProvider.class, Backends.class);

  private final DeviceSession session;

  /**
   * A backend on the first device of this system's driver that there are kernels for.
   *
   * @throws BackendUnavailableException if there is none, with the reason and what helps
   */
  public CudaBackend() {
    this(NAME, Driver::open, CudaBackend::first);
  }

  private CudaBackend(String name, Supplier<Driver> driver, Function<List<Device>, Device> choice) {
    DeviceSession opened = open(Objects.requireNonNull(name, "name"), driver, choice);
    super(name);
    session = opened;
  }

  /**
   * A backend on a device of this system's driver.
   *
   * @param ordinal the device's number, from 0
   * @throws BackendUnavailableException if it can't be used, with the reason and what helps
   * @throws IllegalArgumentException if there is no such device
   */
  public static CudaBackend device(int ordinal) {
    return new CudaBackend(NAME + ":" + ordinal, Driver::open, devices -> at(ordinal, devices));
  }

  /**
   * A backend on a device of another driver. With the artifact minifloat-cuda-sim that may be a
   * simulated one, of which more can be asked and told than of the one that {@link
   * dev.minifloat.Backends#open} makes for the name {@code cuda-sim:sm_89}:
   *
   * <pre>{@code
   * try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_89");
   *     Backend backend = CudaBackend.on("sim", driver.lookup(), 0)) {
   *   …
   * }
   * }</pre>
   *
   * @param name of the backend
   * @param driver finds the driver's functions by their symbols, as {@code cuMemAlloc_v2}; they
   *     have to stay callable until the backend is closed
   * @param ordinal the device's number, from 0
   * @throws BackendUnavailableException if it can't be used, with the reason and what helps
   * @throws IllegalArgumentException if there is no such device
   */
  public static CudaBackend on(String name, SymbolLookup driver, int ordinal) {
    Objects.requireNonNull(driver, "driver");
    return new CudaBackend(name, () -> Driver.open(driver, name), devices -> at(ordinal, devices));
  }

  /**
   * A backend on a simulated device.
   *
   * @throws BackendUnavailableException if there is no simulator, or no native access
   */
  static CudaBackend simulated(String name, String device) {
    return new CudaBackend(
        name, () -> Simulator.find().open(device, name), devices -> at(0, devices));
  }

  private static DeviceSession open(
      String name, Supplier<Driver> driver, Function<List<Device>, Device> choice) {
    try {
      Device device = choice.apply(driver.get().devices());
      if (!hasKernels(device)) {
        throw unavailable(name, tooOld(device), null);
      }
      return new DeviceSession(device, name, MAKERS);
    } catch (CudaException e) {
      throw unavailable(name, e.getMessage() + "; " + REMEDY, e);
    } catch (DriverUnavailableException e) {
      throw unavailable(name, e.getMessage(), e);
    }
  }

  private static Device at(int ordinal, List<Device> devices) {
    if (ordinal < 0 || ordinal >= devices.size()) {
      throw new IllegalArgumentException(
          "ordinal: there is no device %d; there are %s".formatted(ordinal, devices));
    }
    return devices.get(ordinal);
  }

  /** The first that there are kernels for; the first of all if there are for none. */
  static Device first(List<Device> devices) {
    return devices.stream()
        .filter(CudaBackend::hasKernels)
        .findFirst()
        .orElseGet(devices::getFirst);
  }

  private static BackendUnavailableException unavailable(
      String name, String reason, Throwable cause) {
    BackendUnavailableException unavailable =
        new BackendUnavailableException("Backend " + name + " can't run here: " + reason);
    if (cause != null) {
      unavailable.initCause(cause);
    }
    return unavailable;
  }

  /** Whether there are kernels for a device. */
  static boolean hasKernels(Device device) {
    return device.capability() >= OLDEST;
  }

  /** Why a device that is too old can't be used. */
  static String tooOld(Device device) {
    return "%s has compute capability %d.%d, and the kernels need 8.0"
        .formatted(device.name(), device.capability() / 10, device.capability() % 10);
  }

  /** What people call a device. */
  static String text(Device device) {
    return "%s, sm_%d, %,d MiB"
        .formatted(device.name(), device.capability(), device.memoryBytes() >> 20);
  }

  @Override
  public BackendInfo info() {
    return new BackendInfo(text(session.device()), 0, 1);
  }

  /** What its device and the driver say of themselves. */
  public DeviceFacts facts() {
    return DeviceFacts.of(session.device());
  }

  /**
   * The kernels that this backend has loaded so far, by their entries in the catalog, sorted: those
   * that it ran, and those that it asked a driver about that may be too old for them.
   */
  public List<String> loadedKernels() {
    return session.loadedKernels();
  }

  /**
   * Seconds that the device is busy with what a body asks of this backend, by the device's own
   * clock, which counts half microseconds. Waits for it.
   *
   * @param body calls operations of this backend; what other threads ask of it meanwhile counts too
   * @throws CudaException if something fails on the device
   */
  public double deviceSeconds(Runnable body) {
    super.synchronize();
    return session.seconds(Objects.requireNonNull(body, "body"));
  }

  @Override
  public void synchronize() {
    super.synchronize();
    session.synchronize();
  }

  @Override
  protected Kernels kernels() {
    return session.kernels();
  }

  @Override
  protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
    return session.allocate(dtype, shape, scaling);
  }

  @Override
  protected void upload(HostTensor source, Storage target) {
    session.upload(source, (DeviceStorage) target);
  }

  @Override
  protected HostTensor download(Storage source, Arena arena) {
    return session.download((DeviceStorage) source, arena);
  }

  @Override
  protected void shutDown() {
    session.close();
  }
}
