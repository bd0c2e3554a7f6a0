package dev.minifloat.cuda.sim.internal.exec;

import java.util.EnumMap;
import java.util.Map;

/** What a launch did. Counts are of warp instructions unless a name says otherwise. */
public final class Counters {
  final long[] byClass = new long[InstructionClass.values().length];
  long instructions;
  long threadInstructions;
  long matrixMultiplies;
  long multiplyAdds;
  long globalBytesRead;
  long globalBytesWritten;
  long globalSectorsRead;
  long globalSectorsWritten;
  long sharedBytesRead;
  long sharedBytesWritten;
  long sharedAccesses;
  long bankConflicts;
  long divergentBranches;
  long barriers;

  /** Warp instructions. */
  public long instructions() {
    return instructions;
  }

  /** Instructions times the threads that took part in them. */
  public long threadInstructions() {
    return threadInstructions;
  }

  /** Warp instructions by class. */
  @SuppressWarnings("EnumOrdinal") // indexes an array of this run's counters
  public Map<InstructionClass, Long> byClass() {
    Map<InstructionClass, Long> found = new EnumMap<>(InstructionClass.class);
    for (InstructionClass kind : InstructionClass.values()) {
      found.put(kind, byClass[kind.ordinal()]);
    }
    return found;
  }

  /** Matrix multiplications, one a warp. */
  public long matrixMultiplies() {
    return matrixMultiplies;
  }

  /** The multiply-adds of all matrix multiplications: m·n·k each. */
  public long multiplyAdds() {
    return multiplyAdds;
  }

  /** Bytes that threads read from global memory. */
  public long globalBytesRead() {
    return globalBytesRead;
  }

  /** Bytes that threads wrote to global memory. */
  public long globalBytesWritten() {
    return globalBytesWritten;
  }

  /** Sectors of 32 bytes that reads touched, each counted once an instruction. */
  public long globalSectorsRead() {
    return globalSectorsRead;
  }

  /** Sectors of 32 bytes that writes touched, each counted once an instruction. */
  public long globalSectorsWritten() {
    return globalSectorsWritten;
  }

  /** Bytes that threads read from shared memory. */
  public long sharedBytesRead() {
    return sharedBytesRead;
  }

  /** Bytes that threads wrote to shared memory. */
  public long sharedBytesWritten() {
    return sharedBytesWritten;
  }

  /** Passes over the 32 banks that accesses to shared memory would take without conflicts. */
  public long sharedAccesses() {
    return sharedAccesses;
  }

  /** Further passes, because words of one bank were wanted at once. */
  public long bankConflicts() {
    return bankConflicts;
  }

  /** Branches that some threads of a group took and others did not. */
  public long divergentBranches() {
    return divergentBranches;
  }

  /** Barriers that a block passed. */
  public long barriers() {
    return barriers;
  }
}
