package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.ptx.CallPrototype;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.PtxModule;
import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A module in a device's memory: its variables have addresses, its functions are ready to run.
 * Launches share it.
 */
public final class LinkedModule {
  private final PtxModule module;
  private final Map<String, Allocation> variables = new LinkedHashMap<>();
  private final IdentityHashMap<Variable, Long> addresses = new IdentityHashMap<>();
  private final Map<String, Code> codes = new HashMap<>();

  /** Functions whose address is taken somewhere, by their names. */
  private final Map<String, Long> functionAddresses = new LinkedHashMap<>();

  private final DeviceHeap heap;
  private final Op[] ops;
  private final boolean watchesRegisters;

  private LinkedModule(PtxModule module, GlobalMemory memory) {
    this.module = module;
    this.heap = new DeviceHeap(memory);
    try {
      numberFunctions();
      place(memory);
      int count = 0;
      for (PtxFunction function : module.functions().values()) {
        count += function.isDefined() ? function.body().size() + 1 : 0;
      }
      ops = new Op[count];
      decode();
      watchesRegisters =
          Arrays.stream(ops)
              .map(op -> op.instruction().opcode())
              .anyMatch(opcode -> opcode.equals("wgmma") || opcode.equals("tcgen05"));
      checkShared();
    } catch (RuntimeException e) {
      unload(memory);
      throw e;
    }
  }

  /**
   * Places a module's variables and makes its functions ready.
   *
   * @throws PtxException if something is declared but not defined, or a call doesn't fit
   * @throws DeviceFault if the variables don't fit into memory
   */
  public static LinkedModule link(PtxModule module, GlobalMemory memory) {
    return new LinkedModule(module, memory);
  }

  /** Gives the functions addresses of which something asks for one. */
  private void numberFunctions() {
    Set<String> wanted = new LinkedHashSet<>();
    List<Variable> all = new ArrayList<>(module.variables());
    for (PtxFunction function : module.functions().values()) {
      all.addAll(function.variables());
      for (Instruction instruction :
          function.isDefined() ? function.body() : List.<Instruction>of()) {
        for (Operand operand : instruction.operands()) {
          if (operand instanceof Operand.FunctionName name && instruction.opcode().equals("mov")) {
            wanted.add(name.name());
          }
        }
      }
    }
    for (Variable variable : all) {
      variable.references().forEach(reference -> wanted.add(reference.symbol()));
    }
    for (String name : wanted) {
      PtxFunction function = module.functions().get(name);
      if (function != null && function.isDefined() && !function.entry()) {
        functionAddresses.put(name, Addresses.function(functionAddresses.size()));
      }
    }
  }

  private void place(GlobalMemory memory) {
    for (Variable variable : module.variables()) {
      place(variable, memory);
    }
    for (PtxFunction function : module.functions().values()) {
      for (Variable variable : function.variables()) {
        place(variable, memory);
      }
    }
    for (Variable variable : addresses.keySet()) {
      initialise(variable, memory);
    }
  }

  private void place(Variable variable, GlobalMemory memory) {
    if (variable.space() != StateSpace.GLOBAL && variable.space() != StateSpace.CONST) {
      return;
    }
    if (variable.linkage() == Variable.Linkage.EXTERN) {
      throw new PtxException(
          variable.position(),
          "'" + variable.name() + "' is declared .extern; no module defines it");
    }
    boolean constant = variable.space() == StateSpace.CONST;
    String label = (constant ? "constant " : "variable ") + variable.name();
    Allocation allocation = memory.allocate(Math.max(variable.bytes(), 1), label, constant);
    if (allocation == null) {
      throw new DeviceFault(
          DeviceFault.Kind.LIMIT,
          "%s of %d bytes doesn't fit into the device's memory".formatted(label, variable.bytes()));
    }
    String name =
        variable.scope().isEmpty() ? variable.name() : variable.scope() + "::" + variable.name();
    variables.put(name, allocation);
    addresses.put(variable, allocation.base());
  }

  private void initialise(Variable variable, GlobalMemory memory) {
    byte[] bytes = new byte[(int) Math.max(variable.bytes(), 1)];
    System.arraycopy(variable.initial(), 0, bytes, 0, variable.initial().length);
    for (Variable.Reference reference : variable.references()) {
      long address = address(reference) + reference.addend();
      for (int i = 0; i < reference.size(); i++) {
        bytes[reference.offset() + i] = (byte) (address >>> (8 * i));
      }
    }
    memory.write(addresses.get(variable), MemorySegment.ofArray(bytes));
  }

  private boolean isKernel(String name) {
    PtxFunction function = module.functions().get(name);
    return function != null && function.entry();
  }

  private long address(Variable.Reference reference) {
    Allocation variable = variables.get(reference.symbol());
    if (variable != null) {
      return variable.base();
    }
    Long function = functionAddresses.get(reference.symbol());
    if (function != null) {
      return function;
    }
    throw new PtxException(
        reference.position(),
        "'"
            + reference.symbol()
            + "' names no variable in global or constant memory, and no function with a body");
  }

