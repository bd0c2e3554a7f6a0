package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.LinkedModule;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.PtxModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes modules of PTX texts. */
final class ModuleLoader {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda.sim");

  private static final int ELF = 0x464C_457F;
  private static final int FAT_BINARY = 0xBA55_ED50;
  private static final int FAT_BINARY_WRAPPER = 0x4662_43B1;

  private final Simulation simulation;

  ModuleLoader(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Loads an image for a client. */
  LoadedModule load(Context context, MemorySegment image, JitOptions options) {
    String text = explained(options, () -> text(image));
    return load(context, text, options, true);
  }

  /**
   * Loads a text.
   *
   * @param owned whether it is the client who has to unload it
   */
  LoadedModule load(Context context, String text, JitOptions options, boolean owned) {
    return explained(
        options,
        () -> {
          requireVersion(text);
          requireTarget(text, context.device().properties());
          PtxModule module = PtxModule.parse(text);
          LinkedModule linked = LinkedModule.link(module, context.device().memory());
          options.info(
              "loaded %d functions for %s"
                  .formatted(module.functions().size(), context.device().properties().name()));
          return simulation.handles().add(new LoadedModule(context, linked, owned));
        });
  }

  /** Makes a library of an image; contexts load it later. */
  Library library(MemorySegment image, JitOptions options) {
    return explained(
        options,
        () -> {
          String text = text(image);
          requireVersion(text);
          List<String> kernels =
              PtxModule.parse(text).functions().values().stream()
                  .filter(function -> function.entry() && function.isDefined())
                  .map(PtxFunction::name)
                  .toList();
          return new Library(text, kernels);
        });
  }

  /** Says in the client's log why a module is refused. */
  private static <T> T explained(JitOptions options, Supplier<T> loading) {
    try {
      return loading.get();
    } catch (PtxException e) {
      options.error("ptxas error   : " + e.getMessage());
      LOG.warn("PTX was refused: {}", e.getMessage());
      throw CuResult.INVALID_PTX.because(e.getMessage());
    } catch (DeviceFault e) {
      options.error(e.getMessage());
      throw CuResult.OUT_OF_MEMORY.because(e.getMessage());
    } catch (CudaFailure e) {
      options.error("ptxas fatal   : " + e.getMessage());
      throw e;
    }
  }

  private static String text(MemorySegment image) {
    int magic = Native.getInt(image, 0, "image");
    if (magic == ELF || magic == FAT_BINARY || magic == FAT_BINARY_WRAPPER) {
      throw CuResult.NO_BINARY_FOR_GPU.because(
          "the image is machine code; the simulator runs PTX texts");
    }
    MemorySegment bytes = image.reinterpret(Integer.MAX_VALUE);
    return bytes.getString(0, StandardCharsets.ISO_8859_1);
  }

  private void requireVersion(String text) {
    int version = PtxModule.version(text);
    int newest = simulation.settings().newestPtx();
    if (version > newest) {
      throw CuResult.UNSUPPORTED_PTX_VERSION.because(
          "unsupported .version %d.%d; current version is '%d.%d'"
              .formatted(version / 10, version % 10, newest / 10, newest % 10));
    }
  }

  private static void requireTarget(String text, DeviceProperties device) {
    String target = PtxModule.target(text);
    if (!device.runs(target)) {
      throw CuResult.INVALID_PTX.because(
          "code for .target %s doesn't run on sm_%d".formatted(target, device.architecture()));
    }
  }

  /** Options of {@code cuModuleLoadDataEx}: an array of numbers and one of values. */
  static final class JitOptions {
    private static final int COUNT = 35;
    private static final int WALL_TIME = 2;
    private static final int INFO_BUFFER = 3;
    private static final int INFO_SIZE = 4;
    private static final int ERROR_BUFFER = 5;
    private static final int ERROR_SIZE = 6;

    private final int count;
    private final MemorySegment names;
    private final MemorySegment values;
    private final int[] capacities = new int[ERROR_SIZE + 1];

    JitOptions(int count, MemorySegment names, MemorySegment values) {
      this.count = count;
      this.names = names;
      this.values = values;
      if (count < 0 || count > 2 * COUNT) {
        throw CuResult.INVALID_VALUE.because(count + " options");
      }
      for (int i = 0; i < count; i++) {
        int name = Native.getInt(names, i, "options");
        Native.getLong(values, i, "optionValues");
        if (name < 0 || name >= COUNT) {
          throw CuResult.INVALID_VALUE.because("there is no option " + name);
        }
      }
      write(INFO_BUFFER, INFO_SIZE, "");
      write(ERROR_BUFFER, ERROR_SIZE, "");
    }

    static JitOptions none() {
      return new JitOptions(0, MemorySegment.NULL, MemorySegment.NULL);
    }

    private int index(int option) {
      for (int i = 0; i < count; i++) {
        if (Native.getInt(names, i, "options") == option) {
          return i;
        }
      }
      return -1;
    }

    void info(String text) {
      int time = index(WALL_TIME);
      if (time >= 0) {
        slot(time).set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 0f);
      }
      write(INFO_BUFFER, INFO_SIZE, text);
    }

    void error(String text) {
      write(ERROR_BUFFER, ERROR_SIZE, text);
    }

    private MemorySegment slot(int index) {
      return Native.at(values, index * 8L + 8, "optionValues").asSlice(index * 8L, 8);
    }

    /** The size is an input in its slot and becomes the number of bytes written. */
    private void write(int bufferOption, int sizeOption, String text) {
      int buffer = index(bufferOption);
      int size = index(sizeOption);
      if (buffer < 0 || size < 0) {
        return;
      }
      if (capacities[sizeOption] == 0) {
        capacities[sizeOption] = slot(size).get(ValueLayout.JAVA_INT_UNALIGNED, 0);
      }
      int capacity = capacities[sizeOption];
      long address = slot(buffer).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      if (capacity > 0 && address != 0) {
        Native.putString(MemorySegment.ofAddress(address), capacity, text, "log buffer");
        int written = Math.min(text.length(), capacity - 1);
        slot(size).set(ValueLayout.JAVA_INT_UNALIGNED, 0, written);
      }
    }
  }
}
