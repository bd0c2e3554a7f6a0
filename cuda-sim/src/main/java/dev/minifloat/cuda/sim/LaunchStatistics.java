package dev.minifloat.cuda.sim;

import dev.minifloat.cuda.sim.internal.exec.Counters;
import dev.minifloat.cuda.sim.internal.exec.InstructionClass;
import dev.minifloat.cuda.sim.internal.exec.LaunchReport;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a launch did. Instructions are counted once a warp.
 *
 * @param kernel its name
 * @param instructions all of them
 * @param byClass instructions by class
 * @param matrixMultiplies matrix multiplications
 * @param multiplyAdds their multiply-adds
 * @param globalBytesRead bytes that threads read from global memory
 * @param globalBytesWritten bytes that threads wrote to it
 * @param globalSectorsRead sectors of 32 bytes touched by reads, once an instruction
 * @param globalSectorsWritten sectors of 32 bytes touched by writes
 * @param bankConflicts further passes over shared memory because words of one bank were wanted
 * @param barriers barriers that blocks passed
 * @param sharedBytesRead bytes read from shared memory: by threads, by warpgroups' multiplications
 *     of matrices there, by copies out of it
 * @param sharedBytesWritten bytes written to it, by threads and by copies
 */
public record LaunchStatistics(
    String kernel,
    long instructions,
    Map<String, Long> byClass,
    long matrixMultiplies,
    long multiplyAdds,
    long globalBytesRead,
    long globalBytesWritten,
    long globalSectorsRead,
    long globalSectorsWritten,
    long bankConflicts,
    long barriers,
    long sharedBytesRead,
    long sharedBytesWritten) {
  public LaunchStatistics {
    byClass = Map.copyOf(byClass);
  }

  static LaunchStatistics of(LaunchReport report) {
    Counters counters = report.counters();
    Map<String, Long> byClass = new LinkedHashMap<>();
    for (Map.Entry<InstructionClass, Long> entry : counters.byClass().entrySet()) {
      byClass.put(entry.getKey().name(), entry.getValue());
    }
    return new LaunchStatistics(
        report.kernel(),
        counters.instructions(),
        byClass,
        counters.matrixMultiplies(),
        counters.multiplyAdds(),
        counters.globalBytesRead(),
        counters.globalBytesWritten(),
        counters.globalSectorsRead(),
        counters.globalSectorsWritten(),
        counters.bankConflicts(),
        counters.barriers(),
        counters.sharedBytesRead(),
        counters.sharedBytesWritten());
  }
}
