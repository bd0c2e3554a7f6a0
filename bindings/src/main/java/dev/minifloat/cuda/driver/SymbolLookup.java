package dev.minifloat.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * Answers every name with a function that returns {@code CUDA_ERROR_NOT_INITIALIZED}.
 *
 * <p>The generated code asks for {@code SymbolLookup} by a name that it imports on demand, and a
 * class of its own package goes before such an import (JLS 6.4.1): so it asks here. It resolves a
 * function's address already when its descriptor is read, and would fail for good in a process
 * without a driver.
 *
 * <p>Should anybody call a generated method all the same, it answers with that error, whatever the
 * arguments: with the C calling conventions of all systems that have a CUDA driver, the caller
 * removes them.
 */
final class SymbolLookup {
  /** {@code CUDA_ERROR_NOT_INITIALIZED}; asking the generated class for it would go in circles. */
  private static final int NOT_INITIALIZED = 3;

  private final MemorySegment placeholder;

  private SymbolLookup(MemorySegment placeholder) {
    this.placeholder = placeholder;
  }

  static SymbolLookup loaderLookup() {
    MethodHandle function = MethodHandles.constant(int.class, NOT_INITIALIZED);
    return new SymbolLookup(
        Linker.nativeLinker()
            .upcallStub(function, FunctionDescriptor.of(ValueLayout.JAVA_INT), Arena.global()));
  }

  /** This one; {@code next} is never asked. */
  @SuppressWarnings("unused") // its type is what the generated code passes
  SymbolLookup or(java.lang.foreign.SymbolLookup next) {
    return this;
  }

  @SuppressWarnings("unused") // every name has the same answer
  MemorySegment findOrThrow(String name) {
    return placeholder;
  }
}
