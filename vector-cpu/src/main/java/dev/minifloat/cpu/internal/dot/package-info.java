/** Dot products of two contiguous runs, one class for each way to bring operands to F32. */
package dev.minifloat.cpu.internal.dot;
