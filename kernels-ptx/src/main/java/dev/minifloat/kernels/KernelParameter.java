package dev.minifloat.kernels;

/**
 * A parameter of a kernel.
 *
 * @param name as the CUDA source calls it
 * @param type what is passed
 * @param offset bytes from the first parameter
 */
public record KernelParameter(String name, ParameterType type, int offset) {}
