/**
 * Block scales: the largest magnitude of each block, its scale, and the encoding of the block by
 * it.
 */
package dev.minifloat.cpu.internal.quantize;
