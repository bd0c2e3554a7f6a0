/**
 * Elements between formats: decoding, encoding, packing of codes, and the copies and conversions of
 * whole tensors made of them.
 */
package dev.minifloat.cpu.internal.convert;
