/**
 * The one definition of the numerics: encoding and decoding of single elements, scales, block
 * quantization and the random bits of stochastic rounding, in plain Java that is meant to be read.
 * Backends are compared with it bit by bit.
 */
package dev.minifloat.codec;
