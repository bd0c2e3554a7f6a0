package dev.minifloat.cpu;

/**
 * How one kernel was compiled.
 *
 * <p>The Vector API's vectors are objects, which the JVM's compiler keeps in registers as long as
 * it inlines everything that a loop calls. If it doesn't, each operation puts its result on the
 * heap, and the kernel is 10 to 100 times slower, which nothing but its garbage shows.
 *
 * @param kernel what was run: the operation, the format and the size
 * @param bytesPerCall bytes of heap that a call allocates; −1 if that can't be measured
 * @param healthy whether these are fewer than boxed vectors would be
 * @param advice what to do about it; empty if there is nothing to do
 */
public record KernelReport(String kernel, long bytesPerCall, boolean healthy, String advice) {}
