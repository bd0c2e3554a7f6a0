package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/** What kind of work an instruction is, for the counters. */
public enum InstructionClass {
  INTEGER,
  FLOAT,
  HALF,
  CONVERT,
  MOVE,
  GLOBAL_MEMORY,
  SHARED_MEMORY,
  OTHER_MEMORY,
  ATOMIC,
  ASYNC_COPY,
  CONTROL,
  SYNCHRONIZE,
  MATRIX_LOAD,
  MATRIX_MULTIPLY;

  static InstructionClass of(Instruction instruction) {
    return switch (instruction.opcode()) {
      case "cvt" -> CONVERT;
      case "mov", "cvta", "isspacep", "selp", "slct" -> MOVE;
      case "ld", "st", "ldu", "prefetch", "prefetchu" -> memory(instruction.space());
      case "atom", "red" -> ATOMIC;
      case "cp" -> ASYNC_COPY;
      case "bra", "brx", "call", "ret", "exit", "trap", "brkpt", "pmevent" -> CONTROL;
      case "bar", "barrier", "membar", "fence", "nanosleep", "activemask" -> SYNCHRONIZE;
      case "mbarrier", "setmaxnreg", "griddepcontrol" -> SYNCHRONIZE;
      case "mapa", "getctarank", "createpolicy" -> MOVE;
      case "wgmma" -> instruction.has(".mma_async") ? MATRIX_MULTIPLY : SYNCHRONIZE;
      case "tcgen05" -> tensor(instruction.modifiers().getFirst());
      case "shfl", "vote", "match", "redux", "elect" -> SYNCHRONIZE;
      case "ldmatrix", "stmatrix", "movmatrix" -> MATRIX_LOAD;
      case "mma" -> MATRIX_MULTIPLY;
      case "wmma" -> instruction.has(".mma") ? MATRIX_MULTIPLY : MATRIX_LOAD;
      default -> arithmetic(instruction);
    };
  }

  private static InstructionClass tensor(String action) {
    return switch (action) {
      case ".mma" -> MATRIX_MULTIPLY;
      case ".ld", ".st" -> OTHER_MEMORY;
      case ".cp" -> ASYNC_COPY;
      default -> SYNCHRONIZE;
    };
  }

  private static InstructionClass memory(StateSpace space) {
    return switch (space) {
      case GLOBAL, GENERIC -> GLOBAL_MEMORY;
      case SHARED, SHARED_CLUSTER -> SHARED_MEMORY;
      case CONST, LOCAL, PARAM -> OTHER_MEMORY;
    };
  }

  private static InstructionClass arithmetic(Instruction instruction) {
    if (instruction.types().isEmpty()) {
      return INTEGER;
    }
    return switch (instruction.types().get(instruction.types().size() - 1)) {
      case F16, BF16, F16X2, BF16X2 -> HALF;
      case F32, F64, TF32 -> FLOAT;
      case PRED, B1, B8, B16, B32, B64, U4, U8, U16, U32, U64, S4, S8, S16, S32, S64 -> INTEGER;
      case U16X2, S16X2, E4M3, E5M2, E3M2, E2M3, E2M1, UE8M0, UE4M3 -> INTEGER;
      case E4M3X2, E5M2X2, E2M1X2, E2M3X2, E3M2X2, UE8M0X2 -> INTEGER;
    };
  }
}
