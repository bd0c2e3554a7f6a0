package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Param;

class JmhJobTest {
  @Test
  void everyWorkloadButEmbeddingsHasABenchmarkWithItsParameters() throws Exception {
    Set<Class<?>> seen = new HashSet<>();
    for (Plan.Group group : Plan.quick(2)) {
      for (Workload workload : group.workloads()) {
        if (workload instanceof Workload.Encode) {
          continue;
        }
        JmhJob job = JmhJob.of(workload).orElseThrow();
        seen.add(job.benchmark());
        for (String parameter : job.parameters().keySet()) {
          assertNotNull(
              job.benchmark().getField(parameter).getAnnotation(Param.class),
              job.benchmark() + " " + parameter);
        }
      }
    }
    assertEquals(8, seen.size());
  }
}
