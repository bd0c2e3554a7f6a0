/**
 * Functions of vectors: sums of fixed order, exponentials, angles, activations, and the one NaN
 * that arithmetic makes.
 */
package dev.minifloat.cpu.internal.math;
