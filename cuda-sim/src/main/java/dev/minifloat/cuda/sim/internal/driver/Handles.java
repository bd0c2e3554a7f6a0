package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The opaque pointers that a client holds. They point nowhere and are never given out twice, so
 * that a stale one, or one of another sort, is noticed.
 */
final class Handles {
  private static final long FIRST = 0x5000_0000_0000L;
  private static final int STEP = 64;

  private final Map<Long, Resource> resources = new LinkedHashMap<>();
  private long next = FIRST;

  <T extends Resource> T add(T resource) {
    resource.handle(next);
    resources.put(next, resource);
    next += STEP;
    return resource;
  }

  void remove(Resource resource) {
    resources.remove(resource.handle());
  }

  /** What a handle stands for; a failure with the given result if it isn't one of that sort. */
  <T extends Resource> T get(
      MemorySegment handle, Class<T> type, String parameter, CuResult otherwise) {
    Resource resource = resources.get(handle.address());
    if (!type.isInstance(resource)) {
      String what = resource == null ? "is no living object" : "is a " + resource.kind();
      throw otherwise.because(
          "%s 0x%x %s; a %s was expected"
              .formatted(parameter, handle.address(), what, type.getSimpleName()));
    }
    return type.cast(resource);
  }

  <T extends Resource> T get(MemorySegment handle, Class<T> type, String parameter) {
    return get(handle, type, parameter, CuResult.INVALID_HANDLE);
  }

  boolean isAlive(Resource resource) {
    return resource.equals(resources.get(resource.handle()));
  }

  List<Resource> all() {
    return new ArrayList<>(resources.values());
  }

  List<Resource> of(Context context) {
    return resources.values().stream().filter(r -> r.context() == context && r != context).toList();
  }
}
