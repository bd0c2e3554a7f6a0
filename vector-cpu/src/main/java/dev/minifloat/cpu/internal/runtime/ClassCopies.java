package dev.minifloat.cpu.internal.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;

/**
 * Copies of a class, each with constants of its own, so that a kernel's variants come from one
 * text.
 *
 * <p>A kernel that takes its format from a field or an argument does not do: the compiler sees one
 * method, whose profile mixes all formats, inlines none of the format's steps and puts every vector
 * on the heap. A hidden class (JEP 371) made from the same class file has methods, profiles and
 * compiled code of its own, and its {@code static final} fields are constants to the compiler.
 *
 * <p>The small methods that a template's loops call must not move to a class that its copies share:
 * compiled by itself for all formats such a method is too big to be inlined, and every vector would
 * go to the heap.
 */
public final class ClassCopies {
  private ClassCopies() {}

  /**
   * A new instance of a new copy of {@code template}, a class with a constructor without arguments.
   *
   * @param host what the caller may look up: a copy lives in the package of its template, so the
   *     caller must too
   * @param data what {@link #data} gives to the copy's static initializer
   */
  public static <T> T instantiate(
      MethodHandles.Lookup host, Class<T> type, Class<? extends T> template, Object data) {
    String file = template.getSimpleName() + ".class";
    try (InputStream in = template.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing beside the other classes");
      }
      MethodHandles.Lookup copy =
          host.defineHiddenClassWithClassData(in.readAllBytes(), data, true);
      Constructor<?> constructor = copy.lookupClass().getDeclaredConstructor();
      // Templates are of packages whose classes other packages don't see.
      constructor.setAccessible(true);
      return type.cast(constructor.newInstance());
    } catch (IOException e) {
      throw new UncheckedIOException("can't read " + file, e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("can't make a copy of " + file, e);
    }
  }

  /** The constants of the copy that asks. */
  public static <T> T data(MethodHandles.Lookup copy, Class<T> type) {
    try {
      return MethodHandles.classData(copy, "_", type);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("can't read the constants of " + copy, e);
    }
  }
}
