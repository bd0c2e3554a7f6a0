package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.util.HashMap;
import java.util.Map;

/** What all blocks of a launch share. */
final class Launch {
  /** A kernel that prints more is believed to do so for ever. */
  private static final int MOST_OUTPUT = 1 << 26;

  private final LinkedModule module;
  private final Code entry;
  private final ExecutionOptions options;
  private final Dim3 grid;
  private final Dim3 block;
  private final Dim3 clusterSize;
  private final int dynamicBytes;
  private final byte[] parameters;
  private final GlobalMemory memory;
  private final long workspace;
  private final SharedLayout layout;
  private final Counters counters = new Counters();
  private final StringBuilder output = new StringBuilder();
  private final MmaOp.Scratch mmaScratch = new MmaOp.Scratch();
  private WgmmaProduct wgmmaProduct;
  private TensorProduct tensorProduct;
  private final Map<String, CodeInstance> instances = new HashMap<>();
  private final LaunchView view;
  private Tracer tracer;

  Launch(
      LinkedModule module,
      Code entry,
      ExecutionOptions options,
      Dim3 grid,
      Dim3 block,
      Dim3 clusterSize,
      int dynamicBytes,
      byte[] parameters,
      GlobalMemory memory,
      long workspace) {
    this.module = module;
    this.entry = entry;
    this.options = options;
    this.grid = grid;
    this.block = block;
    this.clusterSize = clusterSize;
    this.dynamicBytes = dynamicBytes;
    this.parameters = parameters;
    this.memory = memory;
    this.workspace = workspace;
    this.layout = module.sharedLayout(entry);
    this.view = new LaunchView(this, entry.function());
  }

  /** Lets a tracer see its instructions, if it wants to. */
  void offer(Tracer wanted) {
    tracer = wanted.begins(view) ? wanted : null;
  }

  /** Who sees its instructions; null for nobody. */
  Tracer tracer() {
    return tracer;
  }

  LaunchView view() {
    return view;
  }

  LinkedModule module() {
    return module;
  }

  ExecutionOptions options() {
    return options;
  }

  Op[] ops() {
    return module.ops();
  }

  Dim3 grid() {
    return grid;
  }

  /** A cluster's size in blocks. */
  Dim3 clusterSize() {
    return clusterSize;
  }

  /** The grid's size in clusters. */
  Dim3 clusters() {
    return new Dim3(
        grid.x() / clusterSize.x(), grid.y() / clusterSize.y(), grid.z() / clusterSize.z());
  }

  Dim3 blockSize() {
    return block;
  }

  GlobalMemory memory() {
    return memory;
  }

  byte[] parameters() {
    return parameters;
  }

  Counters counters() {
    return counters;
  }

  DeviceHeap heap() {
    return module.heap();
  }

  /** What was printed so far. */
  String output() {
    return output.toString();
  }

  /** Takes what a thread prints. */
  void print(String text) {
    output.append(text);
    if (output.length() > MOST_OUTPUT) {
      throw new DeviceFault(
          DeviceFault.Kind.LIMIT,
          "the kernel has printed more than " + MOST_OUTPUT + " characters");
    }
  }

  String kernel() {
    return entry.function().name();
  }

  MmaOp.Scratch mmaScratch() {
    return mmaScratch;
  }

  /** What multiplies for warpgroups. */
  WgmmaProduct wgmmaProduct() {
    if (wgmmaProduct == null) {
      wgmmaProduct = new WgmmaProduct(options);
    }
    return wgmmaProduct;
  }

  TensorProduct tensorProduct() {
    if (tensorProduct == null) {
      tensorProduct = new TensorProduct(options);
    }
    return tensorProduct;
  }

  CodeInstance entry() {
    return instance(entry);
  }

  private CodeInstance instance(Code code) {
    return function(code.function().name());
  }

  /** A function of the module, as this launch calls it. */
  CodeInstance function(String name) {
    CodeInstance known = instances.get(name);
    if (known == null) {
      known = new CodeInstance(module.code(name), this);
      instances.put(name, known);
    }
    return known;
  }

  int sharedBytes() {
    return dynamicBytes == 0 ? layout.staticBytes() : layout.dynamicStart() + dynamicBytes;
  }

  /** Where the system's part of a block's shared memory begins, if the kernel asks for it. */
  int reservedStart() {
    return layout.reservedStart(sharedBytes());
  }

  long sharedOffset(Variable variable) {
    return layout.offset(variable);
  }

  String describe(int pc) {
    Instruction instruction = ops()[pc].instruction();
    return "line " + instruction.position().line() + " (" + instruction.text() + ")";
  }

  /** The value of a special register that doesn't change while a thread runs. */
  long special(SpecialRegister register, Block where, int warpIndex, int lane) {
    long thread = warpIndex * 32L + lane;
    return switch (register) {
      case TID_X -> block.place(thread).x();
      case TID_Y -> block.place(thread).y();
      case TID_Z -> block.place(thread).z();
      case NTID_X -> block.x();
      case NTID_Y -> block.y();
      case NTID_Z -> block.z();
      case CTAID_X -> where.place().x();
      case CTAID_Y -> where.place().y();
      case CTAID_Z -> where.place().z();
      case NCTAID_X -> grid.x();
      case NCTAID_Y -> grid.y();
      case NCTAID_Z -> grid.z();
      case CLUSTERID_X -> where.cluster().place().x();
      case CLUSTERID_Y -> where.cluster().place().y();
      case CLUSTERID_Z -> where.cluster().place().z();
      case NCLUSTERID_X -> clusters().x();
      case NCLUSTERID_Y -> clusters().y();
      case NCLUSTERID_Z -> clusters().z();
      case CLUSTER_CTAID_X -> where.place().x() % clusterSize.x();
      case CLUSTER_CTAID_Y -> where.place().y() % clusterSize.y();
      case CLUSTER_CTAID_Z -> where.place().z() % clusterSize.z();
      case CLUSTER_NCTAID_X -> clusterSize.x();
      case CLUSTER_NCTAID_Y -> clusterSize.y();
      case CLUSTER_NCTAID_Z -> clusterSize.z();
      case CLUSTER_CTARANK -> where.rank();
      case CLUSTER_NCTARANK -> clusterSize.count();
      case LANEID -> lane;
      case WARPID -> warpIndex;
      case NWARPID -> (block.count() + 31) / 32;
      case SMID -> where.index() % options.multiprocessors();
      case NSMID -> options.multiprocessors();
      case GRIDID -> 0;
      case LANEMASK_EQ -> 1L << lane;
      case LANEMASK_LT -> (1L << lane) - 1;
      case LANEMASK_LE -> (2L << lane) - 1;
      case LANEMASK_GE -> 0xFFFF_FFFFL & -(1L << lane);
      case LANEMASK_GT -> 0xFFFF_FFFFL & -(2L << lane);
      case DYNAMIC_SMEM_SIZE -> dynamicBytes;
      case TOTAL_SMEM_SIZE -> sharedBytes();
      case RESERVED_SMEM_OFFSET_1 -> reservedStart();
      case ENVREG1 -> workspace >>> 32;
      case ENVREG2 -> workspace & 0xFFFF_FFFFL;
      case CLOCK, CLOCK_HI, CLOCK64, GLOBALTIMER, GLOBALTIMER_LO, GLOBALTIMER_HI ->
          throw new IllegalStateException(register + " changes");
    };
  }
}