  private void decode() {
    FunctionDecoder.Globals globals =
        new FunctionDecoder.Globals() {
          @Override
          public long address(Variable variable) {
            return addresses.get(variable);
          }

          @Override
          public long address(Operand.FunctionName name) {
            Long address = functionAddresses.get(name.name());
            if (address == null) {
              throw new PtxException(
                  name.position(),
                  "'%s' has no address: %s"
                      .formatted(
                          name.name(),
                          isKernel(name.name())
                              ? "it is a kernel, and kernels that launch kernels are not supported"
                              : "it is defined nowhere"));
            }
            return address;
          }

          @Override
          public Map<Long, PtxFunction> reachable(CallPrototype prototype) {
            Map<Long, PtxFunction> found = new LinkedHashMap<>();
            functionAddresses.forEach(
                (name, address) -> {
                  PtxFunction function = module.functions().get(name);
                  if (CallPrototype.of(function).equals(prototype)) {
                    found.put(address, function);
                  }
                });
            return found;
          }

          @Override
          public PtxFunction function(Operand.FunctionName name) {
            PtxFunction function = module.functions().get(name.name());
            if (function == null
                || (!function.isDefined() && SystemFunction.of(function) == null)) {
              throw new PtxException(
                  name.position(), "the function '" + name.name() + "' is defined nowhere");
            }
            return function;
          }
        };
    int at = 0;
    for (PtxFunction function : module.functions().values()) {
      if (function.isDefined()) {
        codes.put(function.name(), new FunctionDecoder(function, at, globals).decode(ops));
        at += function.body().size() + 1;
      }
    }
  }

  /** Frees the variables' memory, and what kernels allocated. */
  public void unload(GlobalMemory memory) {
    heap.freeAll();
    for (Allocation allocation : variables.values()) {
      memory.free(allocation.base());
    }
  }

  /** Sets how many bytes its kernels can have allocated at once with malloc. */
  public void limitHeap(long bytes) {
    heap.limit(bytes);
  }

  DeviceHeap heap() {
    return heap;
  }

  public PtxModule module() {
    return module;
  }

  /** A variable of global or constant memory, by its name; null if there is none. */
  public Allocation variable(String name) {
    return variables.get(name);
  }

  /** A kernel by its name; null if there is none. */
  public PtxFunction kernel(String name) {
    PtxFunction function = module.functions().get(name);
    return function != null && function.entry() && function.isDefined() ? function : null;
  }

  /** Bytes of shared memory that a kernel always has. */
  public int staticSharedBytes(String kernel) {
    return sharedLayout(code(kernel)).staticBytes();
  }

  /** Bytes of stack that a thread of a kernel has, its callees' apart. */
  public int localBytes(String kernel) {
    return code(kernel).localBytes();
  }

  /** 32-bit registers that a thread of a kernel names; a device's compiler would need fewer. */
  public int registers(String kernel) {
    return code(kernel).function().registers();
  }

  /** Whether some function of it has instructions that use registers after they were issued. */
  boolean watchesRegisters() {
    return watchesRegisters;
  }

  Op[] ops() {
    return ops;
  }

  Code code(String name) {
    Code code = codes.get(name);
    if (code == null) {
      throw new IllegalArgumentException("'" + name + "' is no function of the module");
    }
    return code;
  }

  /** The shared variables of a kernel and of everything that it may call. */
  SharedLayout sharedLayout(Code entry) {
    Constant reserved = new Constant.Special(SpecialRegister.RESERVED_SMEM_OFFSET_1);
    boolean usesReserved =
        reachedFrom(entry.function().name()).stream()
            .anyMatch(name -> code(name).constants().contains(reserved));
    return new SharedLayout(sharedVariables(entry), usesReserved);
  }

  private Set<Variable> sharedVariables(Code entry) {
    Set<Variable> shared = new LinkedHashSet<>();
    for (String name : reachedFrom(entry.function().name())) {
      shared.addAll(code(name).shared());
      for (Variable variable : code(name).function().variables()) {
        if (variable.space() == StateSpace.SHARED) {
          shared.add(variable);
        }
      }
    }
    return shared;
  }

  private void checkShared() {
    for (PtxFunction function : module.functions().values()) {
      if (function.entry() && function.isDefined()) {
        long bytes =
            sharedVariables(code(function.name())).stream().mapToLong(Variable::bytes).sum();
        function.requireShared(bytes);
      }
    }
  }

  /** A function and all that it may call, however deep. */
  private Set<String> reachedFrom(String name) {
    Set<String> reached = new LinkedHashSet<>();
    ArrayDeque<String> rest = new ArrayDeque<>(List.of(name));
    while (!rest.isEmpty()) {
      String next = rest.poll();
      if (reached.add(next)) {
        rest.addAll(code(next).callees());
      }
    }
    return reached;
  }
}
