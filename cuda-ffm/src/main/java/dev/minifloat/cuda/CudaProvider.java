package dev.minifloat.cuda;

import dev.minifloat.Backend;
import dev.minifloat.cuda.internal.driver.Device;
import dev.minifloat.cuda.internal.driver.Driver;
import dev.minifloat.cuda.internal.driver.DriverUnavailableException;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;
import java.util.List;

/** Offers {@link CudaBackend} where there is a driver with a device that has kernels. */
public final class CudaProvider implements BackendProvider {
  /** For the service loader. */
  public CudaProvider() {}

  @Override
  public String name() {
    return CudaBackend.NAME;
  }

  @Override
  public String description() {
    return "NVIDIA GPUs of compute capability 8.0 and newer; cuda:1 for the second";
  }

  @Override
  public int priority() {
    return 200;
  }

  @Override
  public Availability availability() {
    List<Device> devices;
    try {
      devices = Driver.open().devices();
    } catch (DriverUnavailableException e) {
      return e.why();
    } catch (CudaException e) {
      return Availability.Unavailable.because(e.getMessage(), CudaBackend.REMEDY);
    }
    Device first = CudaBackend.first(devices);
    return CudaBackend.hasKernels(first)
        ? new Availability.Available(CudaBackend.text(first))
        : Availability.Unavailable.because(
            CudaBackend.tooOld(first), "use a GPU of Ampere's generation or newer");
  }

  @Override
  public Backend create() {
    return new CudaBackend();
  }

  @Override
  public Backend create(String device) {
    try {
      return CudaBackend.device(Integer.parseInt(device));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "name: \"" + device + "\" is no number of a device, as 0 is of the first", e);
    }
  }
}
