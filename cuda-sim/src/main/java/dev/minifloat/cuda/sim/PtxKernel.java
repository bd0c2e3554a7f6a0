package dev.minifloat.cuda.sim;

import dev.minifloat.cuda.sim.internal.exec.Dim3;
import dev.minifloat.cuda.sim.internal.exec.ExecutionOptions;
import dev.minifloat.cuda.sim.internal.exec.Interpreter;
import dev.minifloat.cuda.sim.internal.exec.LaunchFault;
import dev.minifloat.cuda.sim.internal.exec.LinkedModule;
import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.PtxModule;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One kernel of a PTX text that is run by itself, without a driver: to look at it.
 *
 * <pre>{@code
 * PtxKernel kernel = PtxKernel.parse(Files.readString(path), "saxpy");
 * Optional<String> fault =
 *     kernel.run("sm_80", new Place(1, 1, 1), new Place(32, 1, 1), 0,
 *         List.of(PtxKernel.Argument.floating(2), PtxKernel.Argument.buffer(bytes)),
 *         tracer, System.out::print);
 * }</pre>
 */
public final class PtxKernel {
  private static final long MEMORY_BYTES = 1L << 30;

  private final PtxModule module;
  private final PtxFunction function;

  private PtxKernel(PtxModule module, PtxFunction function) {
    this.module = module;
    this.function = function;
  }

  /** What is given for a parameter. */
  public sealed interface Argument {
    /** An integer; a parameter of 4 bytes takes its low half. */
    static Argument integer(long value) {
      return new Whole(value);
    }

    /** A floating point number, rounded to F32 for a parameter of 4 bytes. */
    static Argument floating(double value) {
      return new Floating(value);
    }

    /**
     * The address of a piece of global memory.
     *
     * @param bytes what is in it before the launch, and after it as well: changed in place
     */
    static Argument buffer(byte[] bytes) {
      return new Buffer(bytes);
    }

    /**
     * See {@link #integer}.
     *
     * @param value the number
     */
    record Whole(long value) implements Argument {}

    /**
     * See {@link #floating}.
     *
     * @param value the number
     */
    record Floating(double value) implements Argument {}

    /**
     * See {@link #buffer}.
     *
     * @param bytes the memory
     */
    @SuppressWarnings("ArrayRecordComponent") // shared with whoever gave it, on purpose
    record Buffer(byte[] bytes) implements Argument {}
  }

