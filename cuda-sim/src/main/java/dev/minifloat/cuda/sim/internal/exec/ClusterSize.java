package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import java.util.List;

/** How many blocks a launch's clusters have (PTX ISA, "Cluster Dimension Directives"). */
public final class ClusterSize {
  /** The largest cluster that every device has, and the largest that some have. */
  public static final int PORTABLE = 8;

  public static final int LARGEST = 16;

  private static final Dim3 ONE = new Dim3(1, 1, 1);

  private ClusterSize() {}

  /** The size that a kernel itself says; null if it says none. */
  public static Dim3 required(PtxFunction kernel) {
    List<Integer> size = kernel.directives().get(".reqnctapercluster");
    if (size == null || size.isEmpty()) {
      return null;
    }
    return new Dim3(
        size.getFirst(), size.size() > 1 ? size.get(1) : 1, size.size() > 2 ? size.get(2) : 1);
  }

  /**
   * A launch's size.
   *
   * @param asked for by the launch; null if it asks for none
   * @throws IllegalArgumentException if it isn't what the kernel says, or divides no grid
   */
  public static Dim3 of(PtxFunction kernel, Dim3 asked, Dim3 grid) {
    Dim3 required = required(kernel);
    Dim3 size = asked != null ? asked : required != null ? required : ONE;
    if (required != null && !size.equals(required)) {
      throw new IllegalArgumentException(
          "kernel '%s' says .reqnctapercluster %s; clusters %s were asked for"
              .formatted(kernel.name(), required, size));
    }
    if (asked == null && required == null && kernel.directives().containsKey(".explicitcluster")) {
      throw new IllegalArgumentException(
          "kernel '%s' says .explicitcluster; a cluster's size has to be given"
              .formatted(kernel.name()));
    }
    List<Integer> bound = kernel.directives().get(".maxclusterrank");
    int most = bound == null || bound.isEmpty() ? LARGEST : Math.min(LARGEST, bound.getFirst());
    boolean fits =
        size.x() > 0
            && size.y() > 0
            && size.z() > 0
            && size.count() <= most
            && grid.x() % size.x() == 0
            && grid.y() % size.y() == 0
            && grid.z() % size.z() == 0;
    if (!fits) {
      throw new IllegalArgumentException(
          "kernel '%s' can't have clusters %s in a grid %s; a cluster has at most %d blocks"
              .formatted(kernel.name(), size, grid, most));
    }
    return size;
  }
}
