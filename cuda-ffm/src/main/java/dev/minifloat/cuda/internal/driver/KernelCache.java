package dev.minifloat.cuda.internal.driver;

import dev.minifloat.MinifloatException;
import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The catalog's kernels in a context. A file is compiled when one of its kernels is first asked
 * for, and a driver's verdict that a file is too new for it is remembered.
 */
public final class KernelCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda");

  /** The version of PTX of CUDA 11.0, the oldest that a {@link Driver} may be of. */
  private static final String KNOWN_TO_ALL = "7.0";

  private final PrimaryContext context;
  private final KernelCatalog catalog;
  private final Map<KernelEntry, Kernel> kernels = new ConcurrentHashMap<>();
  private final ReentrantLock loading = new ReentrantLock();
  private final Map<KernelFile, PtxModule> modules = new HashMap<>();
  private final Map<KernelFile, CudaException> tooNew = new HashMap<>();
  private boolean closed;

  /** Loads nothing yet. */
  public KernelCache(PrimaryContext context, KernelCatalog catalog) {
    this.context = context;
    this.catalog = catalog;
  }

  /** The catalog. */
  public KernelCatalog catalog() {
    return catalog;
  }

  /**
   * Whether the driver knows a kernel's version of PTX; the log says so at DEBUG if it doesn't. A
   * kernel that not every driver knows is compiled to find out.
   *
   * @throws CudaException if compiling it fails for another reason
   */
  public boolean takes(KernelEntry entry) {
    return entry.file().version().equals(KNOWN_TO_ALL) || find(entry) != null;
  }

  /** Entries of the kernels that were asked for and loaded, sorted. */
  public List<String> loaded() {
    return kernels.keySet().stream().map(KernelEntry::entry).distinct().sorted().toList();
  }

  /**
   * A kernel.
   *
   * @throws CudaException if the driver doesn't take it
   */
  public Kernel get(KernelEntry entry) {
    Kernel kernel = find(entry);
    if (kernel == null) {
      throw refused(entry);
    }
    return kernel;
  }

  /** A kernel; null if its file is too new for the driver. */
  private Kernel find(KernelEntry entry) {
    Kernel known = kernels.get(entry);
    return known != null ? known : load(entry);
  }

  private CudaException refused(KernelEntry entry) {
    CudaException reason;
    loading.lock();
    try {
      reason = tooNew.get(entry.file());
    } finally {
      loading.unlock();
    }
    return new CudaException(
        "%s needs a driver that knows PTX %s: install a newer one; %s"
            .formatted(entry.entry(), entry.file().version(), reason.getMessage()),
        reason);
  }

  private Kernel load(KernelEntry entry) {
    loading.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the kernels of " + context + " are closed");
      }
      PtxModule module = module(entry.file());
      if (module == null) {
        return null;
      }
      Kernel kernel = kernels.get(entry);
      if (kernel == null) {
        kernel = module.kernel(entry);
        kernels.put(entry, kernel);
      }
      return kernel;
    } finally {
      loading.unlock();
    }
  }

  private PtxModule module(KernelFile file) {
    if (tooNew.containsKey(file)) {
      return null;
    }
    PtxModule known = modules.get(file);
    if (known != null) {
      return known;
    }
    try {
      PtxModule loaded = PtxModule.load(context, file.path(), catalog.open(file));
      modules.put(file, loaded);
      return loaded;
    } catch (CudaException e) {
      if (e.result() != Cuda.CUDA_ERROR_UNSUPPORTED_PTX_VERSION()) {
        throw e;
      }
      LOG.debug("{} is PTX {}, too new for {}", file.path(), file.version(), context.driver());
      tooNew.put(file, e);
      return null;
    } catch (IOException e) {
      throw new MinifloatException(file.path() + " can't be read from the jar: " + e, e);
    }
  }

  /** Unloads everything; no kernel may run any more. */
  @Override
  public void close() {
    List<AutoCloseable> ending;
    loading.lock();
    try {
      closed = true;
      kernels.clear();
      ending = new ArrayList<>(modules.values());
      modules.clear();
    } finally {
      loading.unlock();
    }
    Closing.all(ending);
  }
}
