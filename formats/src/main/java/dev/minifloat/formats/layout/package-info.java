/**
 * How quantized tensors, which are elements, scales and perhaps a scale of scales, lie in a
 * safetensors file: our own layout and those of other tools, written and read back.
 */
package dev.minifloat.formats.layout;
