/**
 * Products with one or a few rows of activations, which stream the weights once and decode them on
 * the way.
 */
package dev.minifloat.cpu.internal.gemv;
