/**
 * The CUDA driver's C interface. Most of it is what jextract wrote from {@code cuda.h} of CUDA
 * 13.0: one class a struct, and {@link dev.minifloat.cuda.driver.Cuda} for functions and constants,
 * named as the library exports them ({@code cuMemAlloc_v2}; the header's macros, {@code
 * cuMemAlloc}, are no symbols).
 *
 * <p>Of a generated function only its descriptor is used. Its own method would bind it once and for
 * all to whatever library the process has; handles that are made from descriptors let several
 * drivers, a real one and simulated ones, live side by side.
 */
package dev.minifloat.cuda.driver;
