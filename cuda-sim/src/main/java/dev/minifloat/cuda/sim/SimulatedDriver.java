package dev.minifloat.cuda.sim;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.internal.driver.DeviceProperties;
import dev.minifloat.cuda.sim.internal.driver.Gate;
import dev.minifloat.cuda.sim.internal.driver.Settings;
import dev.minifloat.cuda.sim.internal.driver.Simulation;
import dev.minifloat.cuda.sim.internal.exec.MmaArithmetic;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A CUDA driver without a GPU: its {@link #lookup} answers the names of {@code libcuda.so.1}'s
 * functions with C functions that behave as CUDA 13.0's do, and its devices run PTX in an
 * interpreter.
 *
 * <p>Work runs as late as CUDA allows: a client that forgets to wait sees old data here every time,
 * and not just once a month. What the simulator doesn't do is refused with {@code
 * CUDA_ERROR_NOT_SUPPORTED}. Times of events come from a clock of its own and say nothing about a
 * GPU.
 *
 * <p>A kernel that faults makes its context unusable, as on a GPU; {@link #lastTrap} says what it
 * did, where.
 *
 * <pre>{@code
 * try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_89")) {
 *   MemorySegment cuInit = driver.lookup().findOrThrow("cuInit");
 *   …
 * }
 * }</pre>
 *
 * <p>Any thread may call it. A function looked up stays callable after {@link #close}, and returns
 * {@code CUDA_ERROR_DEINITIALIZED}; addresses that {@code cuGetProcAddress} gave are valid while
 * the driver is reachable.
 */
public final class SimulatedDriver implements AutoCloseable {
  private final Simulation simulation;
  private final Gate gate;

  private SimulatedDriver(Settings settings) {
    this.simulation = new Simulation(settings);
    this.gate = new Gate(simulation);
  }

  /** A driver to be described. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * A driver with devices of the named kinds, all else as {@link #builder} has it.
   *
   * @param devices names such as {@code sim:sm_89}; several are separated by commas
   * @throws IllegalArgumentException if a name is none, or the simulator doesn't know the kind
   * @throws IllegalCallerException if the JVM denies native access
   */
  public static SimulatedDriver of(String devices) {
    Builder builder = builder();
    for (String name : devices.split(",", -1)) {
      builder.device(name);
    }
    return builder.build();
  }

  /**
   * The kinds of devices that can be simulated, by the names that NVIDIA gives them: sm_89. Targets
   * of PTX for one device or a family alone, such as sm_90a, name the device too.
   */
  public static List<String> kinds() {
    return DeviceProperties.kinds();
  }

  /** The driver's functions by their symbols ({@code cuMemAlloc_v2}, not {@code cuMemAlloc}). */
  public SymbolLookup lookup() {
    return gate;
  }

  /** The last fault on a device: kernel, block, thread, PTX line, instruction, registers. */
  public Optional<String> lastTrap() {
    return Optional.ofNullable(simulation.lastTrap());
  }

  /** What the last launch that ended did. */
  public Optional<LaunchStatistics> lastLaunch() {
    return Optional.ofNullable(simulation.lastLaunch()).map(LaunchStatistics::of);
  }

  /** How calls can be made to fail, and which were made. */
  public FaultInjector faults() {
    return new FaultInjector(simulation.faults());
  }

  /**
   * What clients made and didn't give back: retained contexts, streams, events, modules, memory of
   * devices, page-locked memory, pools, graphs. Things that ended with their context, instead of by
   * a call that names them, are among them.
   */
  public List<Leak> leaks() {
    return simulation.leaks().stream().map(Leak::of).toList();
  }

  /** Pieces of work in streams that nobody waited for yet. */
  public int pendingWork() {
    return simulation.pending();
  }

  /**
   * Ends all contexts. Calls that come later return {@code CUDA_ERROR_DEINITIALIZED}. A kernel that
   * runs on, be it that another thread waits for it, is stopped: the way out of one that never
   * ends.
   */
  @Override
  public void close() {
    simulation.close();
  }

  /** Describes a driver. Without a device of its own it gets one of {@code sm_89}. */
  public static final class Builder {
    private static final String PREFIX = "sim:";
    private static final long DEFAULT_MEMORY = 1L << 30;

    private final List<DeviceProperties> devices = new ArrayList<>();
    private boolean noDevices;
    private int driverVersion = 13000;
    private int newestPtx = 90;
    private Arithmetic arithmetic = Arithmetic.EXACT;
    private long seed;
    private boolean detectRaces = true;
    private boolean checkInitialized = true;
    private long maxInstructions = 1L << 40;
    private Consumer<String> output = System.out::print;
    private Tracer tracer;

    private Builder() {}

    private static void requireNativeAccess() {
      try {
        DriverFunction.requireNativeAccess();
        // Restricted as well: this module needs access of its own.
        MemorySegment.NULL.reinterpret(1);
      } catch (IllegalCallerException e) {
        throw new IllegalCallerException(
            "the JVM denies native access: start java with --enable-native-access="
                + "dev.minifloat.bindings,dev.minifloat.cuda,dev.minifloat.cuda.sim, or"
                + " --enable-native-access=ALL-UNNAMED where the jars are on the class path",
            e);
      }
    }

    /** Adds a device with 1 GiB of memory, of a kind such as {@code sim:sm_89}. */
    public Builder device(String name) {
      return device(name, DEFAULT_MEMORY);
    }

    /**
     * Adds a device.
     *
     * @param name one of {@link #kinds()}, which {@code sim:} may precede
     * @param memoryBytes its memory; it comes from Java's heap as it is used
     * @throws IllegalArgumentException if there is no such kind, naming those that there are
     */
    public Builder device(String name, long memoryBytes) {
      String kind = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
      if (!kinds().contains(kind)) {
        throw new IllegalArgumentException(
            "name: there is no simulated device \"%s\"; there are %s"
                .formatted(kind, String.join(", ", kinds())));
      }
      if (memoryBytes <= 0) {
        throw new IllegalArgumentException("a device with " + memoryBytes + " bytes of memory");
      }
      devices.add(DeviceProperties.named(kind, memoryBytes));
      return this;
    }

    /** Makes a driver that finds no device at all. */
    public Builder noDevices() {
      noDevices = true;
      return this;
    }

    /** What {@code cuDriverGetVersion} says; 13000 at first. */
    public Builder driverVersion(int version) {
      driverVersion = version;
      return this;
    }

    /** The highest {@code .version} of PTX that it loads; 9.0 at first. */
    public Builder newestPtx(int major, int minor) {
      newestPtx = major * 10 + minor;
      return this;
    }

    /** How matrix instructions add; exactly at first. */
    public Builder arithmetic(Arithmetic value) {
      arithmetic = Objects.requireNonNull(value);
      return this;
    }

    /** Decides everything whose order CUDA leaves open. */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /** Whether races in shared memory are faults; they are at first. */
    public Builder detectRaces(boolean value) {
      detectRaces = value;
      return this;
    }

    /** Whether reading memory that nobody wrote is a kernel's fault; it is at first. */
    public Builder checkInitialized(boolean value) {
      checkInitialized = value;
      return this;
    }

    /** Warp instructions after which a launch counts as endless. */
    public Builder maxInstructions(long value) {
      maxInstructions = value;
      return this;
    }

    /** Takes what kernels print; standard output does at first. */
    public Builder output(Consumer<String> value) {
      output = Objects.requireNonNull(value);
      return this;
    }

    /** Sees the instructions of the kernels that it chooses; nobody does at first. */
    public Builder tracer(Tracer value) {
      tracer = Objects.requireNonNull(value);
      return this;
    }

    /**
     * The driver.
     *
     * @throws IllegalCallerException if the JVM denies native access, with the flag that grants it
     */
    public SimulatedDriver build() {
      requireNativeAccess();
      List<DeviceProperties> all = devices;
      if (noDevices) {
        all = List.of();
      } else if (devices.isEmpty()) {
        all = List.of(DeviceProperties.of(89, DEFAULT_MEMORY));
      }
      return new SimulatedDriver(
          new Settings(
              all,
              driverVersion,
              newestPtx,
              MmaArithmetic.valueOf(arithmetic.name()),
              seed,
              detectRaces,
              checkInitialized,
              maxInstructions,
              output,
              tracer));
    }
  }
}
