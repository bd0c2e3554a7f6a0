package dev.minifloat.cuda;

import dev.minifloat.BackendInfo;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cuda.internal.driver.Device;
import dev.minifloat.cuda.internal.driver.Driver;
import dev.minifloat.cuda.internal.driver.DriverUnavailableException;
import dev.minifloat.cuda.internal.ops.DeviceSession;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.List;
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
 */
public final class CudaBackend extends BackendBase {
  /** Its name among the backends; {@code cuda:1} is one on the second device. */
  public static final String NAME = "cuda";

  /** The oldest compute capability that there are kernels for. */
  static final int OLDEST = 80;

  private final DeviceSession session;

  /**
   * A backend on the first device of this system's driver.
   *
   * @throws BackendUnavailableException if there is none, with the reason and what helps
   */
  public CudaBackend() {
    this(NAME, Driver::open, 0);
  }

  private CudaBackend(String name, Supplier<Driver> driver, int ordinal) {
    Device device = device(name, driver, ordinal);
    super(name);
    session = new DeviceSession(device);
  }

  /**
   * A backend on a device of this system's driver.
   *
   * @param ordinal the device's number, from 0
   * @throws BackendUnavailableException if it can't be used, with the reason and what helps
   * @throws IllegalArgumentException if there is no such device
   */
  public static CudaBackend device(int ordinal) {
    return new CudaBackend(NAME + ":" + ordinal, Driver::open, ordinal);
  }

  /**
   * A backend on a device of another driver, as a simulated one.
   *
   * @param name of the backend
   * @param driver finds the driver's functions by their symbols, as {@code cuMemAlloc_v2}; they
   *     have to stay callable until the backend is closed
   * @param ordinal the device's number, from 0
   * @throws BackendUnavailableException if it can't be used, with the reason and what helps
   * @throws IllegalArgumentException if there is no such device
   */
  public static CudaBackend on(String name, SymbolLookup driver, int ordinal) {
    return new CudaBackend(name, () -> Driver.open(driver, name), ordinal);
  }

  private static Device device(String name, Supplier<Driver> driver, int ordinal) {
    List<Device> devices;
    try {
      devices = driver.get().devices();
    } catch (DriverUnavailableException e) {
      throw unavailable(name, e.getMessage(), e);
    }
    if (ordinal < 0 || ordinal >= devices.size()) {
      throw new IllegalArgumentException(
          "ordinal: there is no device %d; there are %s".formatted(ordinal, devices));
    }
    Device device = devices.get(ordinal);
    if (device.capability() < OLDEST) {
      throw unavailable(name, tooOld(device), null);
    }
    return device;
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
