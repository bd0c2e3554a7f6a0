package dev.minifloat.cuda.internal.plan;

/**
 * What decides which kernels a device is given, and how much of them.
 *
 * @param capability ten times the major compute capability, plus the minor one: 89 for 8.9
 * @param multiprocessors how many it has
 */
public record DeviceTraits(int capability, int multiprocessors) {}
