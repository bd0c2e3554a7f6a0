/**
 * Products of matrices: operands packed to F32 panels, register tiles, blocking for the caches, and
 * the epilogue of the last store.
 */
package dev.minifloat.cpu.internal.gemm;
