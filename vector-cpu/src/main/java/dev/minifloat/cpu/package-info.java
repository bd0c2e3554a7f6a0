/**
 * The backend {@code vector}: every operation on the processor, through the JDK's Vector API, in
 * the vectors that the processor has (512, 256 or 128 bits) and on all its cores.
 *
 * <p>{@link dev.minifloat.Backends} finds it; nothing here need be named, unless the number of
 * threads matters: see {@link dev.minifloat.cpu.VectorBackend#threads}. The Vector API is in the
 * module {@code jdk.incubator.vector}. On the module path it is resolved without further ado; on
 * the class path the JVM must be started with {@code --add-modules jdk.incubator.vector}, without
 * which the backend is not available and {@code Backends} says so.
 *
 * <p>It needs warming up. The JVM interprets a loop until it has seen it often, and an interpreted
 * vector operation allocates an object: the first dozens of calls of each operation are slower than
 * the later ones, by orders of magnitude. Measure, and judge, only after that.
 */
package dev.minifloat.cpu;
