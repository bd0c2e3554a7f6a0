/**
 * The kernels of {@link dev.minifloat.cpu.VectorBackend}, one subpackage for each idea; {@link
 * dev.minifloat.cpu.internal.VectorKernels} hands each operation to its own.
 */
package dev.minifloat.cpu.internal;