  /**
   * A kernel of a text.
   *
   * @param entry its name; null for the only one
   * @throws IllegalArgumentException if the text isn't PTX that the simulator runs, with line and
   *     column, or has no such kernel
   */
  public static PtxKernel parse(String ptx, String entry) {
    PtxModule module;
    try {
      module = PtxModule.parse(ptx);
    } catch (PtxException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    List<PtxFunction> kernels =
        module.functions().values().stream()
            .filter(function -> function.entry() && function.isDefined())
            .toList();
    List<String> names = kernels.stream().map(PtxFunction::name).toList();
    if (entry == null && kernels.size() != 1) {
      throw new IllegalArgumentException("entry: say which of the kernels " + names);
    }
    return kernels.stream()
        .filter(kernel -> entry == null || kernel.name().equals(entry))
        .findFirst()
        .map(kernel -> new PtxKernel(module, kernel))
        .orElseThrow(
            () -> new IllegalArgumentException("entry: there is no " + entry + ", but " + names));
  }

  /** Its name. */
  public String name() {
    return function.name();
  }

  /** The names of its parameters. */
  public List<String> parameters() {
    return variables().stream().map(Variable::name).toList();
  }

  private List<Variable> variables() {
    return function.parameters().stream().map(PtxFunction.Parameter::variable).toList();
  }

  /**
   * Runs it to its end.
   *
   * @param device one of {@link SimulatedDriver#kinds}
   * @param grid blocks along each dimension
   * @param block threads along each dimension
   * @param sharedBytes dynamic shared memory of a block
   * @param arguments one for each parameter
   * @param tracer sees its instructions; null for nobody
   * @param output takes what it prints
   * @return what it did wrong, where; empty if it ended well
   * @throws IllegalArgumentException if arguments or sizes don't fit it
   */
  public Optional<String> run(
      String device,
      Place grid,
      Place block,
      int sharedBytes,
      List<Argument> arguments,
      Tracer tracer,
      Consumer<String> output) {
    if (!SimulatedDriver.kinds().contains(device)) {
      throw new IllegalArgumentException(
          "device: there is no simulated device \"%s\"; there are %s"
              .formatted(device, String.join(", ", SimulatedDriver.kinds())));
    }
    GlobalMemory memory = new GlobalMemory(MEMORY_BYTES);
    LinkedModule linked = LinkedModule.link(module, memory);
    List<Allocation> buffers = new ArrayList<>();
    byte[] parameters = parameters(arguments, memory, buffers);
    int architecture = Integer.parseInt(device.replaceAll("\\D", ""));
    Interpreter interpreter =
        new Interpreter(ExecutionOptions.of(architecture), () -> false, tracer);
    try {
      output.accept(
          interpreter
              .launch(linked, name(), dim(grid), dim(block), sharedBytes, parameters, memory)
              .output());
      return Optional.empty();
    } catch (LaunchFault fault) {
      output.accept(fault.output());
      return Optional.of(fault.getMessage());
    } finally {
      giveBack(arguments, memory, buffers);
    }
  }

  private static Dim3 dim(Place place) {
    return new Dim3(place.x(), place.y(), place.z());
  }

  private byte[] parameters(
      List<Argument> arguments, GlobalMemory memory, List<Allocation> buffers) {
    List<Variable> variables = variables();
    if (arguments.size() != variables.size()) {
      throw new IllegalArgumentException(
          "arguments: %s has %d parameters, %s, and %d are given"
              .formatted(name(), variables.size(), parameters(), arguments.size()));
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(function.parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < arguments.size(); i++) {
      int size = Math.toIntExact(variables.get(i).bytes());
      bytes.position(function.parameterOffsets().get(i));
      switch (arguments.get(i)) {
        case Argument.Whole whole -> put(bytes, size, whole.value());
        case Argument.Floating number when size == Float.BYTES ->
            bytes.putFloat((float) number.value());
        case Argument.Floating number when size == Double.BYTES -> bytes.putDouble(number.value());
        case Argument.Buffer buffer when size == Long.BYTES -> {
          Allocation allocation = allocate(buffer, memory);
          buffers.add(allocation);
          bytes.putLong(allocation.base());
        }
        case Argument.Floating _, Argument.Buffer _ ->
            throw new IllegalArgumentException(
                "arguments: parameter %s of %s has %d bytes, which that doesn't fit"
                    .formatted(variables.get(i).name(), name(), size));
      }
    }
    return bytes.array();
  }

  private static void put(ByteBuffer bytes, int size, long value) {
    for (int i = 0; i < size; i++) {
      bytes.put((byte) (i < Long.BYTES ? value >>> (8 * i) : 0));
    }
  }

  private static Allocation allocate(Argument.Buffer buffer, GlobalMemory memory) {
    Allocation allocation = memory.allocate(buffer.bytes().length, "argument");
    if (allocation == null) {
      throw new IllegalArgumentException("arguments: buffers of more than " + MEMORY_BYTES);
    }
    memory.write(allocation.base(), MemorySegment.ofArray(buffer.bytes()));
    return allocation;
  }

  private static void giveBack(
      List<Argument> arguments, GlobalMemory memory, List<Allocation> buffers) {
    int next = 0;
    for (Argument argument : arguments) {
      if (argument instanceof Argument.Buffer buffer) {
        memory.read(buffers.get(next++).base(), MemorySegment.ofArray(buffer.bytes()));
      }
    }
  }
}
