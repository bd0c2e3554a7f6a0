/**
 * The CUDA kernels: PTX files as resources, and {@link dev.minifloat.kernels.KernelCatalog} over
 * them. The CUDA C++ they are compiled from lies in {@code src/main/cuda}.
 */
package dev.minifloat.kernels;
