package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.Register;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs kernels. A block runs until it ends, in an order that the seed decides; one that takes long
 * makes room for others now and then, so that blocks can wait for each other. Launches on different
 * memories may run at once.
 */
public final class Interpreter {
  /** Instructions after which another block has its turn. */
  private static final long BLOCK_SLICE = 1 << 18;

  /** Blocks that have begun and not ended at once. */
  private static final int RESIDENT = 64;

  private static final int MOST_THREADS = 1024;

  /** Warp instructions after which the log says that a launch takes long: seconds to minutes. */
  private static final long LONG = 1L << 29;

  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda.sim");

  private final ExecutionOptions options;
  private final BooleanSupplier stopped;
  private final Tracer tracer;

  /** Launches that nobody can stop. */
  public Interpreter(ExecutionOptions options) {
    this(options, () -> false, null);
  }

  /**
   * Launches that somebody can stop.
   *
   * @param stopped asked now and then; once it holds, a launch that runs ends with a fault
   * @param tracer is told of launches, and sees their instructions if it wants; null for nobody
   */
  public Interpreter(ExecutionOptions options, BooleanSupplier stopped, Tracer tracer) {
    this.options = options;
    this.stopped = stopped;
    this.tracer = tracer;
  }

  /**
   * Runs a kernel to its end.
   *
   * @param parameters its parameters' bytes, each at the offset that its alignment gives it
   * @throws IllegalArgumentException if the kernel doesn't exist, or sizes don't fit it
   * @throws LaunchFault if it does something that it must not
   */
  public LaunchReport launch(
      LinkedModule module,
      String entry,
      Dim3 grid,
      Dim3 block,
      int dynamicSharedBytes,
      byte[] parameters,
      GlobalMemory memory) {
    return launch(module, entry, grid, block, null, dynamicSharedBytes, parameters, memory);
  }

  /**
   * Runs a kernel in clusters.
   *
   * @param cluster a cluster's size in blocks; null for what the kernel itself says
   */
  public LaunchReport launch(
      LinkedModule module,
      String entry,
      Dim3 grid,
      Dim3 block,
      Dim3 cluster,
      int dynamicSharedBytes,
      byte[] parameters,
      GlobalMemory memory) {
    PtxFunction kernel = module.kernel(entry);
    if (kernel == null) {
      throw new IllegalArgumentException("'" + entry + "' is no kernel of the module");
    }
    check(kernel, grid, block, parameters);
    Launch launch =
        new Launch(
            module,
            module.code(entry),
            options,
            grid,
            block,
            ClusterSize.of(kernel, cluster, grid),
            dynamicSharedBytes,
            parameters.clone(),
            memory);
    if (dynamicSharedBytes < 0 || launch.sharedBytes() > options.sharedBytes()) {
      throw new IllegalArgumentException(
          "kernel '%s' would have %d bytes of shared memory; a block can have %d"
              .formatted(entry, launch.sharedBytes(), options.sharedBytes()));
    }
    if (tracer != null) {
      launch.offer(tracer);
    }
    run(launch);
    return new LaunchReport(
        entry, grid, block, launch.sharedBytes(), launch.counters(), launch.output());
  }

  private static void check(PtxFunction kernel, Dim3 grid, Dim3 block, byte[] parameters) {
    boolean gridFits =
        grid.x() > 0 && grid.y() > 0 && grid.z() > 0 && grid.y() < 65536 && grid.z() < 65536;
    boolean blockFits =
        block.x() > 0
            && block.y() > 0
            && block.z() > 0
            && block.x() <= MOST_THREADS
            && block.y() <= MOST_THREADS
            && block.z() <= 64
            && block.count() <= MOST_THREADS;
    if (!gridFits || !blockFits) {
      throw new IllegalArgumentException(
          "kernel '%s' can't have a grid %s of blocks %s".formatted(kernel.name(), grid, block));
    }
    if (parameters.length != kernel.parameterBytes()) {
      throw new IllegalArgumentException(
          "kernel '%s' has %d bytes of parameters; %d were given"
              .formatted(kernel.name(), kernel.parameterBytes(), parameters.length));
    }
    bound(kernel, block, ".maxntid", false);
    bound(kernel, block, ".reqntid", true);
  }

  private static void bound(PtxFunction kernel, Dim3 block, String directive, boolean exact) {
    if (!kernel.directives().containsKey(directive)) {
      return;
    }
    long threads = 1;
    for (int size : kernel.directives().get(directive)) {
      threads *= size;
    }
    if (block.count() > threads || (exact && block.count() != threads)) {
      throw new IllegalArgumentException(
          "kernel '%s' says %s %d; a block of %d threads was asked for"
              .formatted(kernel.name(), directive, threads, block.count()));
    }
  }

