/**
 * Operations that run row by row or element by element: norms, softmax, rotary embedding, gathers,
 * pooling, arithmetic.
 */
package dev.minifloat.cpu.internal.rows;
