package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import java.util.ArrayDeque;
import java.util.Deque;

/** The last kernels that a stream was given since it was last waited for. */
final class RecentWork {
  private static final int MOST = 16;

  private final Deque<String> names = new ArrayDeque<>();
  private long forgotten;

  synchronized void add(String name) {
    if (names.size() == MOST) {
      names.removeFirst();
      forgotten++;
    }
    names.addLast(name);
  }

  synchronized void clear() {
    names.clear();
    forgotten = 0;
  }

  /** The same failure with the kernels among which it happened. */
  synchronized CudaException explain(CudaException failure) {
    if (names.isEmpty()) {
      return failure;
    }
    String before = forgotten == 0 ? "" : forgotten + " others, ";
    return new CudaException(
        "%s; since the last wait the stream was given %s%s"
            .formatted(failure.getMessage(), before, String.join(", ", names)),
        failure);
  }
}