  private void run(Launch launch) {
    SplittableRandom random = new SplittableRandom(options.seed());
    long count = launch.clusters().count();
    long resident = Math.max(1, RESIDENT / launch.clusterSize().count());
    BlockOrder order = new BlockOrder(count, random);
    ArrayDeque<Cluster> suspended = new ArrayDeque<>();
    List<Cluster> ended = new ArrayList<>();
    long started = 0;
    long mention = LONG;
    while (started < count || !suspended.isEmpty()) {
      boolean startsNew = started < count && suspended.size() < resident;
      Cluster cluster = startsNew ? new Cluster(launch, order.block(started++)) : suspended.poll();
      try {
        cluster.run(BLOCK_SLICE, random);
      } catch (DeviceFault fault) {
        throw describe(launch, cluster.current(), fault);
      }
      if (launch.counters().instructions() > options.maxInstructions()) {
        throw describe(
            launch,
            cluster.current(),
            new DeviceFault(
                DeviceFault.Kind.LIMIT,
                "the launch has run " + options.maxInstructions() + " instructions and not ended"));
      }
      if (stopped.getAsBoolean()) {
        throw describe(
            launch,
            cluster.current(),
            new DeviceFault(DeviceFault.Kind.STOPPED, "the driver was closed while it ran"));
      }
      if (launch.counters().instructions() > mention) {
        LOG.warn(
            "kernel '{}' has run {} instructions and not ended; block {} is at PTX {}. Closing the"
                + " driver ends it; a limit can be set when the driver is made",
            launch.kernel(),
            launch.counters().instructions(),
            cluster.current().place(),
            launch.describe(cluster.current().current().pc));
        mention *= 4;
      }
      if (!cluster.isDone()) {
        suspended.add(cluster);
      } else if (cluster.copies().hasUnfinished()) {
        ended.add(cluster);
      }
    }
    for (Cluster cluster : ended) {
      try {
        cluster.copies().finish();
      } catch (DeviceFault fault) {
        throw describe(launch, cluster.current(), fault);
      }
    }
  }

  private static LaunchFault describe(Launch launch, Block block, DeviceFault fault) {
    Warp warp = block.current();
    Dim3 thread = launch.blockSize().place(warp.thread(warp.lane));
    StringBuilder text =
        new StringBuilder("kernel '%s', block %s".formatted(launch.kernel(), block.place()));
    if (fault.kind() == DeviceFault.Kind.DEADLOCK) {
      text.append(": ").append(fault.getMessage());
      return new LaunchFault(
          fault.kind(),
          launch.kernel(),
          block.place(),
          null,
          null,
          launch.output(),
          text.toString(),
          fault);
    }
    Instruction instruction = launch.ops()[warp.pc].instruction();
    text.append(
        ", thread %s (warp %d, lane %d), PTX line %d, column %d, '%s': %s"
            .formatted(
                thread,
                warp.index,
                warp.lane,
                instruction.position().line(),
                instruction.position().column(),
                instruction.text(),
                fault.getMessage()));
    Map<String, String> registers = new LinkedHashMap<>();
    for (Operand operand : instruction.operands()) {
      note(operand, warp, registers);
    }
    if (!registers.isEmpty()) {
      text.append("; registers:");
      registers.forEach((name, value) -> text.append(' ').append(name).append(" = ").append(value));
    }
    return new LaunchFault(
        fault.kind(),
        launch.kernel(),
        block.place(),
        thread,
        instruction.position(),
        launch.output(),
        text.toString(),
        fault);
  }

  private static void note(Operand operand, Warp warp, Map<String, String> registers) {
    switch (operand) {
      case null -> {}
      case Operand.Reg reg -> note(reg.register(), warp, registers);
      case Operand.Address address -> note(address.base(), warp, registers);
      case Operand.Vector vector ->
          vector.elements().forEach(element -> note(element, warp, registers));
      case Operand.Pair pair -> {
        note(pair.first(), warp, registers);
        note(pair.second(), warp, registers);
      }
      case Operand.Special _,
          Operand.Immediate _,
          Operand.Symbol _,
          Operand.FunctionName _,
          Operand.Prototype _,
          Operand.Arguments _,
          Operand.Label _,
          Operand.Sink _ -> {}
    }
  }

  private static void note(Register register, Warp warp, Map<String, String> registers) {
    if (warp.frame == null) {
      return;
    }
    if (register.isPredicate()) {
      int bit = warp.frame.predicates[register.index()] >>> warp.lane & 1;
      registers.put(register.name(), Integer.toString(bit));
    } else {
      long value = warp.frame.registers[register.index() * 32 + warp.lane];
      registers.put(register.name(), "0x" + Long.toHexString(value));
    }
  }
}
